package measure

import (
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
)

// A run is looked at over time in windows of equal length.
const (
	mostWindows   = 100
	leastWindows  = 60
	fewestWindows = 5 // requests due in a window, on average
)

// windows are the series of a run over time.
type windows struct {
	from, length int64     // ns since the run's epoch, and of one window
	inSystem     []float64 // requests due and not ended, mean over the window
	excess       []float64 // requests due in it less those that ended in it
	arrivals     int       // due in all of them
	ttft, e2e    []float64 // medians of what was due in it, in ms
	tokens       []float64 // output tokens that arrived in it, of successes
}

func (w *windows) at(i int) int64 { return w.from + int64(i)*w.length }

// windows returns the series of the view from the moment on at which its first
// answers are over, or why there are none.
func (v *View) windows() (*windows, string) {
	if v.a.opt.Stages > 1 {
		return nil, "the load has several stages"
	}
	from := v.from + v.firstAnswers()
	to := v.lastDue()
	if from > v.from+(to-v.from)/2 || to <= v.from {
		return nil, "an answer takes more than half of the load's time: nothing tells filling up from running over"
	}
	var due []*row
	for _, r := range v.rows {
		if r.intended >= from {
			due = append(due, r)
		}
	}
	n := min(len(due)/fewestWindows, mostWindows)
	if n < leastWindows {
		return nil, "it takes " + Count(leastWindows*fewestWindows) + " requests after the first answers are over"
	}
	w := &windows{from: from, length: (to - from) / int64(n)}
	if w.length == 0 {
		return nil, "the load has no length"
	}
	w.inSystem, w.arrivals = v.inSystem(w, n), len(due)
	w.excess = v.excess(w, n)
	w.ttft, w.e2e = medians(w, n, due, "ttft"), medians(w, n, due, "e2e")
	w.tokens = v.arrived(w, n)
	return w, ""
}

// firstAnswers is how long the first tenth of the requests took, in the
// median: until then the target fills up. (Of all of them it would be the
// queue that an overload leaves.)
func (v *View) firstAnswers() int64 {
	var took []int64
	for _, r := range v.rows[:len(v.rows)/10] {
		if v.fate(r) == good && r.lastToken != absent {
			took = append(took, r.lastToken-r.intended)
		}
	}
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return stat.Quantile(took, .5)
}

// lastDue is the last moment at which a request was due, which a load that
// only its number of requests ends has long before its window's end.
func (v *View) lastDue() int64 {
	if len(v.rows) == 0 {
		return v.from
	}
	return v.rows[len(v.rows)-1].intended
}

// inSystem is the mean number of requests in each window that were due and
// had not ended.
func (v *View) inSystem(w *windows, n int) []float64 {
	over := newOverlap(w, n)
	for _, r := range v.rows {
		if r.ended != absent { // else it was never sent
			over.add(r.intended, r.ended, 1)
		}
	}
	return over.sums()
}

// excess is how many more requests were due in each window than ended in it.
func (v *View) excess(w *windows, n int) []float64 {
	out := make([]float64, n)
	count := func(at int64, by float64) {
		if i := (at - w.from) / w.length; at >= w.from && i < int64(n) {
			out[i] += by
		}
	}
	for _, r := range v.rows {
		if r.ended != absent {
			count(r.intended, 1)
			count(r.ended, -1)
		}
	}
	return out
}

// arrived is the number of output tokens in each window, each answer's spread
// evenly over its stream.
func (v *View) arrived(w *windows, n int) []float64 {
	over := newOverlap(w, n)
	for _, r := range v.rows {
		tokens := first(r.output, r.outputCounted)
		if v.fate(r) != good || math.IsNaN(tokens) || r.firstToken == absent {
			continue
		}
		length := float64(max(r.lastToken-r.firstToken, 1))
		over.add(r.firstToken, r.firstToken+int64(length), tokens/length*float64(w.length))
	}
	return over.sums()
}

// overlap sums, for each window, weights times the share of the window that
// their spans fill.
type overlap struct {
	w      *windows
	parts  []float64
	levels []float64 // differences of what fills whole windows
}

func newOverlap(w *windows, n int) *overlap {
	return &overlap{w, make([]float64, n), make([]float64, n+1)}
}

func (o *overlap) add(from, to int64, weight float64) {
	n, length := len(o.parts), o.w.length
	from, to = max(from-o.w.from, 0), min(to-o.w.from, int64(n)*length)
	if to <= from {
		return
	}
	i, j := int(from/length), int(to/length)
	if i == j {
		o.parts[i] += weight * float64(to-from) / float64(length)
		return
	}
	o.parts[i] += weight * float64(int64(i+1)*length-from) / float64(length)
	if j < n {
		o.parts[j] += weight * float64(to-int64(j)*length) / float64(length)
	}
	o.levels[i+1] += weight
	o.levels[j] -= weight
}

func (o *overlap) sums() []float64 {
	level := 0.0
	for i := range o.parts {
		level += o.levels[i]
		o.parts[i] += level
	}
	return o.parts
}

// medians are those of a metric in each window. What was stopped or failed
// counts with what it had waited at least; where that is half of a window or more, its
// median is not known, and NaN as where it has no value.
func medians(w *windows, n int, due []*row, name string) []float64 {
	d := defined(name)
	values, floors := make([][]float64, n), make([]int, n)
	for _, r := range due {
		i := min(int((r.intended-w.from)/w.length), n-1)
		x := d.in(r)
		if math.IsNaN(x) {
			x = d.floor(r) / d.scale()
			floors[i]++
		}
		if !math.IsNaN(x) {
			values[i] = append(values[i], x)
		}
	}
	out := make([]float64, n)
	for i, x := range values {
		out[i] = math.NaN()
		if 2*floors[i] < len(x) {
			slices.Sort(x)
			out[i] = stat.Quantile(x, .5)
		}
	}
	return out
}

// filled returns a series without its gaps, and the windows of what is left.
func filled(series []float64) (values []float64, at []int) {
	for i, x := range series {
		if !math.IsNaN(x) {
			values, at = append(values, x), append(at, i)
		}
	}
	return values, at
}
