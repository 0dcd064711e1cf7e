package verify

import (
	"math"
	"testing"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/stat"
)

func gathered(t *testing.T, expr string, rows []*record.Attempt) ([]Objective, *measure.Accumulator) {
	t.Helper()
	o, err := Parse(expr)
	if err != nil {
		t.Fatal(err)
	}
	a := measure.New(measure.Options{Limits: Limits(o)})
	for _, x := range rows {
		a.Add(x)
	}
	return o, a
}

// some makes n requests, those in slow being over 150 ms.
func some(n int, slow ...int) []*record.Attempt {
	var rows []*record.Attempt
	for i := range n {
		ms := int64(100)
		for _, s := range slow {
			if i == s {
				ms = 200
			}
		}
		rows = append(rows, attempt(int64(i), ms, record.OK))
	}
	return rows
}

func TestLooksOnPaper(t *testing.T) {
	for _, c := range []struct {
		name       string
		rows       []*record.Attempt
		verdict    Verdict
		look, n    int
		risk       float64
		needed     int
		endVerdict Verdict // of a look at the end alone
	}{
		// 0.99^530 = 0.00486 < 0.005.
		{"none over", some(700), Pass, 1, 530, .005, 0, Pass},
		// With one over, 530: 0.0309; 1,060: P(Bin ≤ 1) = 0.000276 < 0.01/6.
		{"one over", some(1060, 7), Pass, 2, 1060, .01 / 6, 0, Pass},
		// 700 with one over would pass at 0.01 (662 do); the second look's risk, spent at the end, takes more.
		{"one over, ended early", some(700, 7), Inconclusive, 2, 700, .01 / 6, 360, Pass},
		// 489 cannot pass at 0.005: 41 more, to the first look.
		{"before the first look", some(489), Inconclusive, 1, 489, .005, 41, Pass},
	} {
		o, a := gathered(t, "ttft.p99<150ms", c.rows)
		s := JudgeLooks(o, a)[0]
		e := s.Evidence
		if s.Verdict != c.verdict || e.Look == nil || *e.Look != c.look || e.N != c.n || math.Abs(e.Risk.Or(0)-c.risk) > 1e-12 || e.Needed == nil || *e.Needed != c.needed {
			t.Errorf("%s: %s, %s, n %d, needed %v", c.name, s.Verdict, s.Reason, e.N, e.Needed)
		}
		if s := Judge(o, a)[0]; s.Verdict != c.endVerdict || s.Evidence.Look != nil || s.Evidence.Risk.Or(0) != stat.Alpha {
			t.Errorf("%s, once: %+v", c.name, s)
		}
	}
}

// TestALookSeesTheFirstRequests: not those that ended first, and not what came
// after it.
func TestALookSeesTheFirstRequests(t *testing.T) {
	rows := some(1000)
	for i := 600; i < 1000; i++ {
		rows[i] = attempt(int64(i), 200, record.OK)
	}
	o, a := gathered(t, "ttft.p99<150ms, error_rate<1%, ttft.p50<150ms", rows)
	s := JudgeLooks(o, a)
	if s[0].Verdict != Pass || s[0].Evidence.N != 530 || s[2].Evidence.N != 200 {
		t.Errorf("%+v", s)
	}
	if s[1].Verdict != Pass || s[1].Evidence.Look != nil {
		t.Errorf("a rate: %+v", s[1])
	}
	if s := Judge(o, a); s[0].Verdict != Fail {
		t.Errorf("at the end: %+v", s[0])
	}
	// A number missing ends what can be looked at.
	o, a = gathered(t, "ttft.p99<150ms", append(rows[:100:100], rows[101:]...))
	if s := JudgeLooks(o, a)[0]; s.Evidence.N != 999 || s.Verdict != Fail {
		t.Errorf("with a gap: %+v", s)
	}
}

func TestASequenceEndsWithItsLastObjective(t *testing.T) {
	o, a := gathered(t, "ttft.p50<150ms, ttft.p99<150ms", some(1060, 7))
	q := NewSequence(o)
	var sizes []int
	for n := q.Next(); n > 0; n = q.Next() {
		sizes = append(sizes, n)
		q.Look(a, n)
	}
	if len(sizes) != 3 || sizes[0] != 200 || sizes[1] != 530 || sizes[2] != 1060 {
		t.Errorf("looks at %v", sizes)
	}
	if n := NewSequence(o[:0]).Next(); n != 0 {
		t.Errorf("nothing asked: %d", n)
	}
}
