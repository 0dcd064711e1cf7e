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

// mask holds the index of a pair, of which there are at most twice mostPairs.
const mask = 1<<18 - 1

// grid is the share of pairs in each cell of a square grid of equal rank bins,
// rows by input.
func grid(input, output []float64, side int) [][]float64 {
	g := make([][]float64, side)
	for i := range g {
		g[i] = make([]float64, side)
	}
	for k := range input {
		i := min(int(input[k]*float64(side)), side-1)
		j := min(int(output[k]*float64(side)), side-1)
		g[i][j] += 1 / float64(len(input))
	}
	return g
}

// rankGrid is the grid that makes pairs of the odd slices likeliest when it is
// counted in the even ones, nil where none makes them likelier than
// independence does. It is then counted in all.
func rankGrid(even, odd pairs) [][]float64 {
	if len(even.input) < 200 || len(odd.input) < 200 {
		return nil
	}
	even, odd = even.some(), odd.some()
	all := pairs{slices.Concat(even.input, odd.input), slices.Concat(even.output, odd.output)}
	n := len(even.input)
	input, output := ranks(all.input, "input ranks"), ranks(all.output, "output ranks")
	best, weight, most := 0, 0.0, 0.0
	for _, side := range gridSides {
		seen, held := grid(input[:n], output[:n], side), grid(input[n:], output[n:], side)
		for _, w := range gridWeights {
			if gain := likelier(weighted(seen, n, w), held); gain > most {
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

// likelier is how much likelier a pair of held is by a grid than by
// independence, in nats.
func likelier(g, held [][]float64) float64 {
	sum := 0.0
	for i, row := range held {
		for j, x := range row {
			if x > 0 {
				sum += x * math.Log(g[i][j]*float64(len(g)*len(g)))
			}
		}
	}
	return sum
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
