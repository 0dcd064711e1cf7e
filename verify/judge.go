package verify

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/stat"
)

// Verdict is the answer to an objective or of a run.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive" // too little evidence
	Unmeasured   Verdict = "unmeasured"   // no source
	Invalid      Verdict = "invalid"      // the client was the limit
)

// SLO is an objective judged.
type SLO struct {
	Expr      string        `json:"expr"`
	Metric    string        `json:"metric"`
	Stat      Stat          `json:"stat"`
	Value     measure.Value `json:"value"`     // in Unit
	Threshold float64       `json:"threshold"` // in Unit
	Unit      string        `json:"unit"`
	Verdict   Verdict       `json:"verdict"`
	Evidence  Evidence      `json:"evidence"`
	Reason    string        `json:"reason,omitempty"` // one sentence for the reader
}

// Evidence is what a verdict rests on.
type Evidence struct {
	N          int           `json:"n"`           // requests that count
	NEffective *int          `json:"n_effective"` // what they are worth, clusters considered; null: not a claim about a share
	Over       int           `json:"over"`        // those over the limit, failures among them
	Needed     *int          `json:"needed"`      // how many more, all under, a pass takes; null: none would do, or no claim
	Failures   int           `json:"failures"`    // of n: failed or never sent
	CutOver    int           `json:"cut_over"`    // of n: cut when already over
	LeftOut    int           `json:"left_out"`    // cut before the limit; not in n
	Absent     int           `json:"absent"`      // successes without the value; not in n
	Theta      measure.Value `json:"theta"`       // extremal index; null for pooled gaps
	Deff       measure.Value `json:"deff"`        // design effect
	Spread     *int          `json:"spread"`      // in how many of 20 equal parts of the n some are over; null: not a claim
	Upper      measure.Value `json:"upper"`       // error_rate: 99 % upper bound, in %
	Risk       measure.Value `json:"risk"`        // of a wrong verdict, a share; null: not a claim
	Look       *int          `json:"look"`        // which look decided, or was the last, from 1 on; null: it was looked at once
}

// Judge holds objectives against what was measured.
func Judge(objectives []Objective, a *measure.Accumulator) []SLO {
	out := make([]SLO, len(objectives))
	for i := range objectives {
		out[i] = judge(&objectives[i], a)
	}
	return out
}

func judge(o *Objective, a *measure.Accumulator) SLO {
	v := a.All()
	if o.Steady {
		var reason string
		if v, _, reason = a.Steady(); v == nil {
			s := o.unjudged()
			s.Verdict, s.Reason = Inconclusive, "no steady window: "+reason
			return s
		}
	}
	return o.judge(v, once)
}

// unjudged is the objective before anything is known.
func (o *Objective) unjudged() SLO {
	return SLO{Expr: o.Expr, Metric: o.Metric.Name, Stat: o.Stat, Threshold: o.Threshold, Unit: o.Metric.Unit, Verdict: Unmeasured}
}

// judge holds the objective against a view, at a look of a run that looks
// repeatedly, or once.
func (o *Objective) judge(v *measure.View, look int) SLO {
	s := o.unjudged()
	s.Value = o.value(v)
	switch {
	case o.Metric.Form == measure.Rate:
		s.observeRate(o, v)
	case o.certified():
		s.certify(o, v, look)
	default:
		s.observe(o, v)
	}
	s.audit(o, v)
	s.warm(o, v)
	return s
}

// sample fills the evidence that a claim and an observation share, and returns
// false where there is nothing to judge.
func (s *SLO) sample(o *Objective, v *measure.View) (measure.Sample, bool) {
	m := v.Sample(o.Limit())
	over := int(math.Ceil(m.Over - 1e-9))
	s.Evidence.N, s.Evidence.Over = m.N, over
	s.Evidence.Failures, s.Evidence.CutOver = m.Failures, m.StoppedOver
	s.Evidence.LeftOut, s.Evidence.Absent = m.LeftOut, m.Absent
	if m.N == 0 {
		s.Reason = "no request was due that could tell"
		if m.Absent > 0 {
			s.Reason = o.absent(m.Absent)
		}
		return m, false
	}
	if m.Absent > 0 && m.N == m.Failures+m.StoppedOver {
		s.Reason = o.absent(m.Absent)
		return m, false
	}
	return m, true
}

// absent says that none of n requests has a value.
func (o *Objective) absent(n int) string {
	which := "successful requests"
	if o.Metric.Every {
		which = "requests"
	}
	return fmt.Sprintf("none of %s %s has a value of %s", measure.Count(n), which, o.Metric.Name)
}

// certify judges a percentile by early stopping on the sample's effective size.
func (s *SLO) certify(o *Objective, v *measure.View, look int) {
	m, ok := s.sample(o, v)
	if !ok {
		return
	}
	n, over := stat.Effective(m.N, m.Over, m.Deff)
	p, risk := 1-o.allowed(), riskOf(look)
	claim, _ := stat.EarlyStopping(n, over, p, risk)
	e := &s.Evidence
	e.Spread = &m.Spread
	lone := claim == stat.Fail && m.Spread < leastSpread(m.Parts) && !fails(m.N, m.Failures, m.Deff, p, risk)
	if lone {
		claim = stat.Inconclusive
	}
	e.NEffective, e.Theta, e.Deff, e.Risk = &n, m.Theta, measure.Some(m.Deff), measure.Some(risk)
	if look != once {
		e.Look = new(look + 1)
	}
	switch {
	case m.Over/float64(m.N) >= o.allowed(): // none would do
	case claim == stat.Pass:
		e.Needed = new(int)
	default:
		e.Needed = new(o.needed(&m, over, look))
	}
	s.Verdict = [...]Verdict{stat.Pass: Pass, stat.Inconclusive: Inconclusive, stat.Fail: Fail}[claim]
	s.Reason = s.explain(o, &m)
	if lone {
		s.Reason += fmt.Sprintf("; but those over lie in %d of %d parts of the load alone: too few episodes to say that it fails", m.Spread, m.Parts)
	}
	if s.Verdict == Pass && everyToken(o.Metric.Name) && float64(m.Absent) > o.allowed()*float64(m.N+m.Absent) {
		s.Verdict = Inconclusive
		s.Reason = fmt.Sprintf("%d of %d requests succeeded without a value of %s, more than %s may leave over: nothing says how they stand", m.Absent, m.N+m.Absent, o.Metric.Name, s.Stat)
	}
}

// leastSpread is in how many parts of a sample some must be over for a fail: a
// quarter. All that are over in one or two episodes are one or two observations,
// of which no extremal index can be estimated.
func leastSpread(parts int) int { return (parts + 3) / 4 }

// fails tells whether so many over of n fail the claim.
func fails(n, over int, deff, p, risk float64) bool {
	m, k := stat.Effective(n, float64(over), deff)
	claim, _ := stat.EarlyStopping(m, k, p, risk)
	return claim == stat.Fail
}

// needed is how many more requests than a sample's, all within the limit, a
// pass takes: at its own risk where it is looked at once, else at that of the
// first look that would do. over is how many are, clusters considered.
func (o *Objective) needed(m *measure.Sample, over, look int) int {
	p := 1 - o.allowed()
	if look == once {
		return max(int(math.Ceil(float64(stat.Sample(over, p, stat.Alpha))*m.Deff))-m.N, 1)
	}
	seen := m.N + m.LeftOut + m.Absent
	for j := look; ; j++ {
		size := stat.LookSize(p, j)
		if size > seen && math.Ceil(float64(stat.Sample(over, p, stat.LookRisk(j)))*m.Deff) <= float64(size) {
			return size - seen
		}
	}
}

// everyToken tells whether a success has a value of the metric unless it brought
// no token.
func everyToken(metric string) bool {
	return strings.HasPrefix(metric, "ttft") || strings.HasPrefix(metric, "e2e")
}

// explain says what the evidence of a claim amounts to.
func (s *SLO) explain(o *Objective, m *measure.Sample) string {
	e := &s.Evidence
	side := "over"
	if o.Op == Above || o.Op == AtLeast {
		side = "under"
	}
	text := fmt.Sprintf("%s of %s requests are %s", measure.Count(e.Over), measure.Count(e.N), side)
	if o.Metric.Form == measure.Pooled && m.Over > 0 {
		text = fmt.Sprintf("gaps worth %s of %s requests are %s", measure.Digits(m.Over), measure.Count(e.N), side)
	}
	if e.Failures > 0 {
		text += fmt.Sprintf(" (%s of them failed or were never sent)", measure.Count(e.Failures))
	}
	if *e.NEffective < e.N {
		text += fmt.Sprintf("; the %s come in clusters and are worth %s independent ones", measure.Count(e.N), measure.Count(*e.NEffective))
	}
	if s.Verdict != Inconclusive {
		return text
	}
	if e.Needed == nil {
		return text + fmt.Sprintf("; that is more than the %s that %s allows, but too little evidence to say that it fails", measure.Percent(100*o.allowed()), s.Stat)
	}
	return text + fmt.Sprintf("; a pass takes %s more, all within the limit", measure.Count(*e.Needed))
}

// observe judges a mean, deviation or maximum by what was seen. A failure has
// no value: it makes a mean or a maximum infinite.
func (s *SLO) observe(o *Objective, v *measure.View) {
	m, ok := s.sample(o, v)
	if !ok {
		return
	}
	if !o.Metric.Adjusted && o.Metric.Latency && m.Failures > 0 && o.Stat != SD {
		s.Verdict = Fail
		if o.Op == Above || o.Op == AtLeast {
			s.Verdict = Inconclusive
		}
		s.Reason = fmt.Sprintf("%s of %s requests failed or were never sent: with them the %s is infinite", measure.Count(m.Failures), measure.Count(m.N), o.Stat)
		return
	}
	x, ok := s.Value.Get()
	if !ok {
		s.Verdict, s.Reason = Inconclusive, fmt.Sprintf("%s requests are too few for it", measure.Count(m.N))
		return
	}
	s.Verdict = verdictOf(o.Holds(x))
	s.Reason = fmt.Sprintf("as seen in %s requests", measure.Count(m.N))
}

// observeRate judges a rate by what was seen.
func (s *SLO) observeRate(o *Objective, v *measure.View) {
	over, of := v.Errors()
	s.Evidence.N, s.Evidence.Over = of, over
	x, ok := s.Value.Get()
	if !ok {
		s.Reason = "nothing was measured that it could be made of"
		return
	}
	s.Verdict = verdictOf(o.Holds(x))
	if o.Metric.Name != "error_rate" {
		if s.Verdict == Fail {
			s.Reason = "it is " + measure.Figure(s.Value, s.Unit)
		}
		return
	}
	if cut := v.Cut(); cut > 0 && o.Holds(x) && !o.Holds(100*float64(over+cut)/float64(of+cut)) {
		s.Verdict = Inconclusive
		s.Reason = fmt.Sprintf("%d requests were cut by us before they ended, and whether they would have failed nobody knows: a longer drain or a lower load tells", cut)
		return
	}
	upper := 100 * stat.ShareAbove(of, over, 1-stat.Alpha)
	s.Evidence.Upper = measure.Some(upper)
	s.Reason = fmt.Sprintf("%s of %s requests failed or were never sent", measure.Count(over), measure.Count(of))
	if over < of {
		s.Reason += fmt.Sprintf("; the true share is below %s (99%% sure)", measure.Percent(upper))
	}
}

// warm says beside a verdict on a latency that holds the wait for the prompt
// that prompts meant to be cold were not.
func (s *SLO) warm(o *Objective, v *measure.View) {
	if !strings.HasPrefix(o.Metric.Name, "ttf") && !strings.HasPrefix(o.Metric.Name, "e2e") || s.Verdict == Unmeasured {
		return
	}
	if c := v.Cache(); c.ColdVoid() {
		s.Reason += "; not of cold prompts: " + c.Reason
	}
}

func verdictOf(holds bool) Verdict {
	if holds {
		return Pass
	}
	return Fail
}

// audit voids a verdict on a figure that the client shaped.
func (s *SLO) audit(o *Objective, v *measure.View) {
	if s.Verdict == Unmeasured {
		return
	}
	p := o.P
	if o.Stat == Max {
		p = 1
	}
	w := v.ValidityAt(o.Metric.Name, p)
	x, ok := s.Value.Get()
	bound := w.Bound.Or(0)
	switch {
	case w.Trust == measure.Invalid && s.failsAnyway(o):
		s.Reason += "; the failures alone say so"
	case w.Trust == measure.Invalid && s.holdsAnyway(o, v):
		s.Reason += s.despite(w.Reason)
	case w.Trust == measure.Invalid:
		s.Verdict, s.Reason = Invalid, w.Reason
	case w.Trust == measure.Degraded && ok && s.Verdict == Fail && s.Evidence.Failures == 0 && (o.Holds(x-bound) || o.Holds(x+bound)):
		s.Verdict, s.Reason = Invalid, fmt.Sprintf("it fails by less than the client may have added (%s): %s", measure.Figure(measure.Some(bound), s.Unit), w.Reason)
	case w.Trust == measure.Degraded:
		s.Reason += fmt.Sprintf("; the client may have moved it by %s: %s", measure.Figure(measure.Some(bound), s.Unit), w.Reason)
	}
}

// longStop is the standstill of the client, all of them together, from which
// on the load sent is no longer the load asked for, whatever the figures say.
const longStop = 500 * time.Millisecond

// holdsAnyway tells whether a verdict stands although the client shaped its
// figure: lateness is charged to the requests and so only adds to a latency,
// and what is within the limit all the same is within it without.
func (s *SLO) holdsAnyway(o *Objective, v *measure.View) bool {
	if !o.Metric.Intended || o.Op != Below && o.Op != AtMost || s.Verdict == Fail || s.Evidence.Over > 0 && s.Verdict != Pass {
		return false
	}
	var still int64
	for _, stop := range v.Stops() {
		still += stop.To - stop.From
	}
	return still < int64(longStop)
}

// failsAnyway tells whether the target's failures alone make an objective on a
// percentile fail: they are nothing of the client's.
func (s *SLO) failsAnyway(o *Objective) bool {
	if s.Verdict != Fail || s.Evidence.NEffective == nil || s.Evidence.Failures == 0 {
		return false
	}
	return fails(s.Evidence.N, s.Evidence.Failures, s.Evidence.Deff.Or(1), 1-o.allowed(), s.Evidence.Risk.Or(stat.Alpha))
}

// despite says what a void figure means for a verdict that stands.
func (s *SLO) despite(why string) string {
	if s.Verdict == Pass {
		return "; that holds with the client's lateness counted in, though the figure itself is void: " + why
	}
	return "; the figure itself is void: " + why
}
