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
	// Theta is the extremal index of the exceedances of the sample's own p95 in
	// order of intended time; absent for a pooled metric.
	Theta Value
	// Deff is the design effect: by how much N is to be divided since requests
	// near in time hang together.
	Deff float64
	// Parts is in how many equal parts the N are divided in order of intended
	// time, at most 20, and Spread in how many of them some are over.
	Parts, Spread int
	// over are the places of those over, in that order.
	over []int
	// series is the badness of the N in that order, +Inf for what is over
	// without a value: larger is worse.
	series []float64
}

// Sample gathers the claim that requests keep within a limit.
//
// For a metric with one value a request, a request is over if its value is.
// For a pooled metric the claim is about the share of all gaps, but gaps of one
// request hang together, so that they are no sample of their own: each request counts
// as over by as many mean requests as it has gaps over, and a failure by one.
// A sum of such shares spreads no wider than a count of whole requests with the
// same mean (Hoeffding 1963), so that the exact tails for counts stay safe. How
// they depend on each other is seen in the shares over the sample's own percentile.
func (v *View) Sample(l Limit) Sample {
	name := base(l.Metric)
	if d := defined(name); d != nil {
		return v.single(d, &l)
	}
	return v.shares(name, &l)
}

func (v *View) single(d *definition, l *Limit) Sample {
	var s Sample
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
				s.over = append(s.over, s.N-1)
			}
			s.series = append(s.series, l.badness(x))
		}
	}
	theta := stat.ExtremalIndex(s.series, 0.95)
	s.Theta, s.Deff = Some(theta), stat.DesignEffect(theta)
	s.scatter()
	return s
}

// scatter counts the parts of the sample in which some are over.
func (s *Sample) scatter() {
	s.Parts = min(s.N, 20)
	last := -1
	for _, i := range s.over {
		if part := i * s.Parts / s.N; part > last {
			last = part
			s.Spread++
		}
	}
}

func (s *Sample) fail() {
	s.over = append(s.over, s.N)
	s.N++
	s.Over++
	s.Failures++
	s.series = append(s.series, math.Inf(1))
}

func (s *Sample) stop(past bool) {
	if !past {
		s.LeftOut++
		return
	}
	s.over = append(s.over, s.N)
	s.N++
	s.Over++
	s.StoppedOver++
	s.series = append(s.series, math.Inf(1))
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
	var s Sample
	own := Limit{Above: l.Above, Value: v.Percentile(name+Adj, l.P).Or(math.NaN())}
	var c clusters
	for _, r := range v.rows {
		switch v.fate(r) {
		case over:
			s.fail()
			c.add(whole, whole, whole)
		case stopped:
			past := !l.Above && r.stalledPast(l)
			s.stop(past)
			if past {
				c.add(whole, whole, whole)
			}
		case good:
			gaps := v.gapValues(name, r)
			if len(gaps) == 0 {
				s.Absent++
				continue
			}
			over := breaking(gaps, l)
			if over > 0 {
				s.over = append(s.over, s.N)
			}
			s.N++
			c.add(over, breaking(gaps, &own), float64(len(gaps)))
		}
	}
	s.Over, s.Deff = c.sum()
	s.scatter()
	return s
}

// clusters are the gaps of requests in order of time: how many are over the
// limit, how many at or beyond the sample's own percentile, and how many there are.
type clusters struct{ over, own, size []float64 }

// whole stands for all gaps of a request that has none, a failure: as many as
// a request has on average.
const whole = -1

func (c *clusters) add(over, own, size float64) {
	c.over, c.own, c.size = append(c.over, over), append(c.own, own), append(c.size, size)
}

// sum returns how many mean requests are over, and the design effect.
func (c *clusters) sum() (over, deff float64) {
	mean := c.mean()
	for i := range c.size {
		if c.size[i] == whole {
			c.over[i], c.own[i], c.size[i] = mean, mean, mean
		}
		over += c.over[i] / mean
	}
	return over, stat.RatioEffect(c.own, c.size)
}

// mean is the mean number of gaps of the requests that have any; 1 where none has.
func (c *clusters) mean() float64 {
	n, sum := 0.0, 0.0
	for _, x := range c.size {
		if x != whole {
			n++
			sum += x
		}
	}
	if n == 0 {
		return 1
	}
	return sum / n
}

// breaking is how many of a request's gaps break a limit.
func breaking(gaps []float64, l *Limit) float64 {
	n := 0
	for _, x := range gaps {
		if l.breaks(x) {
			n++
		}
	}
	return float64(n)
}

// stalledPast tells whether a request was stopped in a silence longer than the
// limit on its gaps.
func (r *row) stalledPast(l *Limit) bool {
	x := span(r.lastToken, r.ended) / 1e6
	return !math.IsNaN(x) && l.breaks(x)
}
