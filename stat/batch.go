package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Autocorrelation returns the lag-1 autocorrelation of a series, corrected for
// its bias in a short one: ρ + (1 + 4ρ)/n (Kendall 1954, Marriott and Pope
// 1954), at most 1. It is 0 for fewer than three values and for a constant series.
func Autocorrelation(series []float64) float64 {
	n := len(series)
	if n < 3 {
		return 0
	}
	mean, _ := MeanSD(series)
	var squares, products float64
	for i, x := range series {
		squares += float64((x - mean) * (x - mean))
		if i > 0 {
			products += float64((x - mean) * (series[i-1] - mean))
		}
	}
	if squares == 0 {
		return 0
	}
	rho := products / squares
	return min(rho+(1+4*rho)/float64(n), 1)
}

// BatchError returns the standard error of the mean of a series of means of
// successive blocks of time, and its degrees of freedom. What neighbouring
// blocks share is taken for a first-order autoregression: variance times
// (1 + ρ)/(1 − ρ), and as many fewer degrees of freedom. ok is false where ρ is above a
// half, since the blocks are then too short to say anything of, and for
// fewer than eight.
func BatchError(blocks []float64) (se, df float64, ok bool) {
	n := float64(len(blocks))
	if n < 8 {
		return 0, 0, false
	}
	rho := max(Autocorrelation(blocks), 0)
	if rho > .5 {
		return 0, 0, false
	}
	_, sd := MeanSD(blocks)
	inflated := (1 + rho) / (1 - rho)
	return sd * math.Sqrt(inflated/n), max(n/inflated-1, 2), true
}

// ShareInterval returns the two-sided interval of a share that was seen with
// standard error se from df degrees of freedom: that of Clopper and Pearson
// for a sample of effective size share·(1 − share)/se², at most n, less what
// not knowing se costs (Korn and Graubard 1998).
func ShareInterval(share, se, df float64, n int, confidence float64) (low, high float64) {
	tail := (1 - confidence) / 2
	effective := float64(n)
	if se > 0 {
		effective = min(effective, share*(1-share)/(se*se))
	}
	t := StudentQuantile(df, 1-tail)
	z := distuv.UnitNormal.Quantile(1 - tail)
	effective *= z * z / (t * t)
	k := effective * share
	low, high = 0, 1
	if k > 0 {
		low = distuv.Beta{Alpha: k, Beta: effective - k + 1}.Quantile(tail)
	}
	if k < effective {
		high = distuv.Beta{Alpha: k + 1, Beta: effective - k}.Quantile(1 - tail)
	}
	return low, high
}

// MeanInterval returns the two-sided interval of a mean with standard error se
// from df degrees of freedom: Student's.
func MeanInterval(mean, se, df, confidence float64) (low, high float64) {
	t := StudentQuantile(df, 1-(1-confidence)/2)
	return mean - t*se, mean + t*se
}

// DetectableShift returns the smallest difference between two independent
// estimates, each with standard error se from df degrees of freedom, that a
// two-sided test with risk alpha finds with the given power.
func DetectableShift(se, df, alpha, power float64) float64 {
	return math.Sqrt2 * se * (StudentQuantile(2*df, 1-alpha/2) + StudentQuantile(2*df, power))
}

// MeanAbove returns the one-sided p-value of "the mean is at most zero" for a
// mean with standard error se from df degrees of freedom.
func MeanAbove(mean, se, df float64) float64 {
	return StudentAbove(df, mean/se)
}

// DetectableMean returns the smallest mean above zero, with standard error se
// from df degrees of freedom, that a one-sided test with risk alpha finds with
// the given power.
func DetectableMean(se, df, alpha, power float64) float64 {
	return se * (StudentQuantile(df, 1-alpha) + StudentQuantile(df, power))
}
