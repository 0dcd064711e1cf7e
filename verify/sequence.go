package verify

import (
	"fmt"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/stat"
)

// once marks the one look of a run that is judged at its end.
const once = -1

// riskOf is the risk of a wrong verdict at a look.
func riskOf(look int) float64 {
	if look == once {
		return stat.Alpha
	}
	return stat.LookRisk(look)
}

// Sequence judges a run that ends as soon as its objectives on percentiles are
// decided. It looks at each of them only when the run's first n requests have
// all ended, n by [stat.LookSize], and each look spends its part of the risk
// ([stat.LookRisk]). The sample of a look is those n requests, whichever ended
// first: who looked at what happens to have ended would see the fast ones.
type Sequence struct {
	claims []claim
}

// claim is an objective that can be decided while the run goes on.
type claim struct {
	objective *Objective
	look      int // the next one
	last      *SLO
}

func (c *claim) size() int     { return stat.LookSize(1-c.objective.allowed(), c.look) }
func (c *claim) decided() bool { return c.last != nil && c.last.Verdict.decided() }

// decided tells whether further requests cannot change a verdict.
func (v Verdict) decided() bool { return v == Pass || v == Fail }

// Sequential tells whether an objective can be decided while a run goes on: a
// percentile over all requests. A steady window is known at the end only, and
// a mean, a maximum or a rate is what was seen.
func (o *Objective) Sequential() bool {
	return o.certified() && !o.Steady && o.Metric.Form != measure.Rate
}

// NewSequence returns the sequence of those objectives that are
// [Objective.Sequential].
func NewSequence(objectives []Objective) *Sequence {
	q := &Sequence{}
	for i := range objectives {
		if objectives[i].Sequential() {
			q.claims = append(q.claims, claim{objective: &objectives[i]})
		}
	}
	return q
}

// Next returns how many requests, from the run's first on, must have ended for
// the next look; 0 where everything is decided.
func (q *Sequence) Next() int {
	next := 0
	for i := range q.claims {
		if c := &q.claims[i]; !c.decided() && (next == 0 || c.size() < next) {
			next = c.size()
		}
	}
	return next
}

// Look takes the looks that are due at n requests, all of which have ended and
// were added to a.
func (q *Sequence) Look(a *measure.Accumulator, n int) {
	for i := range q.claims {
		c := &q.claims[i]
		for !c.decided() && c.size() <= n {
			s := c.objective.judge(a.First(c.size()), c.look)
			c.last = &s
			c.look++
		}
	}
}

// JudgeLooks is [Judge] for a run that looked: what a look decided stands as
// it was decided, on the requests of that look; what none did is judged on
// all requests, as one look more. It needs nothing but the rows, so that it says the same of a run on disk.
func JudgeLooks(objectives []Objective, a *measure.Accumulator) []SLO {
	q := NewSequence(objectives)
	settled := a.Whole()
	for n := q.Next(); n > 0 && n <= settled; n = q.Next() {
		q.Look(a, n)
	}
	out := make([]SLO, len(objectives))
	next := 0
	for i := range objectives {
		o := &objectives[i]
		if !o.Sequential() {
			out[i] = judge(o, a)
			continue
		}
		out[i] = q.claims[next].final(a)
		next++
	}
	return out
}

// final is what a claim comes to at the run's end.
func (c *claim) final(a *measure.Accumulator) SLO {
	if c.decided() {
		s := *c.last
		s.Reason = s.looked("decided at") + fmt.Sprintf(" on the first %s requests: ", measure.Count(c.size()/2)) + s.Reason
		return s
	}
	s := c.objective.judge(a.All(), c.look)
	switch {
	case s.Evidence.Look == nil: // there was nothing to judge
	case s.Verdict.decided():
		s.Reason = s.looked("decided at the end,") + ": " + s.Reason
	default:
		s.Reason = s.looked("undecided at the end,") + ": " + s.Reason
	}
	return s
}

// looked says which look a verdict is from, and with what risk.
func (s *SLO) looked(how string) string {
	return fmt.Sprintf("%s look %d (risk %s)", how, *s.Evidence.Look, measure.Percent(100*s.Evidence.Risk.Or(0)))
}
