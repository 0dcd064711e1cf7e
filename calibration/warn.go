package calibration

import "fmt"

// Warning says that a plan asks for more than WarnShare of what the machine
// carried, and what to do; empty where it does not. Of a nil result, where the
// machine was never calibrated, it suggests that for plans that are big.
func (r *Result) Warning(p Plan) string {
	asked := fmt.Sprintf("the plan comes to about %s events/s", grouped(p.EventsPerS))
	if p.Assumed != "" {
		asked += " (" + p.Assumed + ")"
	}
	if r == nil || r.Carried.EventsPerS <= 0 {
		if p.EventsPerS < bigPlan {
			return ""
		}
		return asked + ", and nothing is known of what this machine carries: tokamak calibrate finds out in a few seconds"
	}
	most := r.Carried.EventsPerS
	switch {
	case p.EventsPerS <= WarnShare*most:
		return ""
	case p.EventsPerS > most:
		return fmt.Sprintf("%s, more than the %s that this machine's client was found to carry: the client will be the limit. Use more cores or another machine for it, or lower the load",
			asked, grouped(most))
	}
	return fmt.Sprintf("%s, %.0f%% of the %s that this machine's client was found to carry (it should stay below %.0f%%): watch the client's verdict, or give it more cores",
		asked, 100*p.EventsPerS/most, grouped(most), 100*WarnShare)
}

// grouped writes a whole number with commas.
func grouped(f float64) string {
	s := fmt.Sprintf("%.0f", f)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
