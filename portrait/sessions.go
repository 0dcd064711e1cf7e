package portrait

import (
	"hash/maphash"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

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

// add counts a row of so many turns in, of which its blocks tell so much, and
// returns the number of its conversation.
func (s *sessions) add(r *trace.Row, f followed, turns int) int32 {
	at := s.place(r, f, int32(min(turns, math.MaxInt32)))
	if f.ok {
		s.of = append(s.of, at)
	}
	return at
}

// place returns the number of the row's conversation.
func (s *sessions) place(r *trace.Row, f followed, turns int32) int32 {
	if s.index == nil {
		s.seed, s.index = maphash.MakeSeed(), map[uint64]int32{}
	}
	switch {
	case r.Session != "":
		s.told = true
		return s.grow(s.key("session", r.Session), turns)
	case turns > 1 || len(r.Turns) > 1:
		s.told = true
		return s.begin(turns)
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

func (s *sessions) grow(key uint64, turns int32) int32 {
	at, known := s.index[key]
	if !known {
		at = s.begin(0)
		s.index[key] = at
	}
	s.turns[at] += turns
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
	name     string
	requests int64
}

func (t *tally) add(name string) {
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
