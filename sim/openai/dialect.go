package openai

import (
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
)

// Dialect is how an engine speaks OpenAI's chat and completion APIs.
type Dialect struct {
	Chat, Text  Shape
	NoID        bool   // the id is always empty
	RequestID   bool   // the id is the client's X-Request-Id, where it has one
	Fingerprint string // system_fingerprint; empty: none
	Tail        string // of every chunk, after its choices
	UsageTail   string // of every chunk where the usage is asked for, instead
	TextTokens  int64  // answer's length of a completion that asks for none; 0: the model's
	AnyModel    bool   // the model's name in a request changes nothing
	EmptyChat   bool   // a chat may have no messages: its template has a token
	LateHeaders bool   // headers come with the first event
	// Usage writes a usage as an object.
	Usage func(b []byte, u core.Usage, x *face.Exchange) []byte
	// Extra, where set, adds fields to an answer's last chunk or body.
	Extra func(b []byte, c *face.Choice) []byte
	// Refuse writes what is wrong with a request.
	Refuse func(http.ResponseWriter, *face.Problem)
	// Full, where set, refuses a request when too many are under way.
	Full func() *face.Problem
}

// Shape is the form of one API's chunks.
type Shape struct {
	Prefix   string // of the id
	Role     string // delta of a chunk before the first token; empty: there is none
	Open     string // of a token's chunk, up to its text
	Close    string // … from its text
	Empty    string // what a chunk with the end has instead
	Logprobs bool   // the field is there, null, where no one asked for it
	Joined   bool   // the end comes with the last token
	EndUsage bool   // the chunk with the end carries the usage
	NotEnded string // fields of a choice that goes on
	// Ended writes the fields of one that has ended; stop may be empty.
	Ended func(b []byte, reason, stop string) []byte
}

// api is which of OpenAI's two completion APIs a request came through.
type api uint8

const (
	chatAPI api = iota
	textAPI
)

func (d *Dialect) shape(a api) *Shape {
	if a == chatAPI {
		return &d.Chat
	}
	return &d.Text
}

// object is the object's name, of a chunk or of a whole answer.
func (a api) object(chunk bool) string {
	switch {
	case a == textAPI:
		return "text_completion"
	case chunk:
		return "chat.completion.chunk"
	}
	return "chat.completion"
}

// ChatHandler answers POST /v1/chat/completions.
func (d *Dialect) ChatHandler(s *face.Service) http.HandlerFunc { return d.handler(s, chatAPI) }

// TextHandler answers POST /v1/completions.
func (d *Dialect) TextHandler(s *face.Service) http.HandlerFunc { return d.handler(s, textAPI) }

func (d *Dialect) handler(s *face.Service, a api) http.HandlerFunc {
	return s.Handle(func(r *http.Request, l *face.Language) (*face.Ask, *face.Problem) {
		if d.Full != nil {
			if problem := d.Full(); problem != nil {
				return nil, problem
			}
		}
		return d.read(s, r, l, a)
	}, d.Refuse)
}
