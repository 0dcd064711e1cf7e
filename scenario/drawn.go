package scenario

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/stat"
)

// lengths reads a distribution of whole numbers from 1 on. What a family draws
// outside is moved to the bound; what is outside by its own parameters is an error.
func (r *resolver) lengths(id, unit string, most int64) stat.Distribution {
	d := r.distribution(id, stat.ParseDistribution)
	switch {
	case d == nil:
	case !(least(d) >= 1):
		r.fail(r.set[id].expected("at least 1 " + unit))
	case named(d) > float64(most):
		r.fail(r.set[id].expected(fmt.Sprintf("at most %s %ss", measure.Count(most), unit)))
	}
	return d
}

// patience reads after how long users give up.
func (r *resolver) patience() stat.Distribution {
	const id = "workload.patience"
	d := r.distribution(id, stat.ParseDurations)
	if d != nil && !(least(d) >= 0 && d.Mean() > 0) {
		r.fail(r.set[id].expected("a patience above 0, such as 10s or exp:mean=20s"))
	}
	return d
}

// pause reads a distribution of pauses.
func (r *resolver) pause(id string) stat.Distribution {
	d := r.distribution(id, stat.ParseDurations)
	if d != nil && !(least(d) >= 0) {
		r.fail(r.set[id].expected("a pause of 0 or more, such as 2s or exp:mean=2s"))
	}
	return d
}

// some reads a distribution of how much of something there is; nil where that
// is none, always.
func (r *resolver) some(id string, parse func(string) (stat.Distribution, error), most float64, what string) stat.Distribution {
	d := r.distribution(id, parse)
	switch {
	case d == nil:
	case !(least(d) >= 0 && named(d) <= most):
		r.fail(r.set[id].expected(what))
	case least(d) == 0 && named(d) == 0:
		return nil
	}
	return d
}

// within reads a whole number with a bound at either end.
func (r *resolver) within(id string, otherwise, least, most int64) int64 {
	n := r.whole(id, otherwise, least)
	if n > most {
		r.fail(r.set[id].expected(fmt.Sprintf("a whole number of at most %d", most)))
	}
	return n
}

// least is the smallest value that a distribution names, its mean where it
// names none.
func least(d stat.Distribution) float64 {
	switch d := bare(d).(type) {
	case stat.Uniform:
		return d.Low
	case stat.Quantiles:
		return d.Value[0]
	case stat.Values:
		return d.Quantile(0)
	case stat.Clamped:
		return min(max(least(d.Of), d.Low), d.High)
	}
	return d.Mean()
}

// named is the largest value that a distribution names, its mean where it names
// none.
func named(d stat.Distribution) float64 {
	switch d := bare(d).(type) {
	case stat.Uniform:
		return d.High
	case stat.Quantiles, stat.Values:
		return d.Quantile(1)
	case stat.Clamped:
		return min(max(named(d.Of), d.Low), d.High)
	}
	if m := d.Mean(); !math.IsInf(m, 1) {
		return m
	}
	return 0 // a tail without a mean is held to its bounds as it is drawn
}

// bare is a distribution without what keeps its spelling.
func bare(d stat.Distribution) stat.Distribution {
	if u, ok := d.(interface{ Unwrap() stat.Distribution }); ok {
		return u.Unwrap()
	}
	return d
}

// longest is the longest load, and the longest of any other time.
const longest = 10 * 365 * 24 * time.Hour

// together refuses what has no effect beside something else, in the words of
// both.
func (r *resolver) together(id, why string, args ...any) {
	if v, ok := r.set[id]; ok {
		r.fail(v.errorf("%s %s", word(id), strings.TrimSpace(fmt.Sprintf(why, args...))))
	}
}
