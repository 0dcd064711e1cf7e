package core

import (
	"errors"
	"fmt"
)

// Config is the engine's configuration.
type Config struct {
	MaxSeqs       int   // sequences in a step
	MaxTokens     int64 // token budget of a step
	MaxModelLen   int64 // tokens of prompt and answer together
	BlockSize     int64
	Blocks        int64 // of the KV cache, the null block included
	PrefixCache   bool
	LongPrefill   int64 // most prompt tokens of one request in a step; 0: no limit
	WholePrompts  bool  // chunked prefill off
	PromptMustFit bool  // admit only what has room for its whole prompt now
	APIDelay      int64 // ns from arrival to the queue
	Policy        Policy
	// MaxRequests bounds the requests that wait and run; one more is refused
	// with ErrOverloaded. 0: no bound.
	MaxRequests int64
	// WaitingServedRatio and MaxWaitingTokens say when TGI's policy lets new
	// requests in between decodes.
	WaitingServedRatio float64
	MaxWaitingTokens   int64
	Speculative        Speculative
	Replicas           Replicas
	Freeze             Freeze
	Disturbance        Disturbance    // may be nil
	Died               func(at int64) // hears of a death before the requests do; may be nil
	Timer              StepTimer
	Observer           Observer // may be nil
}

// Observer hears of everything, on the loop: metrics and logs are made from it.
type Observer interface {
	// Submitted tells of a new request.
	Submitted(r *Request)
	// Step tells of a step that has ended, after its tokens were given out.
	Step(s *Step)
	// Token tells that a request got a token: its first if gap < 0, else one
	// gap ns after the one before.
	Token(r *Request, gap int64)
	// Ended tells of a request whose Stats are complete.
	Ended(r *Request)
}

func (c Config) check() error {
	switch {
	case c.Timer == nil:
		return errors.New("engine without a step timer")
	case c.BlockSize < 1 || c.MaxSeqs < 1 || c.MaxTokens < 1 || c.MaxModelLen < 2:
		return fmt.Errorf("engine limits must be positive: block size %d, sequences %d, token budget %d, model length %d",
			c.BlockSize, c.MaxSeqs, c.MaxTokens, c.MaxModelLen)
	case c.Blocks > 1<<31-1:
		return fmt.Errorf("%d KV blocks are too many", c.Blocks)
	case (c.Blocks-1)*c.BlockSize < c.MaxModelLen:
		return fmt.Errorf("a sequence of %d tokens (the maximum model length) does not fit into %d KV blocks of %d tokens",
			c.MaxModelLen, c.Blocks, c.BlockSize)
	case c.WholePrompts && c.MaxTokens < c.MaxModelLen:
		return fmt.Errorf("without chunked prefill a token budget of %d is too small for prompts of up to %d", c.MaxTokens, c.MaxModelLen)
	case c.Policy == Slots && (c.BlockSize != 1 || int64(c.MaxSeqs)*c.MaxModelLen > c.Blocks-1):
		return fmt.Errorf("%d slots of %d tokens need blocks of 1 token, and more than %d of them", c.MaxSeqs, c.MaxModelLen, c.Blocks)
	}
	return c.Speculative.check()
}
