package verify

import (
	"fmt"
	"math"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/compare"
	"github.com/tokamak-bench/tokamak/stat"
)

// Changed is a gate held against one contrast of a comparison.
type Changed struct {
	Expr  string `json:"expr"`
	Party string `json:"party"` // what was held against the baseline
	// Change with its 90 % interval, whose ends are one-sided bounds of 95 %: in
	// % of the baseline, or in Unit.
	Change   measure.Value `json:"change"`
	Low      measure.Value `json:"low"`
	High     measure.Value `json:"high"`
	Relative bool          `json:"relative"`
	Unit     string        `json:"unit"`
	Limit    float64       `json:"limit"` // as Change
	Verdict  Verdict       `json:"verdict"`
	Reason   string        `json:"reason"` // one sentence for the reader
}

// changeRisk is the risk of a wrong pass, and of any wrong fail among all
// gates (Holm).
const changeRisk = 0.05

// JudgeChanges holds gates against every contrast. A gate fails where the
// change is shown to be beyond its limit, passes where it is shown not to be,
// and is inconclusive between.
func JudgeChanges(gates []Change, c *compare.Comparison) []Changed {
	var out []Changed
	var more []float64 // p-values of "the change keeps the limit"
	for i := range c.Contrasts {
		for j := range gates {
			g, p := judgeChange(&gates[j], &c.Contrasts[i])
			out, more = append(out, g), append(more, p)
		}
	}
	for i, p := range stat.Holm(more) {
		if p <= changeRisk { // NaN is not
			out[i].Verdict, out[i].Reason = Fail, "shown to be beyond the limit"
		}
	}
	return out
}

// judgeChange returns a gate's verdict as far as it is known by itself, and the p-value
// of its being kept; NaN where nothing can be said.
func judgeChange(g *Change, t *compare.Contrast) (Changed, float64) {
	r := Changed{Expr: g.Expr, Party: t.Party.Name, Relative: g.Relative, Limit: g.By, Verdict: Unmeasured}
	d := t.Find(g.Figure)
	if d == nil || !d.Baseline.Valid() && !d.Other.Valid() {
		r.Reason = "not measured"
		return r, math.NaN()
	}
	r.Unit = d.Unit
	if d.Invalid {
		r.Verdict, r.Reason = Invalid, d.Reason
		return r, math.NaN()
	}
	above, below, ok := d.Test(g.By, g.Relative)
	if !ok {
		r.Verdict, r.Reason = Inconclusive, d.Reason
		if r.Reason == "" {
			r.Reason = "the baseline has values of 0 or less: a change in % is not known"
		}
		return r, math.NaN()
	}
	if !g.More {
		above, below = below, above
	}
	change, low, high, _ := d.Interval(1-2*changeRisk, g.Relative)
	r.Change, r.Low, r.High = measure.Some(change), measure.Some(low), measure.Some(high)
	if below <= changeRisk {
		r.Verdict, r.Reason = Pass, "shown to keep the limit"
		return r, above
	}
	if low == high && (g.More && high <= g.By || !g.More && low >= g.By) {
		// No p-value is as small at the limit itself, but nothing is left to doubt.
		r.Verdict, r.Reason = Pass, "known exactly, and not beyond the limit"
		return r, above
	}
	r.Verdict, r.Reason = Inconclusive, "the interval does not say on which side of the limit it is"
	if n := d.PairsFor(g.By, g.Relative, changeRisk); n > 0 {
		r.Reason += fmt.Sprintf("; if the change is what was seen, about %s pairs tell", measure.Count(n))
	} else if d.Reason != "" {
		r.Reason += "; " + d.Reason
	}
	return r, above
}

// ChangesVerdict is the verdict of all gates: invalid before fail before inconclusive.
func ChangesVerdict(gates []Changed) Verdict {
	slos := make([]SLO, len(gates))
	for i := range gates {
		slos[i].Verdict = gates[i].Verdict
	}
	return Overall(slos)
}

// ChangesCode is the exit code of all gates; interrupted says that there would
// have been more to see.
func ChangesCode(gates []Changed, interrupted bool) exit.Code {
	code := ChangesVerdict(gates).Code(false)
	if interrupted {
		return exit.Worst(exit.Interrupted, code)
	}
	return code
}
