package face

import (
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/text"
)

// MaxChoices bounds the answers to one request.
const MaxChoices = 128

// Ask is a request as the engine sees it, and how its answer is written.
type Ask struct {
	ID        string     // of the answer; empty: made up
	Prefix    string     // before the ID
	Prompts   [][]uint32 // token ids
	N         int        // answers to each prompt; 0: one
	MaxTokens int64      // of an answer; 0: up to the model's length
	MinTokens int64      // before it ends by itself or at a stop string
	IgnoreEOS bool       // the model does not end by itself
	Seed      *int64
	// Model is what the client asked for. An adapter has answers and KV blocks of its own.
	Model    string
	Priority int64 // low ones first, under the priority policy
	// Temperature and TopP are told in spans alone; nil: the engine's default.
	Temperature, TopP *float64
	CacheSalt         string   // requests with other salts share no KV blocks
	Stop              []string // an answer ends before the first of these
	KeepStop          bool     // … after it
	// Script, where set, is what is said instead of prose, and all of it.
	Script []text.Word
	// Pooled is a request for its prompts' computation alone (embeddings): its
	// one token is not counted.
	Pooled bool

	// Stream makes the writer of a stream; nil: the answer is written whole.
	Stream func(x *Exchange) Frames
	// ContentType is the stream's; empty: server-sent events.
	ContentType string
	// LateHeaders keeps a stream's headers back until its first event.
	LateHeaders bool
	// Body makes the whole answer, which is written as JSON; nil: an empty one.
	Body func(x *Exchange, h http.Header) any
}

func (a *Ask) answers() int { return max(a.N, 1) }

// Frames write a stream, appending to b. They are used by one goroutine.
type Frames interface {
	// Token writes a token of c; it is counted in c.Written already.
	Token(b []byte, c *Choice, w *text.Word) []byte
	// Finish writes the end of c.
	Finish(b []byte, c *Choice) []byte
	// Close writes the end of the stream.
	Close(b []byte, x *Exchange) []byte
}

// Opener is a Frames that writes something before the first token.
type Opener interface {
	Open(b []byte, x *Exchange) []byte
}
