package engine

import "github.com/tokamak-bench/tokamak/wire"

// Message is one message of a chat; a completion's prompt is a single one.
type Message struct {
	Role, Content string
	Media         []Media // behind the content
}

// MediaKind says what a file beside text holds.
type MediaKind uint8

// The kinds of media.
const (
	Image MediaKind = iota + 1
	Audio
	Video
)

// Media is a file that goes along with a message's text.
type Media struct {
	Kind   MediaKind
	Format string // as its API names it: png, jpeg, wav
	Data   []byte
	// URL, where set, is where the server is to fetch it, in place of Data.
	URL string
}

// Call is one request in the API's own terms.
type Call struct {
	Messages  []Message
	Body      []byte // where set: the whole body, sent as it is but for merged fields
	Open      bool   // Body holds the content alone: the length asked for is added to it
	MaxTokens int64  // 0: the server decides
	// Links are the URLs in it that the server is to fetch: what they carry
	// beside their path is secret.
	Links []string
	// Reasons, where set, switches the model's reasoning on or off, by the
	// driver's switch.
	Reasons   *bool
	Tools     []byte // JSON list of definitions of functions; nil: none
	RequestID string // X-Request-Id
	TraceID   string // 32 hex digits; traceparent
}

// Driver speaks one API. It is safe for concurrent use.
type Driver interface {
	// Name is the API's name as --api takes it.
	Name() string
	// Encode forms the request for a call.
	Encode(c *Call) (*wire.Request, error)
	// Decoder returns a decoder for one response to r.
	Decoder(c *Call) Decoder
}

// Adapter is a driver that can do without fields that it adds by itself.
type Adapter interface {
	// Refuse takes the fields of an Answer.RefusedField and reports whether a
	// new Encode of the same call will differ from the refused request.
	Refuse(fields string) bool
	// Adapted says what is dropped or renamed since, one phrase each.
	Adapted() []string
}

// Decoder reads one response. Segment is called for each segment in order and
// must not keep it; End once, after the last.
type Decoder interface {
	Segment(s *wire.Segment)
	End(x *wire.Exchange) *Answer
}

// Bounded is a decoder that keeps no more than its bounds allow: once it is
// full, the rest of the response is read in vain.
type Bounded interface{ Full() bool }

// Kind says what a chunk holds.
type Kind uint8

// The kinds of content chunks.
const (
	Text Kind = iota + 1
	Reasoning
	Tool
	Refusal
)

// Chunks are the content chunks as parallel lists; Tokens is nil where the
// server does not say how many tokens each holds.
type Chunks struct {
	At     []int64
	Bytes  []int32
	Kind   []Kind
	Choice []int32
	Flags  []uint8 // wire's event flags
	Tokens []int32
}

// Blank says what an event without content is.
type Blank uint8

// The kinds of blank events.
const (
	RoleBlank  Blank = iota + 1 // it has a role
	EmptyBlank                  // its text is there and empty, and it has no role
	BareBlank                   // neither: a finish reason alone
)

// Blanks are the events that name a choice and hold no content, as parallel
// lists.
type Blanks struct {
	At   []int64
	Kind []Blank
}

// Count is a number that may be absent (Known false).
type Count struct {
	N     int64
	Known bool
}

// Usage is what the server says that it counted.
type Usage struct{ Prompt, Completion, Cached, Reasoning Count }

// Failure classifies an answer that is not whole.
type Failure uint8

// The failures a driver can see; those of the connection are wire's causes.
const (
	Whole      Failure = iota
	Rejected           // 429, 503
	BadStatus          // any other status that is not 2xx
	ErrorEvent         // the server's error object inside a 2xx
	Broken             // a violation: terminator, finish reason, encoding, JSON
)

// Answer is a response as its API means it.
type Answer struct {
	Failure      Failure
	ErrorClass   string // fixed short word
	ErrorText    string // the server's words, redacted, one line, at most 300 bytes
	Chunks       Chunks
	Blanks       Blanks
	FirstEvent   int64 // first event that is no comment; wire.NotReached if none
	UsageAt      int64 // last event that holds a usage; wire.NotReached if none
	Usage        Usage
	FinishReason string // of choice 0
	ServerID     string
	Violations   []string
	Notes        []string
	RetryAfter   Count    // ns
	RateLimit    []string // name=value
	RefusedField string   // fields that tokamak added and a 400 or 422 names, comma separated; see Adapter
	// Server's own durations in ns, where the response tells.
	Queue, Prefill, Decode Count
	// Content is what the chunks hold, in order of arrival: chunk i is the
	// next Chunks.Bytes[i] bytes of it. Parts says what is what in it.
	Content []byte
	Parts   []Part
	// Thinking counts the bytes of Content that are reasoning.
	Thinking int64
}

// Part is a run of Content of one kind and choice; it begins where the part
// before ends.
type Part struct {
	End    int // offset in Content
	Kind   Kind
	Choice int32
}

// Text returns the text of one choice without reasoning, tool calls and
// refusals: what a conversation's history holds.
func (a *Answer) Text(choice int32) []byte {
	var out []byte
	start := 0
	for _, p := range a.Parts {
		if p.Kind == Text && p.Choice == choice {
			out = append(out, a.Content[start:p.End]...)
		}
		start = p.End
	}
	return out
}
