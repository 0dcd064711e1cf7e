package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// Alpha is the risk of a wrong verdict that a claim on a share may carry.
const Alpha = 0.01

// AtMost returns P(Bin(n, q) ≤ k), by the regularised incomplete beta function.
func AtMost(n, k int, q float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-q)
}

// AtLeast returns P(Bin(n, q) ≥ k).
func AtLeast(n, k int, q float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), q)
}

// Claim is the verdict on "at most share q is over".
type Claim int

// The verdicts of a claim; a higher one is worse.
const (
	Pass Claim = iota
	Inconclusive
	Fail
)

// String returns pass, inconclusive or fail.
func (c Claim) String() string { return [...]string{"pass", "inconclusive", "fail"}[c] }

// EarlyStopping judges the claim that at most the share q = 1 − p of requests
// is over a limit, after n of them with over being so: MLPerf LoadGen's rule
// with the given risk on either side ([Alpha] where it is looked at once). needed is
// how many more, all under, the claim takes to pass (0 where it does); nil
// where over/n ≥ q, since then the observed share itself denies it.
func EarlyStopping(n, over int, p, risk float64) (verdict Claim, needed *int) {
	q := complement(p)
	if n <= 0 {
		more := Sample(0, p, risk)
		return Inconclusive, &more
	}
	if AtMost(n, over, q) < risk {
		return Pass, new(int)
	}
	verdict = Inconclusive
	if AtLeast(n, over, q) < risk {
		verdict = Fail
	}
	if float64(over)/float64(n) >= q {
		return verdict, nil
	}
	more := Sample(over, p, risk) - n
	return verdict, &more
}

// complement returns 1 − p without the rounding error that would make a share
// of exactly 0.01 less than that of a p99.
func complement(p float64) float64 { return math.Round((1-p)*1e12) / 1e12 }

// Sample returns the smallest n at which a claim for percentile p with the
// given number over passes at the given risk.
func Sample(over int, p, risk float64) int {
	q := complement(p)
	low, high := over, over+1 // at low it does not pass
	for AtMost(high, over, q) >= risk {
		low, high = high, 2*high
	}
	for low+1 < high {
		if mid := low + (high-low)/2; AtMost(mid, over, q) < risk {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// ClopperPearson returns the exact two-sided interval of a share of which k in
// n were seen, with the given confidence in (0, 1). Of nothing it is [0, 1].
func ClopperPearson(n, k int, confidence float64) (low, high float64) {
	tail := (1 - confidence) / 2
	return shareBelow(n, k, tail), ShareAbove(n, k, 1-tail)
}

// ShareAbove returns the exact one-sided upper bound of a share of which k in
// n were seen, with the given confidence.
func ShareAbove(n, k int, confidence float64) float64 {
	if k >= n {
		return 1
	}
	return distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(confidence)
}

func shareBelow(n, k int, tail float64) float64 {
	if k <= 0 {
		return 0
	}
	return distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
}

// Effective returns the sample that n dependent observations of which over are
// over are worth at design effect deff: ⌊n/deff⌋ and ⌈over/deff⌉.
func Effective(n int, over, deff float64) (int, int) {
	return int(math.Floor(float64(n) / deff)), int(math.Ceil(over / deff))
}
