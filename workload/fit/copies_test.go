package fit

import (
	"math/rand/v2"
	"testing"
)

// A log that holds each request twice has no coarse clock; one whose clock is
// coarse has no copies, be its lengths all alike or not.
func TestCopies(t *testing.T) {
	column := func(n int, of func(i int) int32) []int32 {
		out := make([]int32, n)
		for i := range out {
			out[i] = of(i)
		}
		return out
	}
	r := rand.New(rand.NewPCG(1, 2))
	const n = 400
	lengths := column(n, func(int) int32 { return 1 + r.Int32N(1000) })
	for name, c := range map[string]struct {
		each   int // rows of one moment
		input  func(i int) int32
		copies int
		tick   bool
	}{
		"twice":              {2, func(i int) int32 { return lengths[i/2] }, n / 2, false},
		"coarse":             {2, func(i int) int32 { return lengths[i] }, 0, true},
		"coarse, all alike":  {2, func(int) int32 { return 7 }, 0, true},
		"twice, and coarse":  {8, func(i int) int32 { return lengths[i/2] }, 0, true},
		"every moment alone": {1, func(i int) int32 { return lengths[i] }, 0, false},
	} {
		none := column(n, func(int) int32 { return -1 })
		l := &log{at: make([]int64, n), input: column(n, c.input), output: column(n, func(int) int32 { return 5 }), tenant: none, model: none,
			session: none, flags: make([]uint8, n)}
		at := int64(0)
		for i := range n {
			if i > 0 && i%c.each == 0 {
				at += 1 + r.Int64N(1e9)
			}
			l.at[i] = at
		}
		if got := l.copies(); got != c.copies {
			t.Errorf("%s: %d copies, expected %d", name, got, c.copies)
		}
		l.resolution()
		if (l.stamps.Tick > 0) != c.tick {
			t.Errorf("%s: steps of %v s", name, l.stamps.Tick)
		}
		if said := len(l.findings) > 0; said != (c.copies > 0) {
			t.Errorf("%s: said %q", name, l.findings)
		}
	}
}
