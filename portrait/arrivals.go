package portrait

import (
	"math"
	"time"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/stat"
)

// peakWindow is the window of the peak rate.
const peakWindow = time.Minute

// gaps returns mean and coefficient of variation of the times between
// arrivals, and the share of them that are 0; no value for fewer than three
// arrivals or where all are at one moment.
func gaps(at []int64) (mean, cv, same measure.Value) {
	n := len(at) - 1
	if n < 2 || at[n] == at[0] {
		return
	}
	average := float64(at[n]-at[0]) / float64(n)
	squares, zero := 0.0, 0
	for i := range n {
		gap := at[i+1] - at[i]
		if gap == 0 {
			zero++
		}
		d := float64(gap) - average
		squares += float64(d * d)
	}
	return measure.Some(average / 1e9), measure.Some(math.Sqrt(squares/float64(n-1)) / average),
		measure.Some(float64(zero) / float64(n))
}

// counts returns how many arrivals fell into each whole window from the first
// on; what comes after the last whole window is left out.
func counts(at []int64, window time.Duration) []int64 {
	if len(at) == 0 {
		return nil
	}
	span := at[len(at)-1] - at[0]
	n := span / int64(window)
	out := make([]int64, n)
	for _, t := range at {
		if k := (t - at[0]) / int64(window); k < n {
			out[k]++
		}
	}
	return out
}

// leastCovered is the share of a window that arrivals cover at least for its
// rate to be drawn: that of less is one of a few arrivals.
const leastCovered = 0.1

// rates returns the arrivals a second of each window, and their edges in s from
// the first on. The last may be cut short by the last arrival; nothing where all
// are at one moment, or in less than the tenth of a window.
func rates(at []int64, window time.Duration) (edges, rate []float64) {
	whole := counts(at, window)
	edges = []float64{0}
	inside := 0
	for k, c := range whole {
		edges = append(edges, float64(k+1)*window.Seconds())
		rate = append(rate, float64(c)/window.Seconds())
		inside += int(c)
	}
	if len(at) == 0 {
		return edges, rate
	}
	span := at[len(at)-1] - at[0]
	if rest := span - int64(len(whole))*int64(window); float64(rest) >= leastCovered*float64(window) {
		edges = append(edges, float64(span)/1e9)
		rate = append(rate, float64(len(at)-inside)/(float64(rest)/1e9))
	}
	return edges, rate
}

// leastWindows is how many windows make an index of dispersion.
const leastWindows = 20

// dispersion returns the index of dispersion, variance over mean of the counts
// of windows; no value for fewer than leastWindows whole windows.
func dispersion(at []int64, window time.Duration) measure.Value {
	c := counts(at, window)
	if len(c) < leastWindows {
		return measure.Value{}
	}
	return measure.Some(stat.IndexOfDispersion(c))
}

// peak returns the highest rate of a whole window and when it begins, in
// requests/s and s from the first arrival.
func peak(at []int64, window time.Duration) (rate, when measure.Value) {
	best := int64(-1)
	for k, c := range counts(at, window) {
		if c > best {
			best = c
			rate = measure.Some(float64(c) / window.Seconds())
			when = measure.Some(float64(k) * window.Seconds())
		}
	}
	return rate, when
}

// lengths returns the order statistics of ascending token counts.
func lengths(ascending []int32) Lengths {
	l := Lengths{Count: int64(len(ascending))}
	if len(ascending) == 0 {
		return l
	}
	for _, v := range ascending {
		l.Sum += int64(v)
	}
	mean := float64(l.Sum) / float64(l.Count)
	l.Mean = measure.Some(mean)
	if l.Count > 1 {
		squares := 0.0
		for _, v := range ascending {
			d := float64(v) - mean
			squares += float64(d * d)
		}
		l.SD = measure.Some(math.Sqrt(squares / float64(l.Count-1)))
	}
	q := func(p float64) measure.Value { return measure.Some(float64(stat.Quantile(ascending, p))) }
	l.P50, l.P90, l.P95, l.P99, l.Max = q(0.5), q(0.9), q(0.95), q(0.99), q(1)
	return l
}
