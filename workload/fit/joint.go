package fit

import (
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
)

// gridSides are the rank grids that are tried, each with every weight of
// gridWeights: how many pairs more, as of independent lengths, each cell gets.
var (
	gridSides   = [...]int{3, 5, 8, 10}
	gridWeights = [...]float64{0.5, 20, 100}
)

// pairs are lengths that belong together.
type pairs struct{ input, output []int32 }

// mostPairs bounds the pairs that ranks are of.
const mostPairs = 120_000

// some are at most mostPairs of the pairs, evenly taken.
func (p pairs) some() pairs { return pairs{thinned(p.input, mostPairs), thinned(p.output, mostPairs)} }

// ranks returns the rank of each value among all as a share in (0, 1); equal
// values share the ranks between them at random, so that bins are equally full
// however coarse the values are.
func ranks(list []int32, purpose stat.Stream) []float64 {
	order := make([]uint64, len(list)) // value, chance, index
	r := stat.Random(0, purpose, 0)
	for i, v := range list {
		order[i] = uint64(v)<<32 | uint64(r.Uint32())&^mask | uint64(i)&mask
	}
	slices.Sort(order)
	out := make([]float64, len(list))
	for rank, k := range order {
		out[k&mask] = (float64(rank) + .5) / float64(len(list))
	}
	return out
}

// mask holds the index of a pair, of which there are at most mostPairs.
const mask = 1<<17 - 1

// grid is the share of pairs in each cell of a square grid of equal rank bins,
// rows by input.
func grid(input, output []float64, side int) [][]float64 {
	g := zeroGrid(side)
	for k := range input {
		g[rankBin(input[k], side)][rankBin(output[k], side)] += 1 / float64(len(input))
	}
	return g
}

const (
	// gridFolds is how many parts pairs are divided into, slice by slice, for
	// grids to be counted in all others and tried in each.
	gridFolds = 10
	// gridErrors is how many standard errors, over the folds, the gain of a grid
	// over independence is at least.
	gridErrors = 2
	leastPairs = 100
)

// rankGrid is the grid that makes pairs likeliest which it was not counted in:
// those of each fold, by the others. nil where independence is as likely, by
// two standard errors. It is then counted in all.
func rankGrid(all pairs, fold []uint8) [][]float64 {
	if len(all.input) < leastPairs {
		return nil
	}
	all, fold = all.some(), thinned(fold, mostPairs)
	input, output := ranks(all.input, "input ranks"), ranks(all.output, "output ranks")
	best, weight, most := 0, 0.0, 0.0
	for _, side := range gridSides {
		c := newFolded(input, output, fold, side)
		for _, w := range gridWeights {
			if gain, deviation := c.gain(w); gain > most && gain > gridErrors*deviation {
				best, weight, most = side, w, gain
			}
		}
	}
	if best == 0 {
		return nil
	}
	g := weighted(grid(input, output, best), len(input), weight)
	for i := range g {
		for j := range g[i] {
			g[i][j] = round(g[i][j])
		}
	}
	return g
}

// folded are the grids of the folds, as numbers of pairs.
type folded struct {
	side int
	of   [gridFolds][][]float64
	all  [][]float64
	n    [gridFolds]float64
}

func newFolded(input, output []float64, fold []uint8, side int) *folded {
	f := &folded{side: side, all: zeroGrid(side)}
	for k := range f.of {
		f.of[k] = zeroGrid(side)
	}
	for k := range input {
		i, j := rankBin(input[k], side), rankBin(output[k], side)
		f.of[fold[k]][i][j]++
		f.all[i][j]++
		f.n[fold[k]]++
	}
	return f
}

// gain is how much likelier than by independence all pairs are, in nats, each
// fold by the grid of the others; deviation is its standard error, of the spread
// of the folds' gains per pair.
func (f *folded) gain(weight float64) (gain, deviation float64) {
	total := 0.0
	for _, n := range f.n {
		total += n
	}
	cells := float64(f.side * f.side)
	var by [gridFolds]float64
	for k := range f.of {
		if f.n[k] == 0 {
			continue
		}
		others := total - f.n[k] + weight*cells
		for i, row := range f.of[k] {
			for j, n := range row {
				by[k] += n * math.Log((f.all[i][j]-n+weight)/others*cells)
			}
		}
		gain += by[k]
	}
	folds := 0.0
	for k, n := range f.n {
		if n > 0 {
			d := by[k] - gain*n/total
			deviation += d * d
			folds++
		}
	}
	return gain, math.Sqrt(deviation * folds / max(folds-1, 1))
}

func zeroGrid(side int) [][]float64 {
	g := make([][]float64, side)
	for i := range g {
		g[i] = make([]float64, side)
	}
	return g
}

// rankBin is the bin of a rank.
func rankBin(rank float64, side int) int { return min(int(rank*float64(side)), side-1) }

// weighted is a grid of n pairs with a weight more in each cell.
func weighted(g [][]float64, n int, weight float64) [][]float64 {
	out := make([][]float64, len(g))
	all := float64(n) + weight*float64(len(g)*len(g))
	for i, row := range g {
		out[i] = make([]float64, len(row))
		for j, x := range row {
			out[i][j] = (x*float64(n) + weight) / all
		}
	}
	return out
}

// apart is half the summed difference of two grids: the share that would have
// to move.
func apart(a, b [][]float64) float64 {
	sum := 0.0
	for i := range a {
		for j := range a[i] {
			sum += math.Abs(a[i][j]-b[i][j]) / 2
		}
	}
	return sum
}

// spearman is the correlation of ranks.
func spearman(input, output []float64) float64 {
	sum := 0.0
	for i := range input {
		sum += (input[i] - .5) * (output[i] - .5)
	}
	return 12 * sum / float64(len(input))
}

// even is a grid of independent lengths.
func evenGrid(side int) [][]float64 {
	g := make([][]float64, side)
	for i := range g {
		g[i] = slices.Repeat([]float64{1 / float64(side*side)}, side)
	}
	return g
}
