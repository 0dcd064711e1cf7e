package portrait

import (
	"math"

	"github.com/tokamak-bench/tokamak/chart"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/workload/fit"
)

// cacheSizes are the sizes of the prefix-hit curve: ten a decade, from 1,000 to
// 1,000,000,000 tokens.
func cacheSizes() []int64 {
	var out []int64
	for k := range 61 {
		out = append(out, int64(math.Round(math.Pow(10, 3+float64(k)/10))))
	}
	return out
}

// curve returns the prefix-hit curve of a log, empty where it names no blocks.
func (l *log) curve() (points []fit.CachePoint, complete bool) {
	if l.reuse == nil {
		return nil, true
	}
	points, complete = l.reuse.Curve()
	if l.fronts && l.alone > 0 { // prompts with nothing to find
		for i := range points {
			points[i].Hit *= float64(l.prompts) / float64(l.prompts+l.alone)
		}
	}
	return points, complete
}

// aloneRequests is how many requests were found to have nothing in common with
// others without being followed.
func (l *log) aloneRequests() int64 {
	if !l.fronts {
		return 0
	}
	return l.alones
}

// shared is the share of prompt tokens that were sent before.
func shared(points []fit.CachePoint) measure.Value {
	if len(points) == 0 {
		return measure.Value{}
	}
	return measure.Some(points[len(points)-1].Hit)
}

// reuseFigure draws what caches would find, by size.
func (f *Facts) reuseFigure(points []fit.CachePoint, complete bool) *chart.Plot {
	p := &chart.Plot{Title: "What a prefix cache would find",
		Note: "Share of the prompt tokens that a cache of so many tokens finds, if it forgets what was used longest ago.",
		X:    chart.Axis{Label: "cache size (tokens)", Log: true}, Y: chart.Axis{Label: "prompt tokens found", Unit: chart.Share}}
	if len(points) == 0 {
		p.Empty = f.noBlocks()
		return p
	}
	all := points[len(points)-1].Hit
	if all == 0 {
		p.Empty = "no prompt begins as an earlier one does: there is nothing to find"
		return p
	}
	s := chart.Series{Name: "cache of that size"}
	for i, c := range points[:len(points)-1] {
		if c.Hit == 0 && points[i+1].Hit == 0 {
			continue // flat in front
		}
		s.X, s.Y = append(s.X, float64(c.Tokens)), append(s.Y, c.Hit)
		if c.Hit >= all*0.9999 {
			break
		}
	}
	p.Series = []chart.Series{s, {Name: "unlimited: " + measure.Percent(100*all), Role: chart.Reference,
		X: []float64{s.X[0], s.X[len(s.X)-1]}, Y: []float64{all, all}}}
	if !complete {
		p.Note += " The oldest of more than four million blocks were forgotten: large caches would find more."
	}
	return p
}
