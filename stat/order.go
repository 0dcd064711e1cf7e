package stat

import "math"

// Quantile returns the q-quantile of ascending values by nearest rank: the
// smallest value with at least the share q of all values at or below it.
// There must be at least one value, and q be in (0, 1].
func Quantile(ascending []int64, q float64) int64 {
	rank := int(math.Ceil(q * float64(len(ascending))))
	return ascending[min(max(rank, 1), len(ascending))-1]
}
