package fit

import (
	"fmt"
	"math"

	"github.com/tokamak-bench/tokamak/stat"
)

const (
	// ksLimit is how far a family may be from the log at least, whatever the
	// number of lengths.
	ksLimit = 0.02
	// ksCritical · √n is the distance that a sample of n of the family itself
	// passes in one of a hundred cases.
	ksCritical = 1.63
	// quantileLimit is how far its p50, p90 and p95 may be.
	quantileLimit = 0.05
)

// chooseLength takes the best family by BIC where it fits, else the quantiles.
func chooseLength(t *tokens) (LengthFit, stat.Distribution) {
	out := LengthFit{Rows: int64(t.n)}
	if t.least() == t.most() {
		d := stat.Constant(max(t.most(), 1))
		out.Chosen, out.Why = "constant", "all are alike"
		out.Candidates = []LengthCandidate{{Family: "constant", Form: d.String(), Parameters: 1}}
		return out, d
	}
	list := families(t)
	best, table := -1, 0
	for i := range list {
		out.Candidates = append(out.Candidates, list[i].LengthCandidate)
		switch {
		case list[i].Family == familyQuantiles:
			table = i
		case best < 0:
			best = i
		}
	}
	f := &list[best]
	miss := f.misses(t)
	if miss == "" {
		out.Chosen, out.Why = f.Family, "the best family by BIC, and fits"
		return out, f.distribution
	}
	out.Chosen = familyQuantiles
	out.Why = fmt.Sprintf("the best family by BIC, %s, does not fit: %s", f.Family, miss)
	return out, list[table].distribution
}

// misses says what of the goodness of fit a family breaks, or "".
func (f *lengthFit) misses(t *tokens) string {
	if limit := max(ksLimit, ksCritical/math.Sqrt(t.n)); f.KS > limit {
		return fmt.Sprintf("KS %.3f is above %.3f", f.KS, limit)
	}
	for _, p := range []float64{.5, .9, .95} {
		q := t.quantile(p)
		if room := max(q*quantileLimit, 1); f.share(q+room) < p || f.share(q-room) >= p {
			return fmt.Sprintf("its p%.0f is not within %.0f %% of the log's", 100*p, 100*quantileLimit)
		}
	}
	return ""
}
