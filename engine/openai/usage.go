package openai

import "github.com/tokamak-bench/tokamak/engine"

// usageSeen is what the server said that it counted, so far.
type usageSeen struct {
	now, last counts // of the event being read; the last that was not zero
	came      bool   // a usage object came, be it of zeros
	thisOne   bool   // the event being read has one
	final     bool   // last came in an event without content
	misshapen bool   // a field of it had the wrong type
	absurd    bool   // a count was negative, no whole number, or beyond all bounds
	// The server's own durations.
	queue, prefill, decode engine.Count
}

type counts struct{ prompt, completion, cached, reasoning engine.Count }

func (c counts) zero() bool { return c.prompt.N == 0 && c.completion.N == 0 }

// object tells whether an object comes next; anything else is passed, and but
// for null it has the wrong type.
func (u *usageSeen) object(s *scanner) bool {
	switch s.peek() {
	case '{':
		return true
	case 'n':
	default:
		u.misshapen = true
	}
	s.skip()
	return false
}

// read reads a usage object, or passes what is none.
func (u *usageSeen) read(s *scanner) {
	if !u.object(s) {
		return
	}
	u.came, u.thisOne = true, true
	first := s.open('{')
	for k, ok := s.key(&first); ok; k, ok = s.key(&first) {
		switch string(k) {
		case "prompt_tokens":
			u.now.prompt = u.count(s)
		case "completion_tokens":
			u.now.completion = u.count(s)
		case "prompt_tokens_details":
			u.details(s, "cached_tokens", &u.now.cached)
		case "completion_tokens_details":
			u.details(s, "reasoning_tokens", &u.now.reasoning)
		case "prompt_cache_hit_tokens", "cached_tokens":
			if c := u.count(s); !u.now.cached.Known {
				u.now.cached = c
			}
		case "reasoning_tokens":
			if c := u.count(s); !u.now.reasoning.Known {
				u.now.reasoning = c
			}
		case "queue_time":
			u.queue = duration(s, 1e9)
		case "prompt_time":
			u.prefill = duration(s, 1e9)
		case "completion_time":
			u.decode = duration(s, 1e9)
		default:
			s.skip()
		}
	}
}

func (u *usageSeen) details(s *scanner, name string, to *engine.Count) {
	if !u.object(s) {
		return
	}
	first := s.open('{')
	for k, ok := s.key(&first); ok; k, ok = s.key(&first) {
		if string(k) != name {
			s.skip()
		} else if c := u.count(s); c.Known {
			*to = c
		}
	}
}

// count reads a count. What is no number has the wrong type, but for null; a
// number that counts nothing is as good as none, and noted.
func (u *usageSeen) count(s *scanner) engine.Count {
	switch c := s.peek(); {
	case c == '-' || '0' <= c && c <= '9':
	case c == 'n':
		s.skip()
		return engine.Count{}
	default:
		u.misshapen = true
		s.skip()
		return engine.Count{}
	}
	n, ok := s.integer()
	if !ok || n < 0 || n > maxCount {
		u.absurd = true
		return engine.Count{}
	}
	return engine.Count{N: n, Known: true}
}

// maxCount is the most tokens that an answer can be said to have; measuring
// counts in 32 bits.
const maxCount = 1<<31 - 1

// implausible tells whether counts contradict each other, or were none.
func (u *usageSeen) implausible() bool {
	c := &u.last
	return u.absurd || c.cached.Known && c.prompt.Known && c.cached.N > c.prompt.N ||
		c.reasoning.Known && c.completion.Known && c.reasoning.N > c.completion.N
}

// duration reads a duration in units of so many nanoseconds.
func duration(s *scanner, unit float64) engine.Count {
	v, ok := s.float()
	if !ok || v < 0 || v*unit > 1e18 {
		return engine.Count{}
	}
	return engine.Count{N: int64(v*unit + 0.5), Known: true}
}

// event books the usage of one event; rows is how many content chunks there
// were before it.
func (u *usageSeen) event(d *decoder, rows int) {
	if !u.thisOne {
		return
	}
	u.thisOne = false
	now := u.now
	u.now = counts{}
	if now.zero() {
		return // some servers put zeros into each chunk
	}
	u.last, u.final = now, d.rows == rows
	if d.rows == rows || !now.completion.Known {
		return
	}
	for len(d.perRow) < d.rows-1 {
		d.perRow = append(d.perRow, -1)
	}
	if len(d.perRow) < d.rows {
		d.perRow = append(d.perRow, now.completion.N)
	}
}

// timings reads llama.cpp's own durations.
func (d *decoder) timings(s *scanner) {
	if s.peek() != '{' {
		s.skip()
		return
	}
	u := &d.usage
	first := s.open('{')
	for k, ok := s.key(&first); ok; k, ok = s.key(&first) {
		switch string(k) {
		case "prompt_ms":
			u.prefill = duration(s, 1e6)
		case "predicted_ms":
			u.decode = duration(s, 1e6)
		default:
			s.skip()
		}
	}
}

// perChunk returns how many tokens each content chunk holds, if the usage
// objects in the chunks say so: as running totals of each choice, or as counts
// of the chunk alone whose sum is the final total. It returns nil if they do not.
func (d *decoder) perChunk() []int32 {
	n := d.rows
	if len(d.perRow) != n || n < 2 {
		return nil
	}
	for _, v := range d.perRow {
		if v < 0 {
			return nil
		}
	}
	totals, sum := d.running()
	last := d.usage.last.completion.N
	// The final total may count a token or two after the last content, such as
	// the one that ends the text. Counts of the chunk alone leave their last
	// far below it, but in the shortest of answers.
	if totals != nil && (!d.usage.final || last-sum <= int64(2*len(d.choices))) {
		return totals
	}
	var alone int64
	out := make([]int32, n)
	for i, v := range d.perRow {
		alone += v
		out[i] = int32(min(v, 1<<30))
	}
	if d.usage.final && alone == last {
		return out
	}
	return totals
}

// running takes the counts in the chunks as running totals of each choice. It
// returns nil where they fall or exceed the final total, and their sum.
func (d *decoder) running() (out []int32, sum int64) {
	out = make([]int32, d.rows)
	var so [maxChoices]int64
	for i, v := range d.perRow {
		c := d.a.Chunks.Choice[i]
		if int(c) >= len(so) || v < so[c] || v-so[c] > 1<<30 {
			return nil, 0
		}
		out[i] = int32(v - so[c])
		sum += v - so[c]
		so[c] = v
	}
	if d.usage.final && sum > d.usage.last.completion.N {
		return nil, 0
	}
	return out, sum
}
