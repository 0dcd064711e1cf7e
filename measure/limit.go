package measure

import (
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
)

// Limit is what a good request meets: its value of a metric, or a percentile
// of its own gaps for a pooled one, is below (above) Value.
type Limit struct {
	Metric string
	P      float64 // percentile as a share in (0, 1]; used for pooled metrics
	Above  bool    // the value must be above
	Equal  bool    // and may be equal
	Value  float64 // in the metric's unit
}

// breaks tells whether x is not within the limit.
func (l *Limit) breaks(x float64) bool {
	switch {
	case x == l.Value:
		return !l.Equal
	case l.Above:
		return x < l.Value
	}
	return x > l.Value
}

// meets tells whether a successful request meets every limit. A limit on what
// the request does not have is met.
func (v *View) meets(r *row) bool {
	for i := range v.a.opt.Limits {
		l := &v.a.opt.Limits[i]
		x := v.own(l, r)
		if math.IsNaN(x) && r.firstToken == absent || !math.IsNaN(x) && l.breaks(x) {
			return false // a success that brought no token is good for nobody
		}
	}
	return true
}

// own is a request's own value of a limit's metric.
func (v *View) own(l *Limit, r *row) float64 {
	name := base(l.Metric)
	if d := defined(name); d != nil {
		return d.in(r)
	}
	gaps := v.gapValues(name, r)
	if len(gaps) == 0 {
		return math.NaN()
	}
	slices.Sort(gaps)
	return stat.Quantile(gaps, l.P)
}
