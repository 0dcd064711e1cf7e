package fit

import (
	"math"
	"time"

	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// curve is a rate, constant in windows, and its integral, the operational time
// in which the arrivals of a log have the unit rate.
type curve struct {
	window float64   // s; the last one may be shorter
	span   float64   // s
	counts []float64 // arrivals in each window
	rate   []float64 // 1/s
	upTo   []float64 // integral up to the start of each window, and the whole
}

// newCurve counts ascending moments, in s from 0 to span, in windows.
func newCurve(at []float64, span, window float64) *curve {
	n := windowCount(span, window)
	c := &curve{window: window, span: span, counts: make([]float64, n), rate: make([]float64, n), upTo: make([]float64, n+1)}
	for _, t := range at {
		c.counts[c.index(t)]++
	}
	for i, k := range c.counts {
		c.rate[i] = k / c.length(i)
		c.upTo[i+1] = c.upTo[i] + k
	}
	return c
}

// windowCount is how many windows it takes to cover a span, both in s.
func windowCount(span, window float64) int {
	return int((int64(duration(span))-1)/int64(math.Round(window*1e9))) + 1
}

func (c *curve) index(t float64) int { return min(int(t/c.window), len(c.counts)-1) }

// length is how long a window is.
func (c *curve) length(i int) float64 {
	return min(float64(i+1)*c.window, c.span) - float64(i)*c.window
}

// operational returns the integral of the rate up to t.
func (c *curve) operational(t float64) float64 {
	i := c.index(t)
	return c.upTo[i] + float64(c.rate[i]*(t-float64(i)*c.window))
}

// logRates is the sum of the logarithms of the rate at every arrival.
func (c *curve) logRates() float64 {
	sum := 0.0
	for i, k := range c.counts {
		if k > 0 {
			sum += k * math.Log(c.rate[i])
		}
	}
	return sum
}

// parameters are the windows' rates.
func (c *curve) parameters() int { return len(c.counts) }

// traffic is the curve as a model has it.
func (c *curve) traffic() traffic.Curve {
	if len(c.rate) == 1 {
		return traffic.Curve{Rate: []float64{round(c.rate[0])}}
	}
	rate := make([]float64, len(c.rate))
	for i, r := range c.rate {
		rate[i] = round(r)
	}
	return traffic.Curve{Window: time.Duration(math.Round(c.window * 1e9)), Rate: rate}
}

// round keeps six significant digits: more are noise, and a model is read by
// people.
func round(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}
