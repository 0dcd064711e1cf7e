package fit

import (
	"slices"

	"github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// prompt is one as its blocks name it: those that its log names, or those that
// its text is cut into.
type prompt struct {
	ids           []uint64      // of full blocks
	size          int64         // tokens of each, where ends are nil
	ends          []int64       // tokens up to the end of each
	said          *count.Prompt // its text; nil: known by ids alone
	input, output int64         // tokens
	at            int64         // ns
	whole         bool          // ids go to its end
	of            int32         // the request that began its conversation where that is known, else -1
}

// upTo is how many tokens its first blocks have.
func (p *prompt) upTo(n int) int64 {
	switch {
	case p.ends == nil:
		return int64(n) * p.size
	case n == 0:
		return 0
	}
	return p.ends[n-1]
}

// tokens are those of a block.
func (p *prompt) tokens(i int) int64 { return p.upTo(i+1) - p.upTo(i) }

// end is the block that a prompt which goes on with this one holds; false where
// none tells.
func (p *prompt) end() (uint64, bool) {
	n := len(p.ids)
	switch {
	case n == 0:
		return 0, false
	case p.said == nil || !p.said.Alone:
		return p.ids[n-1], true
	case n > 1: // it may go on in the midst of the last
		return p.ids[n-2], true
	}
	return 0, false
}

// named makes a prompt of a row that names its blocks; nil where it does not
// say how long they are.
func (b *blocks) named(r *trace.Row) *prompt {
	length := b.length(r.BlockTokens)
	if length == nil {
		return nil
	}
	length.Prompts++
	size := length.Tokens
	b.inBlocks += r.Input
	b.inNames += size * int64(len(r.Blocks))
	full := min(r.Input/size, int64(len(r.Blocks)))
	return &prompt{ids: b.distinguished(r.Blocks[:full], size), size: size, input: r.Input, output: r.Output, at: r.At,
		whole: full == r.Input/size, of: -1}
}

// written makes a prompt of a text; nil where there is none.
func written(q *count.Prompt, at int64) *prompt {
	if len(q.Blocks) == 0 {
		return nil
	}
	return &prompt{ids: q.Blocks, ends: q.Ends, said: q, input: q.Tokens, output: q.Answer, at: at, whole: true, of: -1}
}

// promptOf is the whole prompt of a row that is one; nil where it tells neither
// blocks nor texts.
func (b *blocks) promptOf(r *trace.Row, said []count.Prompt) *prompt {
	switch {
	case r.Delta:
		return nil
	case len(r.Blocks) > 0:
		return b.named(r)
	case len(said) == 1:
		return written(&said[0], r.At)
	}
	return nil
}

// follows tells whether a prompt holds the end of the session's prompt before:
// flagExtends or flagApart, 0 where nothing tells.
func (s *sessions) follows(p *prompt, session int32) (evidence uint8) {
	if end, ok := s.ends[session]; ok {
		evidence = flagApart
		if slices.Contains(p.ids, end) {
			evidence = flagExtends
		}
	}
	if end, ok := p.end(); ok {
		s.ends[session] = end
	} else if p.said != nil {
		delete(s.ends, session)
	}
	return evidence
}
