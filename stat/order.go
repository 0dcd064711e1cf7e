package stat

import (
	"cmp"
	"math"
)

// Rank returns the nearest rank of the q-quantile of n values: the smallest
// k in 1..n with k/n ≥ q, both sides rounded to float64 once, so that p99 of
// 100 values is the 99th and never the 100th by a rounding error.
// n must be at least 1 and q be in (0, 1].
func Rank(n int, q float64) int {
	k := min(max(int(math.Ceil(q*float64(n))), 1), n)
	for k > 1 && float64(k-1)/float64(n) >= q {
		k--
	}
	for k < n && float64(k)/float64(n) < q {
		k++
	}
	return k
}

// Quantile returns the q-quantile of ascending values by nearest rank: the
// smallest value with at least the share q of all values at or below it.
// There must be at least one value, and q be in (0, 1].
func Quantile[T cmp.Ordered](ascending []T, q float64) T {
	return ascending[Rank(len(ascending), q)-1]
}
