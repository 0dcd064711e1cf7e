package fidelity

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Markdown is a result as a table of some of its loads, each figure with its
// distance to the trace's.
func (r *Result) Markdown(shares []float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d requests at %.2f/s, `%s`, SLO `ttft.p99<%gms`, %d samples: median (quartiles) and its distance to the trace.\n\n",
		r.Requests, r.Rate, r.Target, r.Limit, r.Samples)
	b.WriteString("| traffic | highest rate inside the SLO, /s |")
	for i, s := range r.Shares {
		if !slices.Contains(shares, s) {
			continue
		}
		fmt.Fprintf(&b, " TTFT p99 at %.0f %% (%.1f/s), ms | preemptions |", 100*s, r.Speeds[i]*r.Rate)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|---|", len(shares)) + "\n")
	truth := r.Traffics[0]
	for i, t := range r.Traffics {
		fmt.Fprintf(&b, "| %s | %s |", t.Name, t.Highest.beside(truth.Highest, i > 0))
		for j, f := range t.At {
			if !slices.Contains(shares, r.Shares[j]) {
				continue
			}
			fmt.Fprintf(&b, " %s | %s |", f.TTFT.beside(truth.At[j].TTFT, i > 0), f.Preemptions.beside(truth.At[j].Preemptions, i > 0))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Distance is how far a median is from another, as a share of it; NaN where
// that is 0.
func (s Spread) Distance(from Spread) float64 {
	if from.Median == 0 {
		return math.NaN()
	}
	return s.Median/from.Median - 1
}

func (s Spread) beside(truth Spread, compare bool) string {
	if !compare {
		return short(s.Median)
	}
	text := fmt.Sprintf("%s (%s–%s)", short(s.Median), short(s.Low), short(s.High))
	switch d := math.Round(100 * s.Distance(truth)); {
	case math.IsNaN(d):
	case d == 0:
		text += " **0 %**"
	default:
		text += fmt.Sprintf(" **%+.0f %%**", d)
	}
	return text
}

func short(x float64) string {
	switch {
	case math.IsInf(x, 0):
		return "∞"
	case x < 10 && x != math.Trunc(x):
		return fmt.Sprintf("%.2f", x)
	case x < 100 && x != math.Trunc(x):
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}
