package chart

import "math"

// scale maps the values of an axis to 0..1.
type scale struct {
	lo, hi float64
	log    bool
}

// at returns where a value stands; NaN where the axis cannot show it.
func (s scale) at(v float64) float64 {
	if math.IsInf(v, 0) {
		return math.NaN()
	}
	if s.log {
		if !(v > 0) {
			return math.NaN()
		}
		return (math.Log(v) - math.Log(s.lo)) / (math.Log(s.hi) - math.Log(s.lo))
	}
	return (v - s.lo) / (s.hi - s.lo)
}

// value is the inverse of at.
func (s scale) value(p float64) float64 {
	if s.log {
		return math.Exp(math.Log(s.lo) + p*(math.Log(s.hi)-math.Log(s.lo)))
	}
	return s.lo + p*(s.hi-s.lo)
}

// extent is the range of the values seen that an axis can show.
type extent struct {
	lo, hi float64
	log    bool
	any    bool
}

func (e *extent) see(values ...float64) {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || e.log && v <= 0 {
			continue
		}
		if !e.any {
			e.lo, e.hi, e.any = v, v, true
		}
		e.lo, e.hi = min(e.lo, v), max(e.hi, v)
	}
}

// scale returns that of an axis over the values seen. room is the share of
// the axis to leave above the highest.
func (e *extent) scale(a Axis, room float64) scale {
	lo, hi := e.lo, e.hi
	if !a.Log && room > 0 {
		lo = min(lo, 0)
		hi += room * (hi - lo)
	}
	if a.To > a.From && !(a.Log && a.From <= 0) {
		lo, hi = a.From, a.To
	}
	const far = 1e300 // what is further cannot be told apart from it
	lo, hi = min(max(lo, -far), far), min(max(hi, -far), far)
	if a.Log {
		lo, hi = max(lo, 1/far), max(hi, 1/far)
	}
	switch {
	case a.Log && hi > lo*(1+1e-9), !a.Log && hi-lo > 1e-12*max(math.Abs(lo), math.Abs(hi)):
	case a.Log:
		lo, hi = lo/2, hi*2
	default:
		hi = lo + max(1, math.Abs(lo))
	}
	return scale{lo, hi, a.Log}
}

// scales returns those of both axes; false where there is nothing to draw.
func (p *Plot) scales() (x, y scale, ok bool) {
	ex, ey := extent{log: p.X.Log}, extent{log: p.Y.Log}
	for _, s := range p.Series {
		for i, v := range s.Y {
			switch {
			case math.IsNaN(v) || math.IsInf(v, 0) || p.Y.Log && v <= 0:
			case s.Shape == Steps || s.Shape == Filled:
				ex.see(s.X[i : i+2]...)
				ey.see(v)
			default:
				ex.see(s.X[i])
				ey.see(v)
			}
		}
	}
	if p.Grid != nil {
		ex.see(p.Grid.X...)
		ey.see(p.Grid.Y...)
	}
	for _, m := range p.Marks {
		if ex.any {
			ex.see(m.X)
			ey.see(m.Y) // which may be NaN
		}
	}
	if p.Empty != "" || !ex.any || !ey.any {
		return scale{}, scale{}, false
	}
	room := 0.05
	if p.Grid != nil {
		room = 0
	}
	return ex.scale(p.X, 0), ey.scale(p.Y, room), true
}

// nothing is the sentence in the place of a picture.
func nothing(empty string) string {
	if empty != "" {
		return empty
	}
	return "nothing to draw"
}
