package measure

import (
	"fmt"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
)

// SaturationVerdict says whether a load was more than its target carries.
type SaturationVerdict string

// The verdicts.
const (
	Stable        SaturationVerdict = "stable"
	OverSaturated SaturationVerdict = "over-saturated"
	CannotTell    SaturationVerdict = "cannot tell"
)

// Saturation says whether requests piled up as long as the load went on.
type Saturation struct {
	Verdict SaturationVerdict `json:"verdict"`
	Since   Value             `json:"since_ms"` // of the load's time; over-saturated only
	// InSystem and TTFT are Theil–Sen slopes: requests due and not ended, and
	// the median ttft in ms, more each second.
	InSystem Value `json:"in_system_per_s"`
	TTFT     Value `json:"ttft_ms_per_s"`
	// Overload is by how much more requests were due than ended, in % of those
	// due, and P the one-sided p-value of "no more were due than can end".
	// Detectable is the smallest overload that would have been found, with 80 % power.
	Overload   Value  `json:"overload"`
	P          Value  `json:"overload_p"`
	PTTFT      Value  `json:"ttft_p"` // of "ttft does not climb"
	Detectable Value  `json:"overload_detectable"`
	Reason     string `json:"reason"`
}

const (
	overloadRisk  = 0.01 // of calling an overload what is none
	slowerRisk    = 0.05 // of taking ttft to climb that does not; the overload must be there besides
	overloadPower = 0.8
	leastOverload = 1  // %: less does not matter
	mostUnseen    = 10 // % that must have been found for a run to be stable
)

// saturation judges the series of a run whose load is not bounded by its own
// users.
//
// The number in the system is a sum of what each window adds. At a load that is
// just carried it strays like a random walk, and its slope means nothing: a
// trend test on it sees trends everywhere, or, corrected for how it hangs
// together, nowhere. So what is tested is the mean of what the windows add:
// above zero by more than chance only if more is due than can end. Below
// saturation additions take each other back, and the test errs on the safe side.
func (w *windows) saturation(start int64) Saturation {
	perSecond := 1e9 / float64(w.length)
	ttft, _ := filled(w.ttft)
	mean, _ := stat.MeanSD(w.excess)
	each := float64(w.arrivals) / float64(len(w.excess))
	s := Saturation{
		InSystem: Some(stat.TheilSen(w.inSystem) * perSecond), TTFT: Some(stat.TheilSen(ttft) * perSecond),
		Overload: Some(100 * mean / each), PTTFT: Some(min(stat.MannKendall(ttft), drift(ttft))),
	}
	since := stat.Hinge(w.inSystem)
	se, df, ok := meanError(levelled(w.excess, since))
	if !ok {
		s.Verdict, s.Reason = CannotTell, "windows of the load hang together: the run is too short"
		return s
	}
	s.P = Some(stat.MeanAbove(mean, se, df))
	unseen := 100 * stat.DetectableMean(se, df, overloadRisk, overloadPower) / each
	s.Detectable = Some(unseen)
	piles := s.P.Or(1) < overloadRisk && s.Overload.Or(0) >= leastOverload
	switch {
	case piles && s.PTTFT.Or(1) < slowerRisk:
		s.Verdict, s.Since = OverSaturated, Some(float64(w.at(since)-start)/1e6)
		s.Reason = fmt.Sprintf("from %s on more requests were due than ended, by %s of all, and ttft climbed: the figures depend on how long that went on",
			milliseconds(s.Since.Or(0)), Percent(s.Overload.Or(0)))
	case piles:
		s.Verdict, s.Reason = CannotTell, "more requests were due than ended, but ttft did not surely climb"
	case unseen > mostUnseen:
		s.Verdict, s.Reason = CannotTell, fmt.Sprintf("only an overload of %s would have been seen: a longer run tells", Percent(unseen))
	default:
		s.Verdict, s.Reason = Stable, fmt.Sprintf("requests did not pile up; an overload of %s would have been seen", Percent(unseen))
	}
	return s
}

// levelled removes the levels before and from a moment on: a load that begins
// to be too much half-way has two, and their difference is no noise.
func levelled(steps []float64, from int) []float64 {
	before, _ := stat.MeanSD(steps[:from])
	after, _ := stat.MeanSD(steps[from:])
	out := make([]float64, len(steps))
	for i, x := range steps {
		out[i] = x - after
		if i < from {
			out[i] = x - before
		}
	}
	return out
}

// meanError is the error of the mean of a series of windows, of the finest
// that are not bound to each other: an engine that serves in waves ends
// requests in waves.
func meanError(series []float64) (se, df float64, ok bool) {
	for k := 1; len(series)/k >= fewestWaves; k *= 2 {
		means := make([]float64, len(series)/k)
		for i := range means {
			means[i], _ = stat.MeanSD(series[i*k : (i+1)*k])
		}
		if se, df, ok = stat.BatchError(means); ok {
			return se, df, ok
		}
	}
	return 0, 0, false
}

const fewestWaves = 10

// drift is the one-sided p-value of "a series of sums does not climb".
func drift(series []float64) float64 {
	if len(series) < leastWindows/2 {
		return 1
	}
	steps := make([]float64, 0, len(series))
	for i := 1; i < len(series); i++ {
		steps = append(steps, series[i]-series[i-1])
	}
	se, df, ok := meanError(levelled(steps, stat.Hinge(series)))
	if !ok || se == 0 {
		return 1
	}
	mean, _ := stat.MeanSD(steps)
	return stat.MeanAbove(mean, se, df)
}

// Change is a moment at which a figure's level changed.
type Change struct {
	Metric string `json:"metric"` // ttft, e2e or output_token_rate
	At     Value  `json:"at_ms"`  // of the load's time
	Before Value  `json:"before"` // median of the windows between this change and the one before, in Unit
	After  Value  `json:"after"`
	Unit   string `json:"unit"`
}

// Changes are those of a run.
type Changes struct {
	Rule   string   `json:"rule"`
	Window Value    `json:"window_ms"`
	Reason string   `json:"reason,omitempty"` // why none was looked for
	Found  []Change `json:"found"`
}

// ChangeRule names the rule by which changes are found.
const ChangeRule = "binary segmentation of window medians (ttft, e2e) and of output tokens a window, on normal scores; held against AR(1) series; 1 % in all; 5 % or more"

const (
	changesRisk = 0.01 // of any false change in a run
	leastChange = 0.05 // of the level
)

// changes finds them.
func (w *windows) changes(start int64) []Change {
	out := []Change{}
	tokens := make([]float64, len(w.tokens))
	for i, x := range w.tokens {
		tokens[i] = x / (float64(w.length) / 1e9)
	}
	all := []struct {
		name, unit string
		series     []float64
	}{{"ttft", "ms", w.ttft}, {"e2e", "ms", w.e2e}, {"output_token_rate", "tok/s", tokens}}
	for k, s := range all {
		values, at := filled(s.series)
		if len(values) < leastWindows*9/10 {
			continue
		}
		cuts := stat.Changes(values, changesRisk/float64(len(all)), uint64(k))
		cuts = append(append([]int{0}, cuts...), len(values))
		for i := 1; i+1 < len(cuts); i++ {
			before, after := median(values[cuts[i-1]:cuts[i]]), median(values[cuts[i]:cuts[i+1]])
			if math.Abs(after-before) >= leastChange*math.Abs(before) {
				out = append(out, Change{s.name, Some(float64(w.at(at[cuts[i]])-start) / 1e6), Some(before), Some(after), s.unit})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int { return int(a.At.Or(0) - b.At.Or(0)) })
	return out
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return stat.Quantile(sorted, .5)
}

// Evidence is what a run says about how far its own figures can be trusted.
type Evidence struct {
	Schema     string     `json:"schema"`
	Intervals  Intervals  `json:"intervals"`
	Saturation Saturation `json:"saturation"`
	Changes    Changes    `json:"changes"`
}

// EvidenceSchema is the version of the rules behind [Evidence]: figures of
// different versions are not to be compared.
const EvidenceSchema = "tokamak.evidence/1"

// Evidence works out intervals, saturation and changes of the view.
func (v *View) Evidence() Evidence {
	e := Evidence{Schema: EvidenceSchema, Intervals: v.Intervals(), Changes: Changes{Rule: ChangeRule, Found: []Change{}}}
	w, reason := v.windows()
	switch {
	case w == nil:
		e.Saturation = Saturation{Verdict: CannotTell, Reason: reason}
		e.Changes.Reason = reason
	case v.a.opt.Users:
		e.Saturation = Saturation{Verdict: Stable, Reason: "a closed loop holds back: no more requests than its users are ever under way"}
	default:
		e.Saturation = w.saturation(v.from)
	}
	if w == nil {
		return e
	}
	e.Changes.Window = Some(float64(w.length) / 1e6)
	if e.Saturation.Verdict == OverSaturated {
		e.Intervals.Reason, e.Intervals.Metrics = "the run never settled: its figures depend on how long it went on", map[string]map[string]Interval{}
		e.Changes.Reason = "the run never settled: see saturation"
		return e
	}
	e.Changes.Found = w.changes(v.from)
	return e
}
