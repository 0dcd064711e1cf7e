package chart

import (
	"math"
	"strconv"
	"strings"
)

// tick is a labelled place of an axis.
type tick struct {
	at    float64 // the value
	label string
}

// ticks returns about most places between the ends of a scale at most, and three
// at least where it can.
func (a Axis) ticks(s scale, most int) []tick {
	const fewest = 3
	at := a.places(s, max(most, 2))
	for more := max(most, 2) + 1; len(at) < fewest && more < 3*fewest; more++ {
		at = a.places(s, more)
	}
	step := s.hi - s.lo
	if len(at) > 1 {
		step = at[1] - at[0]
	}
	out := make([]tick, len(at))
	for i, v := range at {
		if s.log {
			step = v
		}
		out[i] = tick{v, a.label(v, step)}
	}
	return out
}

func (a Axis) places(s scale, most int) []float64 {
	switch {
	case s.log:
		return a.decades(s, most)
	case a.Whole:
		return multiples(s, max(niceStep((s.hi-s.lo)/float64(most)), 1))
	case a.Unit == Seconds && s.hi-s.lo > 2:
		return multiples(s, clockStep((s.hi-s.lo)/float64(most)))
	}
	return multiples(s, niceStep((s.hi-s.lo)/float64(most)))
}

// multiples returns those of a step between the ends of a scale.
func multiples(s scale, step float64) []float64 {
	const most = 100 // of an axis whose ends are closer than numbers of their size can tell
	var out []float64
	slack := (s.hi - s.lo) * 1e-9
	first := math.Ceil((s.lo - slack) / step)
	for k := range most {
		v := (first + float64(k)) * step
		if !(v <= s.hi+slack) {
			break
		}
		if len(out) == 0 || v > out[len(out)-1] {
			out = append(out, v)
		}
	}
	return out
}

// niceStep returns the least of 1, 2 and 5 times a power of ten that is not
// below a width.
func niceStep(width float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(width)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= width*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// clockStep is niceStep for seconds, in the steps of clocks and calendars.
func clockStep(width float64) float64 {
	const minute, hour, day = 60, 3600, 86400
	if width <= 1 {
		return niceStep(width)
	}
	for _, s := range []float64{2, 5, 10, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
		hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day} {
		if s >= width {
			return s
		}
	}
	return day * niceStep(width/day)
}

// decades returns the powers of ten of a log scale (of seconds, the marks of
// clocks), those times 2 and 5 too where there are few, and only every second
// or third where there are many.
func (a Axis) decades(s scale, most int) []float64 {
	for _, factors := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		var at []float64
		for e := math.Floor(math.Log10(s.lo)); e <= math.Ceil(math.Log10(s.hi)); e++ {
			for _, f := range factors {
				at = append(at, f*math.Pow(10, e))
			}
		}
		at = within(s, a.clock(at, factors))
		if len(factors) == 3 && len(at) < 2 { // less than a decade
			step := niceStep((s.hi - s.lo) / float64(most))
			if a.Whole {
				step = max(step, 1)
			}
			return within(s, multiples(s, step))
		}
		if len(at) <= most {
			return at
		}
	}
	at := within(s, a.clock(multiplesOfTen(s), []float64{1}))
	for stride := 2; ; stride++ {
		var some []float64
		for i := 0; i < len(at); i += stride {
			some = append(some, at[i])
		}
		if len(some) <= most {
			return some
		}
	}
}

func multiplesOfTen(s scale) []float64 {
	var at []float64
	for e := math.Floor(math.Log10(s.lo)); e <= math.Ceil(math.Log10(s.hi)); e++ {
		at = append(at, math.Pow(10, e))
	}
	return at
}

// clock puts the marks of clocks in the place of what is above a second.
func (a Axis) clock(at, factors []float64) []float64 {
	if a.Unit != Seconds {
		return at
	}
	var out []float64
	for _, v := range at {
		if v < 10*(1-1e-9) {
			out = append(out, v)
		}
	}
	finer := map[int][]float64{3: {10, 30, 60, 120, 300, 600, 1200, 3600, 7200, 18000, 36000, 86400, 172800, 432000, 864000},
		2: {10, 30, 60, 180, 600, 1800, 3600, 10800, 36000, 86400, 259200, 864000}, 1: {10, 60, 600, 3600, 36000, 86400, 864000}}
	return append(out, finer[len(factors)]...)
}

// within returns those that lie on a scale.
func within(s scale, at []float64) []float64 {
	var out []float64
	for _, v := range at {
		if v >= s.lo*(1-1e-9) && v <= s.hi*(1+1e-9) {
			out = append(out, v)
		}
	}
	return out
}

// label writes a value of an axis whose places are a step apart.
func (a Axis) label(v, step float64) string {
	switch a.Unit {
	case Seconds:
		return seconds(v, step)
	case Share:
		return decimal(100*v, 100*step) + "%"
	}
	return count(v, step)
}

// count writes a number with k, M or G.
func count(v, step float64) string {
	for _, u := range []struct {
		of   float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= u.of*(1-1e-9) {
			return decimal(v/u.of, step/u.of) + u.name
		}
	}
	return decimal(v, step)
}

// seconds writes a duration in the unit of the step.
func seconds(v, step float64) string {
	if v == 0 {
		return "0"
	}
	for _, u := range []struct {
		of   float64
		name string
	}{{86400, " d"}, {3600, " h"}, {60, " min"}, {1, " s"}, {1e-3, " ms"}} {
		if step >= u.of*(1-1e-9) {
			return decimal(v/u.of, step/u.of) + u.name
		}
	}
	return decimal(v/1e-6, step/1e-6) + " µs"
}

// decimal writes a number with as many places as a step needs.
func decimal(v, step float64) string {
	places := 0
	for s := math.Abs(step); places < 9 && s > 0 && math.Abs(s-math.Round(s)) > 1e-6*s; s *= 10 {
		places++
	}
	switch {
	case v == 0:
		return "0"
	case math.Abs(v) >= 1e6, math.Abs(step) < 1e-6: // beyond all units
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	text := strconv.FormatFloat(v, 'f', places, 64)
	return trimZeros(text)
}

// trimZeros cuts zeros behind the point.
func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}
