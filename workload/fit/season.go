package fit

import (
	"github.com/tokamak-bench/tokamak/stat"
)

// periods are the periods that are looked for, in s: an hour, half a day, a
// day, a week.
var periods = [...]float64{3600, 12 * 3600, 24 * 3600, 7 * 24 * 3600}

const (
	// seasonBins is how finely a period's profile is told.
	seasonBins = 24
	// leastPeriods is how many of it a log has to hold.
	leastPeriods = 2.0
	// seasonLimit is how much of the variance it has to explain.
	seasonLimit = 0.3
)

// season finds the shortest period that explains nearly as much of the
// variance of the rate as any. A profile of 24 free values explains some of
// any series: what it explains of one without a season is taken off.
func season(at []float64, span float64) *Season {
	var best *Season
	for _, period := range periods {
		if span < leastPeriods*period {
			break
		}
		s := seasonOf(at, span, period)
		if s.Strength > seasonLimit && (best == nil || s.Strength > best.Strength+0.1) {
			best = s
		}
	}
	return best
}

func seasonOf(at []float64, span, period float64) *Season {
	width := period / seasonBins
	whole := int(span/period) * seasonBins
	counts := make([]float64, whole)
	for _, t := range at {
		if i := int(t / width); i < whole {
			counts[i]++
		}
	}
	mean, sd := stat.MeanSD(counts)
	s := &Season{Period: period, Profile: make([]float64, seasonBins)}
	if !(sd > 0) {
		return s
	}
	n := float64(whole) / seasonBins
	for i, c := range counts {
		s.Profile[i%seasonBins] += c / n
	}
	within := 0.0
	for i, c := range counts {
		d := c - s.Profile[i%seasonBins]
		within += d * d
	}
	for i := range s.Profile {
		s.Profile[i] = round(s.Profile[i] / mean)
	}
	// Both variances by their degrees of freedom.
	s.Strength = 1 - within/float64(whole-seasonBins)/(sd*sd)
	return s
}
