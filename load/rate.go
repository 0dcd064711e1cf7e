package load

import "math"

// ramp is a rate that begins at from requests/s and changes by slope
// requests/s².
//
// Its integral, the expected number of arrivals in the first t seconds, is
// from·t + slope·t²/2. Arrival k of a unit-rate process at T_k is mapped to
// the moment at which the integral reaches T_k: constant, Poisson and gamma
// arrivals under a changing rate by one closed form.
type ramp struct{ from, slope float64 }

// integral returns the expected number of arrivals in the first t seconds.
// Products are rounded explicitly, so that no architecture fuses them.
func (r *ramp) integral(t float64) float64 {
	return float64(r.from*t) + float64(float64(r.slope*t)*float64(t/2))
}

// inverse returns the t at which the integral reaches x ≥ 0: +Inf where it
// never does. The form with the root in the denominator is stable for small
// slopes.
func (r *ramp) inverse(x float64) float64 {
	if x <= 0 {
		return 0
	}
	root := float64(r.from*r.from) + float64(float64(2*r.slope)*x)
	if r.slope == 0 {
		return x / r.from
	}
	if root < 0 {
		return math.Inf(1)
	}
	return float64(2*x) / (r.from + math.Sqrt(root))
}
