package portrait

import (
	"hash/maphash"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/workload/fit"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// missing stands in a column for what a row does not say.
const missing = -1

// log is what is kept of the rows of a log.
type log struct {
	at            []int64 // ns, of the rows that have a moment
	absolute      bool    // at counts from the Unix epoch
	input, output []int32 // tokens, one a request; missing: not said

	rows, failed            int64
	counter                 Tokenizer // of texts whose length the log does not say; nil: none
	counted                 int64     // requests whose length it counted
	texts                   int64     // requests that have text but no length of it
	reasoning, reasonedOver int64     // reasoning tokens, and output tokens of the same requests
	cached, cachedOver      int64     // prompt tokens that the service says it had, and the prompt tokens of the same requests
	media                   int64     // requests with images, audio or video

	sessions sessions
	reuse    *fit.Reuse // of prompts that name their blocks; nil: none so far
	deltas   int64      // rows that name the blocks of a turn's new text alone
	tenants  tally
	unsorted int64
}

// add counts a row in; an error is the tokenizer's.
func (l *log) add(r *trace.Row) error {
	l.rows++
	if r.Timed {
		if n := len(l.at); n > 0 && r.At < l.at[n-1] {
			l.unsorted++
		}
		l.at = append(l.at, r.At)
		l.absolute = r.Absolute
	}
	if r.Failed {
		l.failed++
	}
	if r.Images+r.Audios+r.Videos > 0 {
		l.media++
	}
	if r.Reasoning > 0 && r.Output > 0 {
		l.reasoning += r.Reasoning
		l.reasonedOver += r.Output
	}
	if r.Cached > 0 {
		l.cached += r.Cached
	}
	l.cachedOver += r.Input
	l.sessions.add(r, l.follow(r))
	l.tenants.add(r.Tenant, max(r.Input, 0))
	if len(r.Turns) == 0 {
		l.lengths(r.Input, r.Output, r.Body != nil)
		return nil
	}
	return l.turns(r)
}

// turns adds the requests of a row that has their texts.
func (l *log) turns(r *trace.Row) error {
	history := int64(0) // tokens counted, answers included
	for i := range r.Turns {
		t := &r.Turns[i]
		in, out := t.Input, t.Output
		if i == 0 && in == 0 {
			in = r.Input
		}
		if len(r.Turns) == 1 && out == 0 {
			out = r.Output
		}
		if in == 0 && l.counter != nil {
			counted, answer, err := l.count(t)
			if err != nil {
				return err
			}
			if in = history + counted; out == 0 {
				out = answer
			}
			history = in + out
			l.counted++
		}
		l.lengths(in, out, true)
	}
	return nil
}

// count returns the tokens of what a turn says and of its answer.
func (l *log) count(t *trace.Turn) (said, answer int64, err error) {
	for _, m := range t.Messages {
		n, err := l.counter.Count(m.Text)
		if err != nil {
			return 0, 0, err
		}
		said += int64(n)
	}
	n, err := l.counter.Count(t.Answer)
	return said, int64(n), err
}

// follow looks at the blocks of a prompt. It returns the number of the one that
// it goes on with, counted over those that name their blocks, or -1, and whether
// it names its own.
func (l *log) follow(r *trace.Row) (f followed) {
	if len(r.Blocks) == 0 {
		return followed{}
	}
	if r.Delta {
		l.deltas++
		return followed{}
	}
	if l.reuse == nil {
		l.reuse = fit.NewReuse(cacheSizes())
	}
	f.before, f.ok = l.reuse.Add(r)
	return f
}

// followed is what the blocks of a prompt tell of its conversation.
type followed struct {
	before int32
	ok     bool
}

// lengths adds a request's; 0 is not said.
func (l *log) lengths(in, out int64, text bool) {
	if in <= 0 && text {
		l.texts++
	}
	l.input, l.output = append(l.input, column(in)), append(l.output, column(out))
}

func column(tokens int64) int32 {
	if tokens <= 0 {
		return missing
	}
	return int32(min(tokens, math.MaxInt32))
}

// sort puts the moments in order.
func (l *log) sort() {
	if l.unsorted > 0 {
		slices.Sort(l.at)
	}
}

// known returns the values of a column that rows said, ascending.
func known(column []int32) []int32 {
	out := make([]int32, 0, len(column))
	for _, v := range column {
		if v != missing {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// sessions counts the turns of conversations.
type sessions struct {
	seed  maphash.Seed
	index map[uint64]int32 // of a conversation, by its name or that of its last request
	turns []int32
	told  bool // a row said to which conversation it belongs
	// blocks says that conversations were told by the blocks of their prompts;
	// of are those of the prompts followed.
	blocks bool
	of     []int32
}

// add counts a row in, of which its blocks tell so much.
func (s *sessions) add(r *trace.Row, f followed) {
	at := s.place(r, f)
	if f.ok {
		s.of = append(s.of, at)
	}
}

// place returns the number of the row's conversation.
func (s *sessions) place(r *trace.Row, f followed) int32 {
	if s.index == nil {
		s.seed, s.index = maphash.MakeSeed(), map[uint64]int32{}
	}
	turns := int32(max(len(r.Turns), 1))
	switch {
	case turns > 1:
		s.told = true
		return s.begin(turns)
	case r.Session != "":
		s.told = true
		return s.grow(s.key("session", r.Session))
	case f.ok && f.before >= 0 && r.Parent == "":
		s.told, s.blocks = true, true
		at := s.of[f.before]
		s.turns[at]++
		return at
	case r.ID != "" || r.Parent != "":
		s.told = s.told || r.Parent != ""
		at, known := s.index[s.key("request", r.Parent)]
		if r.Parent == "" || !known {
			at = s.begin(0)
		}
		s.turns[at]++
		if r.ID != "" {
			s.index[s.key("request", r.ID)] = at
		}
		return at
	}
	return s.begin(1)
}

// begin makes a conversation of so many turns.
func (s *sessions) begin(turns int32) int32 {
	s.turns = append(s.turns, turns)
	return int32(len(s.turns) - 1)
}

func (s *sessions) grow(key uint64) int32 {
	at, known := s.index[key]
	if !known {
		at = s.begin(0)
		s.index[key] = at
	}
	s.turns[at]++
	return at
}

func (s *sessions) key(kind, name string) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	_, _ = h.WriteString(kind) // never fails
	_ = h.WriteByte(0)
	_, _ = h.WriteString(name)
	return h.Sum64()
}

// maxTenants is how many names a tally keeps; what comes later is one.
const maxTenants = 100_000

// tally counts requests by name.
type tally struct {
	of     map[string]*tenant
	beyond tenant
}

// tenant is whose requests they are.
type tenant struct {
	name             string
	requests, prompt int64
}

func (t *tally) add(name string, prompt int64) {
	if t.of == nil {
		t.of = map[string]*tenant{}
	}
	n := t.of[name]
	if n == nil {
		if len(t.of) >= maxTenants {
			n = &t.beyond
		} else {
			n = &tenant{name: name}
			t.of[name] = n
		}
	}
	n.requests++
	n.prompt += prompt
}

// told tells whether any row named its tenant.
func (t *tally) told() bool { return len(t.of) > 1 || len(t.of) == 1 && t.of[""] == nil }

// ranked returns the tenants, those with the most requests first.
func (t *tally) ranked() []tenant {
	var out []tenant
	for _, n := range t.of {
		out = append(out, *n)
	}
	if t.beyond.requests > 0 {
		out = append(out, t.beyond)
	}
	slices.SortFunc(out, func(a, b tenant) int {
		switch {
		case a.requests != b.requests:
			return int(max(min(b.requests-a.requests, 1), -1))
		case a.name < b.name:
			return -1
		}
		return 1
	})
	return out
}
