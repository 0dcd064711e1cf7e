package fit

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
)

// mixture is a number of hidden clients. The requests of window w in cell c are
// a Poisson number of mean Σ_k rate[k][w] · share[k][c].
type mixture struct {
	rate  [][]float64 // requests in each window, of each client
	share [][]float64 // of each cell among a client's requests, all the time
	// likelihood is that of the moments and cells, in nats, the rates in 1/s.
	likelihood float64
	parameters int
}

// tallied counts requests by window and cell.
type tallied struct {
	window, span float64 // s
	cells        int
	counts       [][]cellCount // of each window those that have some
	n            float64
}

type cellCount struct {
	cell  int32
	count float64
}

// newTallied counts ascending moments, in s, whose cells are known.
func newTallied(at []float64, cell []int32, cells int, span, window float64) *tallied {
	t := &tallied{window: window, span: span, cells: cells, counts: make([][]cellCount, windowCount(span, window))}
	row := make([]float64, cells)
	flush := func(w int) {
		for c, n := range row {
			if n > 0 {
				t.counts[w] = append(t.counts[w], cellCount{int32(c), n})
				row[c] = 0
			}
		}
	}
	last := 0
	for i, x := range at {
		if w := t.index(x); w != last {
			flush(last)
			last = w
		}
		if cell[i] >= 0 {
			row[cell[i]]++
			t.n++
		}
	}
	flush(last)
	return t
}

// index is the window of a moment.
func (t *tallied) index(at float64) int { return min(int(at/t.window), len(t.counts)-1) }

// length is how long a window is in s.
func (t *tallied) length(w int) float64 {
	return min(float64(w+1)*t.window, t.span) - float64(w)*t.window
}

// one is the mixture of one client.
func (t *tallied) one() *mixture {
	m := &mixture{rate: [][]float64{make([]float64, len(t.counts))}, share: [][]float64{make([]float64, t.cells)}}
	for w, list := range t.counts {
		for _, x := range list {
			m.rate[0][w] += x.count
			m.share[0][x.cell] += x.count / t.n
		}
	}
	t.judge(m)
	return m
}

const (
	hiddenStarts = 3
	hiddenSteps  = 200
	// hiddenGain is how much ten steps gain at least in nats, else they are the
	// last: far below what a parameter costs.
	hiddenGain = 1
)

// several is the likeliest mixture of k clients that is found from some starts,
// by expectation and maximisation (Dempster, Laird and Rubin 1977). A search is
// given up where its pace, which only falls, would not take it to a BIC below
// the limit.
func (t *tallied) several(k int, seed uint64, limit float64) *mixture {
	var best *mixture
	for start := range hiddenStarts {
		m := t.start(k, stat.Random(seed, "hidden clients", uint64(start)))
		t.climb(m, limit)
		if best == nil || m.likelihood > best.likelihood {
			best = m
		}
	}
	best.sort()
	return best
}

// climb improves a mixture step by step.
func (t *tallied) climb(m *mixture, limit float64) {
	const stride = 10
	t.judge(m)
	for step := 0; step < hiddenSteps; step += stride {
		before := m.likelihood
		for range stride {
			t.step(m)
		}
		t.judge(m)
		gain := m.likelihood - before
		if gain < hiddenGain {
			return
		}
		left := float64(hiddenSteps-step-stride) / stride
		if step >= 2*stride && t.bic(m)-2*gain*left > limit {
			return
		}
	}
}

// start gives each of k clients an equal part of every window, and shares by
// chance around those of all.
func (t *tallied) start(k int, r *rand.Rand) *mixture {
	m := &mixture{}
	for range k {
		one := t.one()
		sum := 0.0
		for c := range one.share[0] {
			one.share[0][c] *= 0.5 + r.Float64()
			sum += one.share[0][c]
		}
		for c := range one.share[0] {
			one.share[0][c] /= sum
		}
		for w := range one.rate[0] {
			one.rate[0][w] /= float64(k)
		}
		m.rate, m.share = append(m.rate, one.rate[0]), append(m.share, one.share[0])
	}
	return m
}

// step divides each count among the clients by their chance, and adds up anew.
func (t *tallied) step(m *mixture) {
	k := len(m.rate)
	share := make([][]float64, k)
	for i := range share {
		share[i] = make([]float64, t.cells)
	}
	part, own := make([]float64, k), make([]float64, k)
	for w, list := range t.counts {
		clear(own)
		for _, x := range list {
			sum := m.chances(w, x.cell, part)
			if sum <= 0 {
				continue
			}
			for i := range part {
				n := x.count * part[i] / sum
				own[i] += n
				share[i][x.cell] += n
			}
		}
		for i := range own {
			m.rate[i][w] = own[i]
		}
	}
	for i := range share {
		total := 0.0
		for _, n := range share[i] {
			total += n
		}
		for c := range share[i] {
			share[i][c] /= max(total, math.SmallestNonzeroFloat64)
		}
	}
	m.share = share
}

// chances puts into part how many requests of a cell each client has in a window
// in the mean, and returns their sum. A cell below 0 is one not known.
func (m *mixture) chances(w int, cell int32, part []float64) float64 {
	sum := 0.0
	for i := range part {
		part[i] = m.rate[i][w]
		if cell >= 0 {
			part[i] *= m.share[i][cell]
		}
		sum += part[i]
	}
	return sum
}

// judge finds a mixture's likelihood and its number of parameters: those of
// rates and shares, less the k(k − 1) by which clients can be mixed among each
// other and say the same.
func (t *tallied) judge(m *mixture) {
	k := len(m.rate)
	part := make([]float64, k)
	sum := 0.0
	for w, list := range t.counts {
		long := math.Log(t.length(w))
		for _, x := range list {
			sum += x.count * (math.Log(max(m.chances(w, x.cell, part), 1e-300)) - long)
		}
	}
	m.likelihood = sum - t.n
	m.parameters = k*len(t.counts) + k*(t.cells-1) - k*(k-1)
}

func (t *tallied) bic(m *mixture) float64 {
	return -2*m.likelihood + float64(m.parameters)*math.Log(t.n)
}

// rows is how many requests each client has.
func (m *mixture) rows() []float64 {
	out := make([]float64, len(m.rate))
	for i, r := range m.rate {
		for _, x := range r {
			out[i] += x
		}
	}
	return out
}

// sort puts the client with the most requests first.
func (m *mixture) sort() {
	rows := m.rows()
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rows[b], rows[a]) })
	m.rate, m.share = taken2(m.rate, order), taken2(m.share, order)
}

func taken2(list [][]float64, order []int) [][]float64 {
	out := make([][]float64, len(order))
	for i, k := range order {
		out[i] = list[k]
	}
	return out
}
