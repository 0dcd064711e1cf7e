package fit

import (
	"math"

	"github.com/tokamak-bench/tokamak/stat"
)

const (
	// mostKnots is how many points a table of quantiles has at most.
	mostKnots = 64
	// knotError is how far a table's share may be from the log's, in standard
	// errors of a share of so many lengths: nearer the log itself does not know.
	knotError = 1
	// leastStep is the least difference of two shares in a table, which is
	// written with six digits.
	leastStep = 1e-6
)

// tableOf is the table of empirical quantiles, linear in between. A point is put
// where the table is furthest from the log, in standard errors, until it is
// nowhere further than knotError: few where lengths are spread evenly, and one on
// each side of a gap and of a length that many have.
func tableOf(t *tokens) lengthFit {
	p := polygonOf(t)
	kept := make([]bool, len(p))
	kept[0], kept[len(p)-1] = true, true
	spans := []segment{p.worst(0, len(p)-1, t.n)}
	for len(spans)+1 < mostKnots {
		k := 0
		for i, s := range spans {
			if s.miss > spans[k].miss {
				k = i
			}
		}
		s := spans[k]
		if s.miss <= knotError {
			break
		}
		kept[s.at] = true
		spans[k] = p.worst(s.from, s.at, t.n)
		spans = append(spans, p.worst(s.at, s.to, t.n))
	}
	var q stat.Quantiles
	for i, c := range p {
		if !kept[i] {
			continue
		}
		share := math.Round(c.share/leastStep) * leastStep
		if n := len(q.Share); n > 0 && share < q.Share[n-1]+leastStep/2 {
			share = q.Share[n-1] + leastStep // a gap: from one length to the next at once
		}
		q.Share, q.Value = append(q.Share, round(share)), append(q.Value, c.value)
	}
	closeTable(&q)
	return lengthFit{LengthCandidate{Family: familyQuantiles, Parameters: len(q.Share)}, q, func(x float64) float64 { return shareBelow(q, x) }}
}

// closeTable lets shares end at 1: those that rounding took there go below.
func closeTable(q *stat.Quantiles) {
	top := 1.0
	for i := len(q.Share) - 1; i >= 0 && q.Share[i] > top; i-- {
		q.Share[i] = round(top)
		top -= leastStep
	}
	q.Share[0], q.Share[len(q.Share)-1] = 0, 1
}

// corner is a point of a distribution function.
type corner struct{ value, share float64 }

// polygon is the distribution function of whole lengths with each spread over
// half a token to both sides, which is what is rounded to it.
type polygon []corner

func polygonOf(t *tokens) polygon {
	p := polygon{{max(t.least(), 1), 0}}
	before := 0.0
	for i, x := range t.value {
		if low := max(x, 1) - .5; low > p[len(p)-1].value {
			p = append(p, corner{low, before})
		}
		before = t.upTo[i]
		if high := max(x, 1) + .5; high < t.most() {
			p = append(p, corner{high, before})
		}
	}
	return append(p, corner{max(t.most(), 1), 1})
}

// segment is a straight line between two corners, and the corner that it misses
// by most.
type segment struct {
	from, to, at int
	miss         float64 // standard errors
}

func (p polygon) worst(from, to int, n float64) segment {
	s := segment{from: from, to: to, at: from}
	a, b := p[from], p[to]
	for i := from + 1; i < to; i++ {
		line := a.share + (b.share-a.share)*(p[i].value-a.value)/max(b.value-a.value, 1e-9)
		f := p[i].share
		if miss := math.Abs(line-f) * math.Sqrt(n/max(f*(1-f), 1/n)); miss > s.miss {
			s.at, s.miss = i, miss
		}
	}
	return s
}
