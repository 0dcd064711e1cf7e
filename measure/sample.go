package measure

import (
	"math"

	"github.com/tokamak-bench/tokamak/stat"
)

// Sample is what a claim about a limit rests on. Its unit is the request.
type Sample struct {
	N    int     // requests that count
	Over float64 // how many of them are over; of a pooled metric, shares of requests
	// Failures of the N failed or were never sent: they are over.
	Failures int
	// StoppedOver of the N were cut by us, or cancelled, when already past the
	// limit: they are over.
	StoppedOver int
	// LeftOut were cut or cancelled before the limit and are not in N.
	LeftOut int
	// Absent succeeded without a value of the metric and are not in N.
	Absent int
	// Series is the badness of the N in order of intended time, +Inf for what is
	// over without a value: larger is worse.
	Series []float64
	// Spread is by how much unequal requests shrink the sample: 1 where each
	// weighs the same, else 1 + CV² of their numbers of gaps.
	Spread float64
}

// Sample gathers the claim that requests keep within a limit.
//
// For a metric with one value a request, a request is over if its value is.
// For a pooled metric the claim is about the share of all gaps, but gaps of one
// request hang together, so that they are no sample of their own: each request counts
// as over by as many mean requests as it has gaps over, and a failure by one.
// A sum of such shares spreads no wider than a count of whole requests with the
// same mean (Hoeffding 1963), so that the exact tails for counts stay safe.
func (v *View) Sample(l Limit) Sample {
	name := base(l.Metric)
	if d := defined(name); d != nil {
		return v.whole(d, &l)
	}
	return v.shares(name, &l)
}

func (v *View) whole(d *definition, l *Limit) Sample {
	s := Sample{Spread: 1}
	for _, r := range v.rows {
		f := v.fate(r)
		if d.basis&anyOutcome != 0 {
			f = good
		}
		x := d.in(r)
		switch {
		case f == over:
			s.fail()
		case f == stopped:
			s.stop(d.isPast(l, r))
		case math.IsNaN(x):
			s.Absent++
		default:
			s.N++
			if l.breaks(x) {
				s.Over++
			}
			s.Series = append(s.Series, l.badness(x))
		}
	}
	return s
}

func (s *Sample) fail() {
	s.N++
	s.Over++
	s.Failures++
	s.Series = append(s.Series, math.Inf(1))
}

func (s *Sample) stop(past bool) {
	if !past {
		s.LeftOut++
		return
	}
	s.N++
	s.Over++
	s.StoppedOver++
	s.Series = append(s.Series, math.Inf(1))
}

func (l *Limit) badness(x float64) float64 {
	if l.Above {
		return -x
	}
	return x
}

// isPast tells whether a request that was stopped had a limit from above
// already behind it: whatever it would have become, it is over.
func (d *definition) isPast(l *Limit, r *row) bool {
	if l.Above || d.floor == nil {
		return false
	}
	x := d.floor(r) / d.scale()
	return !math.IsNaN(x) && l.breaks(x)
}

func (v *View) shares(name string, l *Limit) Sample {
	s := Sample{Spread: 1}
	var gapsOver, counts []float64
	for _, r := range v.rows {
		switch v.fate(r) {
		case over:
			s.fail()
			continue
		case stopped:
			s.stop(!l.Above && r.stalledPast(l))
			continue
		}
		n, k, worst := 0, 0, math.Inf(-1)
		for _, x := range v.gapValues(name, r) {
			n++
			if l.breaks(x) {
				k++
			}
			worst = max(worst, l.badness(x))
		}
		if n == 0 {
			s.Absent++
			continue
		}
		s.N++
		s.Series = append(s.Series, worst)
		gapsOver, counts = append(gapsOver, float64(k)), append(counts, float64(n))
	}
	if mean, sd := stat.MeanSD(counts); len(counts) > 0 {
		for _, k := range gapsOver {
			s.Over += k / mean
		}
		if len(counts) > 1 {
			s.Spread = 1 + sd*sd/(mean*mean)
		}
	}
	return s
}

// stalledPast tells whether a request was stopped in a silence longer than the
// limit on its gaps.
func (r *row) stalledPast(l *Limit) bool {
	x := span(r.lastToken, r.ended) / 1e6
	return !math.IsNaN(x) && l.breaks(x)
}
