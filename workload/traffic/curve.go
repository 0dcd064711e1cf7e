package traffic

import (
	"math"
	"time"
)

// unit is one session in the fixed-point numbers of operational time: sums of
// gaps in them are exact, whatever the order.
const unit = 1 << 32

// walk goes along a rate curve, window by window, and carries operational time
// to real time: at a moment the integral of the rate up to there. The curve
// begins again after each period.
type walk struct {
	rate    []float64 // sessions/s
	window  int64     // ns
	period  int64     // ns
	factor  float64
	windows int64 // of a period

	number     int64 // of the present window, from 0, never beginning again
	start, end int64 // of it, in ns
	base       uint64
	width      uint64 // of it, in operational time
}

func newWalk(c Curve, period time.Duration, factor float64) walk {
	w := walk{rate: c.Rate, window: int64(c.Window), period: int64(period), factor: factor, windows: int64(len(c.Rate))}
	if w.window <= 0 || w.window > w.period {
		w.window = w.period
	}
	w.enter()
	return w
}

// enter sets the present window's bounds.
func (w *walk) enter() {
	cycle, i := w.number/w.windows, w.number%w.windows
	w.start = cycle*w.period + i*w.window
	w.end = min(w.start+w.window, (cycle+1)*w.period)
	w.width = operational(w.rate[i], w.factor, w.end-w.start)
}

// operational returns how many sessions are expected in a time.
func operational(rate, factor float64, ns int64) uint64 {
	return uint64(math.Floor(float64(float64(float64(rate*factor)*(float64(ns)/1e9))*unit) + 0.5))
}

// next moves to the window after the present one.
func (w *walk) next() {
	w.base += w.width
	w.number++
	w.enter()
}

// moment returns the real time at which the present window reaches x, which
// lies in it.
func (w *walk) moment(x uint64) int64 {
	part := float64(x-w.base) / float64(w.width)
	return w.start + int64(math.Floor(float64(part*float64(w.end-w.start))+0.5))
}

// index is the present window's among the curve's.
func (w *walk) index() int64 { return w.number % w.windows }

// sessions is the number of sessions that a curve comes to in a time from its
// beginning, scaled by nothing.
func (c Curve) sessions(period, d time.Duration) float64 {
	w := newWalk(c, period, 1)
	whole := 0.0
	for i := range c.Rate {
		whole += c.Rate[i] * float64(w.end-w.start) / 1e9
		w.next()
	}
	cycles := d / period
	sum := float64(cycles) * whole
	rest := int64(d - cycles*period)
	w = newWalk(c, period, 1)
	for i := range c.Rate {
		if w.start < rest {
			sum += c.Rate[i] * float64(min(w.end, rest)-w.start) / 1e9
		}
		w.next()
	}
	return sum
}

// at returns the rate at a moment of the first period.
func (c Curve) at(ns int64) float64 {
	if c.Window <= 0 {
		return c.Rate[0]
	}
	return c.Rate[min(int(ns/int64(c.Window)), len(c.Rate)-1)]
}
