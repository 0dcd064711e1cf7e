package fit

import (
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// chainForm says what the states of a chain are: classes of the gap, from the
// shortest to the longest, in each of some regimes of the mean of the gaps
// around it, from busy to quiet. Classes and regimes are of equal numbers of
// gaps. Regimes are what remembers longer than one gap.
type chainForm struct {
	classes, regimes int
	around           int // gaps whose mean tells the regime
}

// chainForms are those that are tried.
var chainForms = [...]chainForm{{8, 1, 1}, {4, 4, 16}, {4, 4, 32}}

func (f chainForm) states() int { return f.classes * f.regimes }

// chainParts is how many equal shares each state's gaps are known by. Of the
// last state, where the long silences are, each further share is half of what
// is left.
const (
	chainParts = 4
	tailParts  = 12
)

// mostSorted bounds the gaps that quantiles are of.
const mostSorted = 200_000

// fit makes a chain: the chances of each state to follow each are counted, and
// each state's gaps are given by quantiles. It returns nil where the gaps are
// too few, and the log-likelihood of gaps and states, which are known to unit,
// with the number of parameters.
func (f chainForm) fit(list []float64, unit float64) (m *traffic.Markov, likelihood float64, parameters int) {
	k := f.states()
	if len(list) < 50*k {
		return nil, 0, 0
	}
	states := f.statesOf(list)
	next := counted(states, k)
	values := make([][]float64, k)
	step := (len(list) + mostSorted - 1) / mostSorted
	for i := 0; i < len(list); i += step {
		values[states[i]] = append(values[states[i]], list[i])
	}
	m = &traffic.Markov{Next: next.chances()}
	likelihood = next.likelihood()
	parameters = k * (k - 1)
	for i, v := range values {
		if len(v) < 2 {
			return nil, 0, 0 // so many gaps are alike that classes are empty
		}
		slices.Sort(v)
		q := quantilesOf(v, chainParts)
		if i%f.classes == f.classes-1 {
			q = tailOf(v, tailParts)
		}
		m.Gaps = append(m.Gaps, q)
		likelihood += next.sums[i] * entropy(q, unit)
		parameters += len(q.Value)
	}
	return m, likelihood, parameters
}

// statesOf tells the state of each gap.
func (f chainForm) statesOf(list []float64) []uint8 {
	n := len(list)
	out := make([]uint8, n)
	if f.regimes > 1 {
		smooth := moving(list, f.around)
		bounds := equalShares(thinned(smooth, mostSorted), f.regimes)
		for i, x := range smooth {
			r, _ := slices.BinarySearch(bounds, x)
			out[i] = uint8(r)
		}
	}
	classes := make([][]float64, f.regimes)
	step := (n + mostSorted - 1) / mostSorted
	for i := 0; i < n; i += step {
		classes[out[i]] = append(classes[out[i]], list[i])
	}
	for r := range classes {
		classes[r] = equalShares(classes[r], f.classes)
	}
	for i, x := range list {
		c, _ := slices.BinarySearch(classes[out[i]], x)
		out[i] = uint8(int(out[i])*f.classes + c)
	}
	return out
}

// moving is the mean of the values around each.
func moving(list []float64, width int) []float64 {
	n := len(list)
	upTo := make([]float64, n+1)
	for i, x := range list {
		upTo[i+1] = upTo[i] + x
	}
	out := make([]float64, n)
	for i := range list {
		from, to := max(i-width/2, 0), min(i+width/2+1, n)
		out[i] = (upTo[to] - upTo[from]) / float64(to-from)
	}
	return out
}

// equalShares are the bounds between parts of equal numbers of values, which
// it sorts.
func equalShares(list []float64, parts int) []float64 {
	slices.Sort(list)
	var bounds []float64
	for i := 1; i < parts && len(list) > 0; i++ {
		bounds = append(bounds, stat.Quantile(list, float64(i)/float64(parts)))
	}
	return bounds
}

// thinned returns at most about most values, evenly taken.
func thinned[T any](list []T, most int) []T {
	step := max((len(list)+most-1)/most, 1)
	out := make([]T, 0, len(list)/step+1)
	for i := 0; i < len(list); i += step {
		out = append(out, list[i])
	}
	return out
}

// transitions counts which state follows which.
type transitions struct {
	counts [][]float64
	sums   []float64
}

func counted(states []uint8, k int) *transitions {
	t := &transitions{sums: make([]float64, k)}
	for range k {
		t.counts = append(t.counts, make([]float64, k))
	}
	for i, s := range states {
		t.sums[s]++
		if i > 0 {
			t.counts[states[i-1]][s]++
		}
	}
	return t
}

// rare is how many times more each follower is counted than it was seen, so
// that every state can be left.
const rare = 0.01

// chances are the rows as shares.
func (t *transitions) chances() [][]float64 {
	out := make([][]float64, len(t.counts))
	for i, row := range t.counts {
		sum := 0.0
		for _, c := range row {
			sum += c + rare
		}
		out[i] = make([]float64, len(row))
		for j, c := range row {
			out[i][j] = round((c + rare) / sum)
		}
	}
	return out
}

func (t *transitions) likelihood() float64 {
	sum := 0.0
	for _, row := range t.counts {
		total := 0.0
		for _, c := range row {
			total += c
		}
		for _, c := range row {
			if c > 0 {
				sum += c * math.Log(c/total)
			}
		}
	}
	return sum
}

// quantilesOf is the distribution of ascending values by equal shares.
func quantilesOf(ascending []float64, parts int) stat.Quantiles {
	if len(ascending) == 0 {
		return stat.Quantiles{Share: []float64{0, 1}, Value: []float64{0, 0}}
	}
	parts = max(min(parts, len(ascending)-1), 1)
	var q stat.Quantiles
	for i := range parts + 1 {
		q.Share = append(q.Share, round(float64(i)/float64(parts)))
		q.Value = append(q.Value, round(ascending[i*(len(ascending)-1)/parts]))
	}
	q.Share[parts] = 1
	return q
}

// tailOf is the distribution of ascending values by shares that halve towards
// the greatest, the first half in four.
func tailOf(ascending []float64, parts int) stat.Quantiles {
	if len(ascending) < 16 {
		return quantilesOf(ascending, len(ascending))
	}
	n := float64(len(ascending))
	var q stat.Quantiles
	add := func(p float64) {
		q.Share = append(q.Share, p)
		q.Value = append(q.Value, round(ascending[int(p*(n-1))]))
	}
	for _, p := range []float64{0, .125, .25, .375} {
		add(p)
	}
	for k, rest := 0, .5; k < parts && rest*n >= 2; k, rest = k+1, rest/2 {
		add(1 - rest)
		add(1 - rest*.75)
	}
	add(1)
	return q
}

// entropy is the mean log-density of draws from equal shares of values that are
// known to unit.
func entropy(q stat.Quantiles, unit float64) float64 {
	sum := 0.0
	for i := 1; i < len(q.Share); i++ {
		share := q.Share[i] - q.Share[i-1]
		width := max(q.Value[i]-q.Value[i-1], unit)
		sum += share * math.Log(share/width)
	}
	return sum
}
