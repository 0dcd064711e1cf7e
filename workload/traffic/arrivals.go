package traffic

import (
	"math/rand/v2"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// arrivals are the session starts of one client, in order.
type arrivals struct {
	walk
	process Process
	cv      []float64
	present float64 // the CV in force
	gamma   stat.Gamma
	weibull stat.Weibull
	chain   *chain

	stop   int64 // ns: nothing comes at or after it
	begins *stat.Keyed
	gaps   *stat.Keyed
	index  uint64 // of the pending start
	next   uint64 // its operational time
	at     int64  // its moment
}

// newArrivals begins a client's process in its equilibrium: as if it had been
// going on before, so that in every stretch as many are expected as the rate
// says.
func newArrivals(c *Client, period time.Duration, factor float64, stop time.Duration, seed uint64) *arrivals {
	a := &arrivals{walk: newWalk(c.Rate, period, factor), process: c.Arrival.Process, cv: c.Arrival.CV, stop: int64(stop),
		begins: stat.NewKeyed(seed, "begin"), gaps: stat.NewKeyed(seed, "arrival")}
	if a.process == MarkovGaps {
		var rest float64
		a.chain, rest = newChain(c.Arrival.Markov, a.begins.At(0))
		a.next = fixed(rest)
		return a
	}
	a.shape(a.cvOf(a.windowWithRate()))
	a.next = fixed(a.residual(a.begins.At(0)))
	return a
}

// fixed converts a gap to operational time.
func fixed(gap float64) uint64 { return uint64(min(max(float64(gap*unit), 0), 1<<60)) }

// windowWithRate is the first window that has one.
func (a *arrivals) windowWithRate() int64 {
	for i, r := range a.rate {
		if r > 0 {
			return int64(i)
		}
	}
	return 0
}

func (a *arrivals) cvOf(window int64) float64 {
	switch len(a.cv) {
	case 0:
		return 1
	case 1:
		return a.cv[0]
	}
	return a.cv[window]
}

// shape takes a CV into force.
func (a *arrivals) shape(cv float64) {
	a.present = cv
	switch a.process {
	case Gamma:
		a.gamma = stat.Gamma{Average: 1, CV: cv}
	case Weibull:
		a.weibull = stat.WeibullOf(1, cv)
	}
}

// gap draws a gap of mean 1.
func (a *arrivals) gap(r *rand.Rand) float64 {
	switch a.process {
	case Constant:
		return 1
	case Gamma:
		return a.gamma.Sample(r)
	case Weibull:
		return a.weibull.Sample(r)
	case MarkovGaps:
		return a.chain.gap(r)
	}
	return stat.Exponential{Average: 1}.Sample(r)
}

// residual draws what is left of the gap that a moment falls in.
func (a *arrivals) residual(r *rand.Rand) float64 {
	switch a.process {
	case Constant:
		return r.Float64()
	case Gamma:
		return a.gamma.Residual(r)
	case Weibull:
		return a.weibull.Residual(r)
	}
	return stat.Exponential{Average: 1}.Sample(r)
}

// most bounds the sessions of one client.
const most = 1 << 30

// find puts the pending start's moment into at; false when there is none any
// more. Where another CV comes into force, the process begins anew, in its
// equilibrium.
func (a *arrivals) find() bool {
	for a.next >= a.base+a.width || a.width == 0 {
		a.walk.next()
		if a.start >= a.stop || a.base > most*unit {
			return false
		}
		if len(a.cv) < 2 || a.width == 0 {
			continue
		}
		if cv := a.cv[a.walk.index()]; cv != a.present {
			a.shape(cv)
			a.next = a.base + fixed(a.residual(a.begins.At(uint64(a.number)+1)))
		}
	}
	a.at = a.moment(a.next)
	return a.at < a.stop
}

// take moves to the start after the pending one.
func (a *arrivals) take() {
	a.index++
	a.next += fixed(a.gap(a.gaps.At(a.index)))
}
