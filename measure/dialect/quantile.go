package dialect

import (
	"iter"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
)

// quantile is how a tool takes percentiles: between two ranks of the sorted
// values, or by weights.
type quantile struct {
	// ranks returns the ranks (1 is the smallest) of n values between which the
	// q-quantile lies, and how far from the lower to the upper.
	ranks func(n int, q float64) (lower, upper int, between float64)
	// weighted takes it of values in ascending order with their weights instead.
	weighted func(values, weights []float64, q float64) float64
}

func nearestRank() quantile {
	return quantile{ranks: func(n int, q float64) (int, int, float64) {
		k := stat.Rank(n, q)
		return k, k, 0
	}}
}

// linear is numpy's default: at q·(n − 1), counted from 0, between neighbours.
func linear() Rule[quantile] {
	return Rule[quantile]{"percentiles lie between two neighbours, in proportion (numpy)", quantile{ranks: func(n int, q float64) (int, int, float64) {
		at := q * float64(n-1)
		low := math.Floor(at)
		return int(low) + 1, min(int(low)+2, n), at - low
	}}}
}

// truncated is sorted[int(n·q)], counted from 0.
func truncated() Rule[quantile] {
	return Rule[quantile]{"percentiles are sorted[int(n·p)], counted from 0: one rank above the nearest", quantile{ranks: func(n int, q float64) (int, int, float64) {
		k := min(int(float64(n)*q)+1, n)
		return k, k, 0
	}}}
}

// ceiling is sorted[⌈n·p/100⌉ − 1], p in percent.
func ceiling() Rule[quantile] {
	return Rule[quantile]{"percentiles are nearest ranks", quantile{ranks: func(n int, q float64) (int, int, float64) {
		k := min(max(int(math.Ceil(float64(n)*math.Round(q*1e4)/1e2/100)), 1), n)
		return k, k, 0
	}}}
}

// cumulative is the first value whose cumulated weight reaches the share, with
// the roundings of a running sum in float64.
func cumulative() Rule[quantile] {
	return Rule[quantile]{"percentiles are nearest ranks of values weighted by tokens", quantile{weighted: func(values, weights []float64, q float64) float64 {
		var total float64
		for _, w := range weights {
			total += w
		}
		var reached, merged float64
		for i, v := range values {
			merged += weights[i]
			if i+1 < len(values) && values[i+1] == v {
				continue // equal values are one step
			}
			reached += merged / total
			merged = 0
			if reached >= q {
				return v
			}
		}
		return values[len(values)-1]
	}}}
}

// sample is the values behind one metric: one a request, with weights where
// the tool has them, or pooled gaps that can be walked repeatedly.
type sample struct {
	values, weights []float64
	weighted        bool // some weight is not 1
	pool            iter.Seq[[]float64]
	n               int
	sum, total, max float64
}

func (s *sample) add(v, w float64) {
	if w == 0 {
		return
	}
	s.values = append(s.values, v)
	s.weights = append(s.weights, w)
	s.weighted = s.weighted || w != 1
	s.count(v, w)
}

func (s *sample) count(v, w float64) {
	if s.n == 0 || v > s.max {
		s.max = v
	}
	s.n++
	s.sum += v * w
	s.total += w
}

func (s *sample) mean() float64 {
	if s.n == 0 {
		return nan()
	}
	return s.sum / s.total
}

// quantiles returns the q-quantiles by a tool's rule; NaN of nothing.
func (s *sample) quantiles(rule quantile, qs []float64) []float64 {
	out := make([]float64, len(qs))
	switch {
	case s.n == 0:
		for i := range out {
			out[i] = nan()
		}
	case rule.weighted != nil && s.pool != nil: // pooled gaps have no weights
		s.choose(nearestRank(), qs, out)
	case rule.weighted != nil:
		s.order()
		for i, q := range qs {
			out[i] = rule.weighted(s.values, s.weights, q)
		}
	default:
		s.choose(rule, qs, out)
	}
	return out
}

func (s *sample) choose(rule quantile, qs, out []float64) {
	var ranks []int
	for _, q := range qs {
		lower, upper, _ := rule.ranks(s.n, q)
		ranks = append(ranks, lower, upper)
	}
	walk := s.pool
	if walk == nil {
		walk = stat.Batch(s.values)
	}
	values := stat.Select(walk, s.n, ranks)
	for i, q := range qs {
		_, _, between := rule.ranks(s.n, q)
		low, high := values[2*i], values[2*i+1]
		out[i] = low + float64((high-low)*between) // the conversion keeps arm64 from fusing
	}
}

// order sorts the values, each with its weight.
func (s *sample) order() {
	if !s.weighted {
		slices.Sort(s.values)
		return
	}
	at := make([]int, len(s.values))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int {
		switch {
		case s.values[i] < s.values[j]:
			return -1
		case s.values[i] > s.values[j]:
			return 1
		}
		return 0
	})
	values, weights := make([]float64, len(at)), make([]float64, len(at))
	for k, i := range at {
		values[k], weights[k] = s.values[i], s.weights[i]
	}
	s.values, s.weights = values, weights
}
