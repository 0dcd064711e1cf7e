package face

import "fmt"

// Kind is what is wrong with a request, whatever an engine calls it.
type Kind uint8

// The kinds.
const (
	Invalid    Kind = iota // malformed or out of bounds
	TooLong                // prompt and answer exceed the model's length
	NoModel                // another model is asked for
	TooLarge               // the body
	Stopping               // the server shuts down
	Overloaded             // too many requests under way
	Loading                // the model is not loaded yet
	Injected               // refused on purpose
	NoSupport              // the server cannot do this
	Internal
)

// Problem is why a request is refused. A face gives it its engine's status and body.
type Problem struct {
	Kind    Kind
	Param   string // the field that is wrong; may be empty
	Message string
	// Status and RetryAfter (s; 0: not told) are an injected refusal's.
	Status     int
	RetryAfter int64
	// Prompt, Asked and Limit are tokens, where the kind is TooLong.
	Prompt, Asked, Limit int64
}

// Bad says that a field is invalid.
func Bad(param, format string, args ...any) *Problem {
	return &Problem{Kind: Invalid, Param: param, Message: fmt.Sprintf(format, args...)}
}

// Failed says that something inside went wrong.
func Failed(err error) *Problem { return &Problem{Kind: Internal, Message: err.Error()} }
