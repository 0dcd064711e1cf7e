package measure

import (
	"fmt"
	"math"

	"github.com/tokamak-bench/tokamak/stat"
)

// Confidence is that of the intervals of a run's figures.
const Confidence = 0.95

// The risk and the power with which a change is to be told, see
// [Interval.Detectable].
const (
	changeRisk  = 0.05
	changePower = 0.8
)

// timeBlocks is in how many blocks of equal time a run is divided.
const timeBlocks = 20

// What a figure needs to have an interval.
const (
	leastBlocked = 5 * timeBlocks // values
	leastTail    = 10             // independent values beyond a percentile, see [View.Intervals]
)

// IntervalRule names the rule by which intervals are made.
const IntervalRule = "20 blocks of equal time, by intended time; variance of their means with AR(1) between neighbours; percentiles by the share below (Korn and Graubard), means and rates by Student's t"

// Interval is where a figure of the target may lie, given what one run saw.
// Where nothing can be said, its values are absent and Reason says why.
type Interval struct {
	Low  Value `json:"low"`
	High Value `json:"high"`
	// DF are the degrees of freedom from which the spread is known.
	DF Value `json:"df"`
	// Detectable is the smallest change of the figure, in %, that two runs like
	// this one would tell from none (5 % risk, 80 % power), were there no
	// noise between runs.
	Detectable Value  `json:"detectable"`
	Reason     string `json:"reason,omitempty"`
}

// LogError returns the standard error of the logarithm of the figure and its
// degrees of freedom; false where there is no interval, or it reaches zero.
func (i Interval) LogError() (se, df float64, ok bool) {
	low, okLow := i.Low.Get()
	high, okHigh := i.High.Get()
	df, okDF := i.DF.Get()
	if !okLow || !okHigh || !okDF || low <= 0 || math.IsInf(high, 0) {
		return 0, 0, false
	}
	_, t := stat.MeanInterval(0, 1, df, Confidence)
	return math.Log(high/low) / (2 * t), df, true
}

// Intervals are those of a run's headline figures.
type Intervals struct {
	Level  float64 `json:"level"`
	Rule   string  `json:"rule"`
	Blocks int     `json:"blocks"`
	Block  Value   `json:"block_ms"`
	// Reason says why no figure has one.
	Reason string `json:"reason,omitempty"`
	// Metrics has intervals by metric and statistic: mean, p50, p95, p99; a
	// rate has value.
	Metrics map[string]map[string]Interval `json:"metrics"`
}

// blockedMetrics are the distributions that have intervals, blockedShares the
// percentiles of theirs.
var (
	blockedMetrics = []string{"ttft", "itl", "tpot", "e2e"}
	blockedShares  = []struct {
		name string
		p    float64
	}{{"p50", .5}, {"p95", .95}, {"p99", .99}}
)

// Intervals returns the intervals of the view's headline figures, from the
// differences between blocks of time: requests are not independent of each
// other, and an interval that takes them for it is far too narrow.
//
// A percentile p has one if the run is worth at least ten independent values
// beyond it: n at the median's own design effect, times the smaller of p and
// 1 − p. (Counting the exceedances themselves would keep just those runs in which they
// happen to be many.)
func (v *View) Intervals() Intervals {
	out := Intervals{Level: Confidence, Rule: IntervalRule, Blocks: timeBlocks, Metrics: map[string]map[string]Interval{}}
	switch {
	case v.a.opt.Stages > 1:
		out.Reason = "the load has several stages: its blocks of time are not alike"
	case len(v.rows) < leastBlocked:
		out.Reason = fmt.Sprintf("%d requests are too few: it takes %d", len(v.rows), leastBlocked)
	case v.lastDue() <= v.from:
		out.Reason = "the load has no length"
	}
	if out.Reason != "" {
		return out
	}
	out.Block = Some(float64(v.lastDue()-v.from) / timeBlocks / 1e6)
	for _, name := range blockedMetrics {
		out.Metrics[name] = v.blocked(name).intervals()
	}
	v.rateIntervals(out.Metrics)
	return out
}

// blockOf is the block of time in which a request was due.
func (v *View) blockOf(at int64) int {
	return min(int(float64(at-v.from)/float64(v.lastDue()-v.from)*timeBlocks), timeBlocks-1)
}

// blocks are the values of a metric by the block of time of their requests.
type blocks struct {
	s        series
	requests int
	of       func(yield func(block int, values []float64) bool)
}

// mostGaps and mostRequests bound how many are looked at; of more, every so
// many requests'. What that adds to the error is far below it.
const (
	mostGaps     = 1 << 20
	mostRequests = 1 << 18
)

// blocked returns the successes' values of a metric by block.
func (v *View) blocked(name string) *blocks {
	if d := defined(name); d != nil {
		return v.blockedEach(d)
	}
	gaps := 0
	for _, r := range v.rows {
		gaps += int(r.gaps.count)
	}
	every := 1 + gaps/mostGaps
	b := &blocks{}
	b.of = func(yield func(int, []float64) bool) {
		for i := 0; i < len(v.rows); i += every {
			r := v.rows[i]
			if v.fate(r) != good {
				continue
			}
			if values := v.gapValues(name, r); len(values) > 0 && !yield(v.blockOf(r.intended), values) {
				return
			}
		}
	}
	b.s.values = func(yield func([]float64) bool) {
		b.of(func(_ int, values []float64) bool { return yield(values) })
	}
	for _, values := range b.of {
		b.s.n += len(values)
		b.requests++
	}
	return b
}

func (v *View) blockedEach(d *definition) *blocks {
	var values []float64
	var at []int
	every := 1 + len(v.rows)/mostRequests
	for i := 0; i < len(v.rows); i += every {
		r := v.rows[i]
		if v.fate(r) != good {
			continue
		}
		if x := d.in(r); !math.IsNaN(x) {
			values, at = append(values, x), append(at, v.blockOf(r.intended))
		}
	}
	return &blocks{s: slice(values, 0), requests: len(values), of: func(yield func(int, []float64) bool) {
		for i := range values {
			if !yield(at[i], values[i:i+1]) {
				return
			}
		}
	}}
}

// intervals returns those of the metric's statistics.
func (b *blocks) intervals() map[string]Interval {
	out := map[string]Interval{}
	if b.requests < leastBlocked {
		few := Interval{Reason: fmt.Sprintf("%d requests with a value are too few: it takes %d", b.requests, leastBlocked)}
		for _, s := range blockedShares {
			out[s.name] = few
		}
		out["mean"] = few
		return out
	}
	ps := make([]float64, len(blockedShares))
	for i, s := range blockedShares {
		ps[i] = s.p
	}
	quantiles := b.s.quantiles(ps, len(ps))
	spread := b.spread(quantiles)
	independent := spread.independent(b.requests)
	bounds := make([]float64, 0, 2*len(ps))
	for i, s := range blockedShares {
		out[s.name] = Interval{}
		bounds = append(bounds, spread.bounds(i, s.p, b.requests)...)
	}
	values := b.s.quantiles(bounds, len(bounds))
	for i, s := range blockedShares {
		out[s.name] = spread.interval(i, s.p, independent, bounds[2*i:2*i+2], values[2*i:2*i+2], b.s.n)
	}
	out["mean"] = spread.meanInterval(independent)
	return out
}

// spreads are, of each block, by how much the shares at or below some
// quantiles and the mean differ from the whole run's: linearised ratios, so
// that blocks may hold unequal numbers.
type spreads struct {
	shares [][]float64 // by quantile and block
	whole  []float64   // the run's own shares
	means  []float64   // by block
	mean   float64
}

// spread walks the values once.
func (b *blocks) spread(quantiles []float64) *spreads {
	below := make([][timeBlocks]float64, len(quantiles))
	var size, sum [timeBlocks]float64
	for block, values := range b.of {
		size[block] += float64(len(values))
		for _, x := range values {
			sum[block] += x
			for i, q := range quantiles {
				if x <= q {
					below[i][block]++
				}
			}
		}
	}
	n := total(size[:])
	s := &spreads{mean: total(sum[:]) / n}
	for i := range quantiles {
		share := total(below[i][:]) / n
		s.whole = append(s.whole, share)
		s.shares = append(s.shares, residuals(below[i][:], size[:], share))
	}
	s.means = residuals(sum[:], size[:], s.mean)
	return s
}

// residuals are (sum − ratio·size) of each block, scaled so that their mean
// has the error of the ratio.
func residuals(sum, size []float64, ratio float64) []float64 {
	n := total(size)
	out := make([]float64, len(sum))
	for i := range sum {
		out[i] = (sum[i] - float64(ratio*size[i])) * float64(len(sum)) / n
	}
	return out
}

func total(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum
}

// independent is how many independent values the run is worth at its median,
// the first of the quantiles; 0 where its blocks hang together.
func (s *spreads) independent(requests int) float64 {
	se, _, ok := stat.BatchError(s.shares[0])
	if !ok {
		return 0
	}
	least := math.Sqrt(s.whole[0] * (1 - s.whole[0]) / float64(requests))
	se = max(se, least)
	if se == 0 {
		return float64(requests)
	}
	return float64(requests) * least * least / (se * se)
}

// bounds are the shares at whose quantiles the interval of a percentile ends.
func (s *spreads) bounds(i int, p float64, requests int) []float64 {
	se, df, ok := stat.BatchError(s.shares[i])
	if !ok {
		return []float64{p, p}
	}
	low, high := stat.ShareInterval(p, se, df, requests, Confidence)
	return []float64{max(low, 1e-12), min(high, 1)}
}

const tooFewBlocks = "neighbouring blocks of time hang together: the run is too short to tell how far it would differ from another"

// interval makes one of the shares and the values at them.
func (s *spreads) interval(i int, p, independent float64, shares, values []float64, n int) Interval {
	_, df, ok := stat.BatchError(s.shares[i])
	beyond := independent * min(p, 1-p)
	switch {
	case !ok || independent == 0:
		return Interval{Reason: tooFewBlocks}
	case beyond < leastTail:
		return Interval{Reason: fmt.Sprintf("the run is worth %s independent values beyond it: it takes %d", Digits(beyond), leastTail)}
	case shares[1] > 1-1/float64(n):
		return Interval{Reason: "the run has no value that is surely beyond it"}
	}
	out := Interval{Low: Some(values[0]), High: Some(values[1]), DF: Some(df)}
	out.detect()
	return out
}

func (s *spreads) meanInterval(independent float64) Interval {
	se, df, ok := stat.BatchError(s.means)
	switch {
	case !ok || independent == 0:
		return Interval{Reason: tooFewBlocks}
	case independent < leastForMean:
		return Interval{Reason: fmt.Sprintf("the run is worth %s independent values: it takes %d", Digits(independent), leastForMean)}
	}
	low, high := stat.MeanInterval(s.mean, se, df, Confidence)
	out := Interval{Low: Some(low), High: Some(high), DF: Some(df)}
	out.detect()
	return out
}

// leastForMean is how many independent values a mean takes: the tail moves it.
const leastForMean = 200

// detect sets the smallest change that two runs like this one would tell.
func (i *Interval) detect() {
	if se, df, ok := i.LogError(); ok {
		i.Detectable = Some(100 * math.Expm1(stat.DetectableShift(se, df, changeRisk, changePower)))
	}
}

// rateIntervals adds those of rates, from what was carried in each block.
func (v *View) rateIntervals(out map[string]map[string]Interval) {
	names := []string{"request_rate", "output_token_rate", "input_token_rate", "goodput"}
	per := make([][]float64, len(names))
	for _, t := range v.carriedByBlock() {
		for i, name := range names {
			per[i] = append(per[i], Some(rateNamed(name).value(v, t)).Or(0)) // nothing came in it
		}
	}
	for i, name := range names {
		if v.Rate(name).Valid() {
			out[name] = map[string]Interval{"value": rateInterval(per[i])}
		}
	}
}

// carriedByBlock is what was carried in each block of the view's window; a
// moment belongs to one of them.
func (v *View) carriedByBlock() []*tally {
	length := v.to - v.from
	views, out := make([]View, timeBlocks), make([]*tally, timeBlocks)
	for b := range views {
		views[b] = View{a: v.a, from: v.from + length*int64(b)/timeBlocks, to: v.from + length*int64(b+1)/timeBlocks}
		if b < timeBlocks-1 {
			views[b].to--
		}
		out[b] = &tally{seconds: float64(length) / timeBlocks / 1e9}
	}
	block := func(at int64) int {
		return max(min(int(float64(at-v.from)/float64(length)*timeBlocks), timeBlocks-1), 0)
	}
	for _, rows := range v.a.blocks {
		for i := range rows {
			r := &rows[i]
			first, last := r.firstToken, max(r.lastToken, r.ended)
			if first == absent {
				first = r.ended
			}
			if first == absent {
				continue // never sent
			}
			// A block more on either side: rounding may put a moment beside its own.
			for b := max(block(first)-1, 0); b <= min(block(last)+1, timeBlocks-1); b++ {
				views[b].carry(out[b], r)
			}
		}
	}
	return out
}

func rateInterval(per []float64) Interval {
	se, df, ok := stat.BatchError(per)
	if !ok {
		return Interval{Reason: tooFewBlocks}
	}
	mean, _ := stat.MeanSD(per)
	low, high := stat.MeanInterval(mean, se, df, Confidence)
	out := Interval{Low: Some(max(low, 0)), High: Some(high), DF: Some(df)}
	out.detect()
	return out
}

func rateNamed(name string) *rate {
	for i := range rates {
		if rates[i].name == name {
			return &rates[i]
		}
	}
	return nil
}
