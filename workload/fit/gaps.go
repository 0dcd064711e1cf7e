package fit

import "math"

// gaps is a histogram of gaps in operational time, over bins of their
// logarithm a hundredth wide: enough for likelihoods, whatever the number.
type gaps struct {
	n             float64
	sum, squares  float64
	logs          float64
	least         float64 // what a gap of zero counts as
	first         int     // bin
	count, x, lnX []float64
}

const gapBins = 100 // to a factor e

// newGaps counts the gaps between ascending operational times, scaled to a
// mean of 1, and calls each with every one of them in order. A gap below least
// counts as least: the stamps cannot tell.
func newGaps(at []float64, least float64, each func(x float64)) *gaps {
	g := &gaps{least: least}
	n := float64(len(at) - 1)
	mean := (at[len(at)-1] - at[0]) / n
	if !(mean > 0) {
		return g
	}
	g.first = int(math.Floor(math.Log(least) * gapBins))
	for i := 1; i < len(at); i++ {
		x := max((at[i]-at[i-1])/mean, least)
		ln := math.Log(x)
		b := int(math.Floor(ln*gapBins)) - g.first
		for b >= len(g.count) {
			g.count, g.x, g.lnX = append(g.count, 0), append(g.x, 0), append(g.lnX, 0)
		}
		b = max(b, 0)
		g.count[b]++
		g.x[b] += x
		g.lnX[b] += ln
		g.n++
		g.sum += x
		g.squares += x * x
		g.logs += ln
		if each != nil {
			each(x)
		}
	}
	return g
}

// cv is the coefficient of variation of the gaps.
func (g *gaps) cv() float64 {
	mean := g.sum / g.n
	return math.Sqrt(max(g.squares/g.n-mean*mean, 0)) / mean
}
