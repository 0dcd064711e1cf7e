package fidelity

import (
	"fmt"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/chart"
)

// Picture draws TTFT p99 over the rate as SVG, a line for each traffic.
func (r *Result) Picture() []byte {
	p := chart.Plot{Title: "TTFT p99 by the traffic that is sent",
		Note: fmt.Sprintf("%s on the simulated engine in virtual time; medians of %d samples of all but the trace. The limit is %g ms.",
			"The same mean rate", r.Samples, r.Limit),
		X: chart.Axis{Label: "rate (requests/s)"}, Y: chart.Axis{Label: "TTFT p99 (s)", Unit: chart.Seconds, Log: true}}
	roles := []chart.Role{chart.Data, chart.Model, chart.Variant, chart.Reference, chart.Other}
	for i, t := range slices.Concat(r.Traffics[:1], r.Traffics[2:]) { // shuffled, the trace lies on itself
		s := chart.Series{Name: t.Name, Role: roles[i]}
		for j, f := range t.At {
			y := f.TTFT.Median / 1e3
			if math.IsInf(y, 0) {
				y = math.NaN()
			}
			s.X, s.Y = append(s.X, r.Speeds[j]*r.Rate), append(s.Y, y)
		}
		p.Series = append(p.Series, s)
	}
	return p.SVG(chart.SVGOptions{Width: 720, Height: 380})
}
