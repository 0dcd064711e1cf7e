package measure

import (
	"math"
	"slices"
)

// Len returns how many requests the view has.
func (v *View) Len() int { return len(v.rows) }

// ByRequest returns the values of a metric that is no rate, over successes,
// and for each the request that it belongs to: its place among the view's
// requests in order of their intended time. Of a pooled metric with more than
// most values it is every so manieth of each request's. Of an _adj form and
// of what does not exist there are none.
func (v *View) ByRequest(name string, most int) (values []float64, of []int32) {
	d := defined(name)
	if d == nil && !slices.Contains(pooled[:], name) {
		return nil, nil
	}
	every := 1
	if d == nil {
		total := 0
		for _, r := range v.rows {
			total += int(r.gaps.count)
		}
		every = total/max(most, 1) + 1
	}
	for i, r := range v.rows {
		f := v.fate(r)
		switch {
		case d == nil && f == good:
			for k, x := range v.gapValues(name, r) {
				if k%every == 0 {
					values, of = append(values, x), append(of, int32(i))
				}
			}
		case d != nil && (f == good || d.basis&anyOutcome != 0):
			if x := d.in(r); !math.IsNaN(x) {
				values, of = append(values, x), append(of, int32(i))
			}
		}
	}
	return values, of
}

// Failures returns for each request that counts towards the error rate whether it failed
// (100, so that their mean is the rate in %, or 0), and which request it is,
// as in [View.ByRequest].
func (v *View) Failures() (values []float64, of []int32) {
	for i, r := range v.rows {
		switch v.fate(r) {
		case over:
			values, of = append(values, 100), append(of, int32(i))
		case good:
			values, of = append(values, 0), append(of, int32(i))
		case stopped:
		}
	}
	return values, of
}
