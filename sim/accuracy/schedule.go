package accuracy

import (
	"container/heap"
	"math"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/stat"
)

// Loop is a closed loop of equal clients: each sends its next request when the
// last answer has ended.
type Loop struct {
	Clients  int64
	Requests int64 // in all; the first burst counts too, as in the benchmarks
	ISL, OSL int64 // nominal tokens of prompt and answer
	// Ragged draws each length evenly from 0.8 to 1 of the nominal one, as the
	// InferenceX harness does; else all are the nominal one.
	Ragged bool
	// Unique is the number of different prompts, which repeat in turn and are then
	// found in the prefix cache; 0: all differ.
	Unique int64
}

// Limits are what an engine's scheduler keeps.
type Limits struct {
	Seqs   int64 // sequences in a step
	Tokens int64 // token budget of a step
	KV     int64 // tokens of KV cache
	Policy core.Policy
}

// phase is a stretch of equal steps, or what equals one: its step has the mean
// context. The weights say how much of its step time goes into the mean TPOT and
// the mean TTFT.
type phase struct {
	step       core.Step
	tpot, ttft float64
}

type member struct {
	prompt, output int64
	done           int64   // prompt tokens computed
	context        int64   // tokens at admission of the decode phase
	since          int64   // step in which its decode began
	left           int64   // tokens still to come then
	share          float64 // 1/(output−1)
	total          int64   // prompt and answer, as admitted
	first          bool    // has its first token
	seq            int64   // order of admission
}

func (m *member) end() int64 { return m.since + m.left }

// ends is a heap of decoding members by the step in which they end, then by order.
type ends []*member

func (h ends) Len() int { return len(h) }
func (h ends) Less(i, j int) bool {
	return h[i].end() < h[j].end() || h[i].end() == h[j].end() && h[i].seq < h[j].seq
}
func (h ends) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *ends) Push(x any)   { *h = append(*h, x.(*member)) }
func (h *ends) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// schedule replays a closed loop through vLLM's scheduling and returns what the
// mean TPOT and TTFT are made of. It counts steps, not time: in a closed loop
// the order of steps follows from the lengths alone, as long as a client's
// round trip is shorter than a step. Stretches of steps in which nobody comes or
// goes are taken at once, which makes it fast enough to fit on; a test holds it
// against the engine.
type schedule struct {
	loop    Loop
	lim     Limits
	now     int64 // steps so far
	sent    int64
	ended   int64
	order   int64
	decodes ends
	context int64 // of all decodes at step `now`
	shares  float64
	prefill []*member
	waiting []*member
	coming  []*member // sent in the step before
	silent  int64     // waiting for a first token
	kv      int64     // tokens held by prefilling members
	reserve int64     // prompts and answers of all who run
	left    int64     // tokens still to come to decodes
	ratio   float64   // SGLang: share of these that admission keeps free
	phases  []phase
	// Preemptions says how often the cache ran out.
	Preemptions int64
}

func newSchedule(l Loop, lim Limits) *schedule {
	s := &schedule{loop: l, lim: lim, ratio: 0.7}
	for range min(l.Clients, l.Requests) {
		s.send()
	}
	s.waiting, s.coming = s.coming, nil
	for s.ended < l.Requests {
		s.step()
	}
	return s
}

func (s *schedule) send() {
	if s.sent == s.loop.Requests {
		return
	}
	m := &member{prompt: s.loop.ISL, output: s.loop.OSL}
	if s.loop.Ragged {
		r := stat.Random(1, "closed loop", uint64(s.sent))
		m.prompt = s.loop.ISL - r.Int64N(s.loop.ISL/5+1)
		m.output = s.loop.OSL - r.Int64N(s.loop.OSL/5+1)
	}
	m.prompt, m.output = max(m.prompt, 1), max(m.output, 1)
	if m.output > 1 {
		m.share = 1 / float64(m.output-1)
	}
	if s.loop.Unique > 0 && s.sent >= s.loop.Unique {
		m.done = (m.prompt - 1) / 16 * 16
	}
	s.sent++
	s.silent++
	s.coming = append(s.coming, m)
}

// step schedules one step, or a stretch of pure decode steps.
func (s *schedule) step() {
	if s.lim.Policy == core.SGLang { // prompts have steps of their own
		p := core.Step{}
		if done := s.prompts(&p, 0, s.lim.Tokens); p.Tokens > 0 {
			s.emit(p, 1, 0)
			s.finish(0, 0, done)
			return
		}
	}
	for len(s.decodes) > 1 && s.context+s.kv+int64(len(s.decodes)) > s.lim.KV {
		s.preempt()
	}
	decodes := int64(len(s.decodes))
	p := core.Step{Sequences: decodes, Tokens: decodes, Samples: decodes, Context: s.context + decodes}
	var done []*member
	if s.lim.Policy != core.SGLang {
		done = s.prompts(&p, decodes, s.lim.Tokens-decodes)
	}
	n := int64(1)
	if p.Tokens == decodes && len(s.coming) == 0 && decodes > 0 {
		n = max(s.decodes[0].end()-s.now, 1)
		if room := (s.lim.KV - s.context - s.kv) / decodes; room < n {
			n = max(room, 1)
		}
		if s.lim.Policy == core.SGLang && len(s.waiting) > 0 {
			n = min(n, 8) // each step leaves more room for those who wait
		}
	}
	s.emit(p, n, decodes)
	s.finish(n, decodes, done)
}

// prompts schedules parts of prompts: those begun, then those that wait. It
// returns the members whose prompts are done.
func (s *schedule) prompts(p *core.Step, decodes, budget int64) (done []*member) {
	keep := s.prefill[:0]
	for _, m := range s.prefill {
		if n := min(m.prompt-m.done, budget); n > 0 {
			budget -= n
			done = s.chunk(p, m, n, done)
		}
		if m.done < m.prompt {
			keep = append(keep, m)
		}
	}
	s.prefill = keep
	for len(s.waiting) > 0 && budget > 0 && int64(len(s.decodes)+len(s.prefill)+len(done)) < s.lim.Seqs {
		m := s.waiting[0]
		if !s.room(m, decodes) && len(s.decodes)+len(s.prefill)+len(done) > 0 {
			break
		}
		s.waiting = s.waiting[1:]
		s.kv += m.prompt
		m.total = m.prompt + m.output
		s.reserve += m.total
		m.seq = s.order
		s.order++
		n := min(m.prompt-m.done, budget)
		budget -= n
		done = s.chunk(p, m, n, done)
		if m.done < m.prompt {
			s.prefill = append(s.prefill, m)
		}
	}
	return done
}

// room tells whether a policy admits a member into the cache.
func (s *schedule) room(m *member, decodes int64) bool {
	switch s.lim.Policy {
	case core.NoEvict: // all that it will need
		return s.reserve+m.prompt+m.output <= s.lim.KV
	case core.SGLang: // and a share of what those who run will need
		return float64(s.context+s.kv+m.prompt+min(m.output, 4096))+s.ratio*float64(s.left) <= float64(s.lim.KV)
	default: // vLLM: the prompt
		return s.context+decodes+s.kv+m.prompt <= s.lim.KV
	}
}

func (s *schedule) chunk(p *core.Step, m *member, n int64, done []*member) []*member {
	p.Sequences++
	p.Tokens += n
	p.Context += m.done + n
	if n > 1 {
		p.Attention += float64(n) * (float64(m.done) + float64(n)/2)
	}
	m.done += n
	if m.done == m.prompt {
		p.Samples++
		done = append(done, m)
	}
	return done
}

// emit notes n steps.
func (s *schedule) emit(p core.Step, n, decodes int64) {
	p.Context += decodes * (n - 1) / 2
	s.phases = append(s.phases, phase{p, s.shares * float64(n), float64(s.silent) * float64(n)})
}

// finish gives out the tokens of n steps.
func (s *schedule) finish(n, decodes int64, done []*member) {
	s.now += n
	s.context += n * decodes
	s.left -= n * decodes
	s.ratio = max(0.098, s.ratio-0.602/600*float64(n))
	s.waiting = append(s.waiting, s.coming...)
	s.coming = s.coming[:0:0]
	for len(s.decodes) > 0 && s.decodes[0].end() <= s.now {
		m := heap.Pop(&s.decodes).(*member)
		s.context -= m.context + m.left
		s.over(m)
	}
	for _, m := range done {
		s.kv -= m.prompt
		if !m.first {
			m.first = true
			s.silent--
			s.shares += m.share
			m.output-- // the first token
		}
		m.context, m.since, m.left = m.prompt, s.now, m.output
		if m.left == 0 {
			s.over(m)
			continue
		}
		s.context += m.context
		s.left += m.left
		heap.Push(&s.decodes, m)
	}
}

func (s *schedule) over(m *member) {
	s.shares -= m.share
	s.reserve -= m.total
	s.ended++
	s.send()
}

// preempt sends the decoding member that was admitted last back to the front
// of the queue: its prompt is then all it had.
func (s *schedule) preempt() {
	last := 0
	for i, m := range s.decodes {
		if m.seq > s.decodes[last].seq {
			last = i
		}
	}
	m := s.decodes[last]
	heap.Remove(&s.decodes, last)
	got := s.now - m.since
	s.context -= m.context + got
	s.left -= m.left - got
	s.reserve -= m.total
	m.prompt, m.output, m.done = m.context+got, m.left-got, 0
	if s.lim.Policy == core.SGLang {
		s.waiting = append(s.waiting, m)
	} else {
		s.waiting = append([]*member{m}, s.waiting...)
	}
	s.Preemptions++
}

// features are a loop's phases, those of like steps put together: weights are
// per request, so that the sum of weight × step time is the mean.
func (s *schedule) features() []phase {
	type class struct {
		prompts int
		decodes int
	}
	at := map[class]int{}
	var out []phase
	type sum struct{ weight, sequences, tokens, samples, context, attention float64 }
	var sums []sum
	for _, p := range s.phases {
		c := class{-1, int(2 * math.Log2(float64(p.step.Samples+1)))}
		if extra := p.step.Tokens - p.step.Samples; extra > 0 {
			c.prompts = int(2 * math.Log2(float64(extra)))
		}
		i, ok := at[c]
		if !ok {
			i = len(out)
			at[c] = i
			out, sums = append(out, phase{}), append(sums, sum{})
		}
		w := p.tpot + p.ttft*1e-6
		q := &sums[i]
		q.weight += w
		q.sequences += w * float64(p.step.Sequences)
		q.tokens += w * float64(p.step.Tokens)
		q.samples += w * float64(p.step.Samples)
		q.context += w * float64(p.step.Context)
		q.attention += w * p.step.Attention
		out[i].tpot += p.tpot / float64(s.loop.Requests)
		out[i].ttft += p.ttft / float64(s.loop.Requests)
	}
	for i, q := range sums {
		mean := func(v float64) int64 { return int64(math.Round(v / q.weight)) }
		out[i].step = core.Step{Sequences: mean(q.sequences), Tokens: mean(q.tokens), Samples: mean(q.samples), Context: mean(q.context), Attention: q.attention / q.weight}
	}
	return out
}
