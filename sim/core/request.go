package core

// Finish says why a request ended.
type Finish string

// The finish reasons.
const (
	Stop   Finish = "stop"   // the model ended by itself
	Length Finish = "length" // the limit of the request or of the model
	Abort  Finish = "abort"  // the client went away
	Died   Finish = "died"   // the engine did
)

// Usage is what a finished request used, in tokens.
type Usage struct{ Prompt, Cached, Output int64 }

// Listener hears of one request, on the engine's loop.
type Listener interface {
	// Tokens brings n output tokens at the moment at.
	Tokens(n int64, at int64)
	// Finished is the last call.
	Finished(why Finish, u Usage, at int64)
}

// Content is what the prefix cache compares. Block is called with i rising
// from 0, once for each full block of size tokens, and returns a key that
// follows from the tokens of the block and the key before it (the request's
// CacheKey for block 0) and from nothing else. Blocks of output are asked for
// when all their tokens have been emitted.
type Content interface {
	Block(previous uint64, i, size int64) uint64
}

// Request is one sequence. Its exported fields are set before Submit and only
// read afterwards; Stats belongs to the engine until Finished.
type Request struct {
	ID string
	// Prompt is what the request starts with. Content, where set, stands for
	// it in the prefix cache, and PromptTokens says how long it is.
	Prompt       []Span
	PromptTokens int64
	Content      Content
	// Output names the answer's tokens, as a Span's ID does: a later prompt
	// that holds the same span shares their blocks.
	Output uint64
	// CacheKey keeps requests with different keys (adapter, cache salt) from
	// sharing blocks.
	CacheKey uint64
	// MaxTokens bounds the answer; 0: up to the model's length.
	MaxTokens int64
	// StopAfter is the length at which the model ends by itself; 0: never.
	StopAfter int64
	// Priority orders requests under the priority policy: low ones first.
	Priority int64
	// Arrived is when the front end got the request; 0: when it is submitted.
	Arrived  int64
	Listener Listener

	Stats Stats
	home  *Engine // of several replicas
	state state
	seq   sequence
}

// Stats are the moments (ns of the loop's clock) and counts of a request.
// Moments not reached are 0.
type Stats struct {
	Arrived, Queued, Scheduled, FirstToken, LastToken, Ended int64
	Prompt, Output                                           int64
	Cached                                                   int64 // prompt tokens found in the prefix cache at admission
	Preempted                                                int64 // how often
	Finish                                                   Finish
}

type state uint8

const (
	fresh state = iota
	delayed
	waiting
	running
	preempted
	ended
)

// sequence is what scheduling knows of a request.
type sequence struct {
	computed int64 // tokens whose KV is in the cache, or will be after this step
	total    int64 // prompt and output known so far
	limit    int64 // of the output
	blocks   []int32
	keys     []uint64 // of full blocks, as far as asked for
	number   uint64   // of the request, in order of submission
	chunked  bool     // the prompt was cut and goes on in the next prefill
	sealed   int      // blocks of this residence already known to the prefix cache
}
