package fit

import (
	"cmp"
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// mostTouched bounds the blocks that a sample's prompts touch; twice as many as
// the log's are enough for a model that is any good.
const mostTouched = 4_000_000

// sent is one turn of a sampled session.
type sent struct {
	at            time.Duration
	session       uint64
	front         uint64 // what its shared prefix is; of frontTokens
	frontTokens   int64
	input, output int64   // tokens of the whole prompt, and of its answer
	messages      []int64 // tokens up to the end of each
}

// sampledCurve is the prefix-hit curve of one sample of the model, on the sizes
// of the log's, in blocks of so many tokens: prompts of whole sessions, with
// history, in order of time.
func sampledCurve(m *traffic.Model, b *blocks, size int64, seed uint64) ([]CachePoint, error) {
	prompts, err := samplePrompts(m, size, min(mostTouched, 2*b.prompts/size+1000), seed)
	if err != nil || len(prompts) == 0 {
		return nil, err
	}
	slices.SortStableFunc(prompts, func(a, b sent) int { return cmp.Compare(a.at, b.at) })
	again := newBlocks(b.sizes)
	var ids []uint64
	for i, p := range prompts {
		now := prompt{size: size, input: p.input, output: p.output, at: int64(p.at), whole: true, of: -1}
		full := int(p.input / size)
		if b.texts > 0 {
			now.ends = p.ends(size)
			full = len(now.ends)
		}
		ids = ids[:0]
		for k := range full {
			owner := p.session
			if now.upTo(k+1) <= p.frontTokens {
				owner = p.front
			}
			ids = append(ids, stat.Key(owner, "block", uint64(k)))
		}
		now.ids = ids
		again.add(&now, int32(i))
	}
	return again.curve(), nil
}

// ends are the tokens up to the end of each block, cut as texts are: each
// message ends one.
func (p *sent) ends(size int64) []int64 {
	var out []int64
	from := int64(0)
	for _, end := range p.messages {
		for from < end {
			from = min(from+max(size, from/count.BlockShare), end)
			out = append(out, from)
		}
	}
	return out
}

// samplePrompts are the turns of sessions that together touch about so many
// blocks at most.
func samplePrompts(m *traffic.Model, blockTokens, most int64, seed uint64) ([]sent, error) {
	s, err := m.Sampler(traffic.SampleOptions{Seed: seed})
	if err != nil {
		return nil, err
	}
	var out []sent
	var turns []traffic.Turn
	for touched := int64(0); touched < most; {
		d, ok := s.Next()
		if !ok {
			break
		}
		p := sent{at: time.Duration(d.At), frontTokens: d.PrefixTokens,
			session: stat.Key(uint64(d.Client), "session", uint64(d.Index)), front: stat.Key(uint64(d.Client), "front", uint64(d.Prefix))}
		p.input = d.PrefixTokens
		turns = s.Turns(&d, turns[:0])
		for _, t := range turns {
			p.at += t.Think
			p.input += t.Input + p.output
			p.messages = append(p.messages, p.input-t.Input, p.input)
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
