package portrait

import (
	"math"
	"slices"
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

// rates returns the arrivals a second of each window, and their edges in s from
// the first on. The last window, cut short by the last arrival, has the rate of
// a whole window up to there, so that a few arrivals make no peak; where there
// is no whole window at all, it is that of the span.
func rates(at []int64, window time.Duration) (edges, rate []float64) {
	edges = []float64{0}
	if len(at) == 0 {
		return edges, nil
	}
	for k, c := range counts(at, window) {
		edges = append(edges, float64(k+1)*window.Seconds())
		rate = append(rate, float64(c)/window.Seconds())
	}
	last := at[len(at)-1]
	span := last - at[0]
	switch rest := span - int64(len(rate))*int64(window); {
	case rest == 0:
	case len(rate) == 0:
		rate = append(rate, float64(len(at))/(float64(span)/1e9))
		edges = append(edges, float64(span)/1e9)
	default:
		within := len(at) - behind(at, last-int64(window))
		rate = append(rate, float64(within)/window.Seconds())
		edges = append(edges, float64(span)/1e9)
	}
	return edges, rate
}

// behind returns the index of the first arrival after a moment.
func behind(at []int64, moment int64) int {
	i, _ := slices.BinarySearch(at, moment+1)
	return i
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

// peak returns the highest rate of any window, wherever it begins, and when the
// first such window begins, in requests/s and s from the first arrival. A window
// ends with an arrival and holds it, but not its beginning; nothing where the
// span is shorter than a window.
func peak(at []int64, window time.Duration) (rate, when measure.Value) {
	if len(at) == 0 || at[len(at)-1]-at[0] < int64(window) {
		return
	}
	most, end := highest(at, window, 0, len(at))
	return measure.Some(float64(most) / window.Seconds()), measure.Some(float64(max(at[end]-at[0]-int64(window), 0)) / 1e9)
}

// highest returns the most arrivals of a window that ends with one of those
// from one index up to another, and the first with which such a window ends.
func highest(at []int64, window time.Duration, from, to int) (most, end int) {
	if from >= to {
		return 0, from
	}
	first := behind(at, at[from]-int64(window))
	for i := from; i < to; i++ {
		for at[first] <= at[i]-int64(window) {
			first++
		}
		if i-first+1 > most {
			most, end = i-first+1, i
		}
	}
	return most, end
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
