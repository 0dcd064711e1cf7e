package fit

import (
	"cmp"
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// mostTouched bounds the blocks that a sample's prompts touch; twice as many as
// the log's are enough for a model that is any good.
const mostTouched = 4_000_000

// prompt is one turn of a sampled session.
type prompt struct {
	at            time.Duration
	session       uint64
	front         uint64 // what its shared prefix is; of frontTokens
	frontTokens   int64
	input, output int64 // tokens of the whole prompt, and of its answer
}

// sampledCurve is the prefix-hit curve of one sample of the model, on the sizes
// of the log's, in blocks of so many tokens: prompts of whole sessions, with
// history, in order of time.
func sampledCurve(m *traffic.Model, b *blocks, size int64, seed uint64) ([]CachePoint, error) {
	prompts, err := samplePrompts(m, size, min(mostTouched, 2*b.prompts/size+1000), seed)
	if err != nil || len(prompts) == 0 {
		return nil, err
	}
	slices.SortStableFunc(prompts, func(a, b prompt) int { return cmp.Compare(a.at, b.at) })
	again := newBlocks(b.sizes)
	row := trace.Row{BlockTokens: size}
	for i, p := range prompts {
		row.At, row.Input, row.Output = int64(p.at), p.input, p.output
		row.Blocks = row.Blocks[:0]
		for k := int64(0); (k+1)*size <= p.input; k++ {
			owner := p.session
			if (k+1)*size <= p.frontTokens {
				owner = p.front
			}
			row.Blocks = append(row.Blocks, stat.Key(owner, "block", uint64(k)))
		}
		again.add(&row, int32(i), -1)
	}
	return again.curve(), nil
}

// samplePrompts are the turns of sessions that together touch about so many
// blocks at most.
func samplePrompts(m *traffic.Model, blockTokens, most int64, seed uint64) ([]prompt, error) {
	s, err := m.Sampler(traffic.SampleOptions{Seed: seed})
	if err != nil {
		return nil, err
	}
	var out []prompt
	var turns []traffic.Turn
	for touched := int64(0); touched < most; {
		d, ok := s.Next()
		if !ok {
			break
		}
		p := prompt{at: time.Duration(d.At), frontTokens: d.PrefixTokens,
			session: stat.Key(uint64(d.Client), "session", uint64(d.Index)), front: stat.Key(uint64(d.Client), "front", uint64(d.Prefix))}
		p.input = d.PrefixTokens
		turns = s.Turns(&d, turns[:0])
		for _, t := range turns {
			p.at += t.Think
			p.input += t.Input + p.output
			p.output = t.Output - t.Reasoning
			touched += p.input/blockTokens + 1
			if p.at >= m.Duration || touched >= most {
				break // the log ends there too
			}
			out = append(out, p)
		}
	}
	return out, nil
}
