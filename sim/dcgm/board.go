package dcgm

import (
	"math"
	"sync"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/hardware"
)

// window is over what activities are averaged, in ns: readings are those of the
// last whole one.
const window int64 = 1e9

// lag is the time constant of the temperature, in windows.
const lag = 30

// Config describes the accelerators of an engine.
type Config struct {
	Setup     hardware.Setup
	Blocks    int64  // of the KV cache
	BlockSize int64  // tokens
	Replicas  int    // that share the timer, on devices of their own; 0: one
	Seed      uint64 // of serial numbers
	// Leaked, where set, is the share from 0 to 1 of what is free at the start
	// that leaks have taken by a moment.
	Leaked func(at int64) float64
}

// Board watches the work of one engine's accelerators. They are all told to do
// the same: with replicas, what these do in the mean.
// Readings may be taken from any goroutine.
type Board struct {
	cfg   Config
	timer core.StepTimer
	work  work
	facts facts
	slice slice

	mu      sync.Mutex
	index   int64      // window under way
	pending []interval // steps that reach into it or later ones
	last    Activity   // of the window before
	heat    float64    // °C above rest
	joules  float64    // up to the window under way
}

// interval is the time of a step, ns.
type interval struct {
	from, to int64
	activity Activity
}

// Activity is a share of time or of a peak, from 0 to 1.
type Activity struct{ Engine, SM, Tensor, DRAM float64 }

// NewBoard returns a board that asks timer for step times.
func NewBoard(cfg Config, timer core.StepTimer) *Board {
	return &Board{cfg: cfg, timer: timer, work: newWork(&cfg.Setup), facts: factsOf(&cfg.Setup.GPU), slice: sliceOf(cfg.Setup.GPU.Name)}
}

var _ core.StepTimer = (*Board)(nil)

// StepTime is called on the engine's loop when a step begins. A step counts as
// active for its own time; what a fault adds to it counts as idle.
func (b *Board) StepTime(s *core.Step) int64 {
	d := b.timer.StepTime(s)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.roll(s.Start)
	b.pending = append(b.pending, interval{s.Start, s.Start + d, b.work.of(s, d)})
	return d
}

// roll closes the windows that end before now.
func (b *Board) roll(now int64) {
	for k := now / window; b.index < k; {
		n := int64(1)
		if len(b.pending) == 0 {
			n = k - b.index
		}
		b.close(n)
	}
}

// close ends the window under way and, where nothing is pending, n − 1 idle
// ones after it.
func (b *Board) close(n int64) {
	from, to := b.index*window, (b.index+1)*window
	b.last = Activity{}
	left := b.pending[:0]
	for _, p := range b.pending {
		if shared := min(p.to, to) - max(p.from, from); shared > 0 {
			b.last = b.last.plus(p.activity, float64(shared)/float64(window)/float64(max(b.cfg.Replicas, 1)))
		}
		if p.to > to {
			left = append(left, p)
		}
	}
	b.pending = left
	b.last = Activity{clamp(b.last.Engine), clamp(b.last.SM), clamp(b.last.Tensor), clamp(b.last.DRAM)} // sums of shares are rounded
	b.index += n
	power := b.power(b.last)
	b.joules += power * float64(n)
	end := b.warmth(power)
	b.heat = end + (b.heat-end)*math.Exp(-float64(n)/lag)
}

func (a Activity) plus(x Activity, weight float64) Activity {
	a.Engine += x.Engine * weight
	a.SM += x.SM * weight
	a.Tensor += x.Tensor * weight
	a.DRAM += x.DRAM * weight
	return a
}

// Reading is what is known of each accelerator at one moment.
type Reading struct {
	Activity
	Total, Used float64 // bytes of memory
	// Watts, WattLimit, Celsius and Joules are of the whole device, and absent
	// (NaN) where its board power is not known.
	Watts, WattLimit, Celsius, Joules float64
}

// Read returns the reading at a moment of the engine's clock.
func (b *Board) Read(now int64) Reading {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.roll(now)
	r := Reading{Activity: b.last, Total: float64(b.cfg.Setup.GPU.Memory), Used: b.memory(now),
		Watts: math.NaN(), WattLimit: math.NaN(), Celsius: math.NaN(), Joules: math.NaN()}
	if b.facts.watts > 0 {
		r.Watts, r.WattLimit = b.power(b.last), b.facts.watts
		r.Celsius = rest + b.heat
		r.Joules = b.joules + b.power(b.last)*float64(now%window)/float64(window)
	}
	return r
}
