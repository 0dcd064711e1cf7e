package calibration

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/wire"
)

// Decoder reads a stream's events as a run does, so that the cost of an event
// has everything in it.
type Decoder interface{ Segment(s *wire.Segment) }

// Options say how to calibrate.
type Options struct {
	Server  []string // command that calls [Serve] until its standard input ends
	Machine Machine
	// Decoder makes the decoder of a stream; nil: events are read and dropped.
	Decoder func() Decoder
	// Progress hears what is being measured; nil: nobody does.
	Progress func(what string)
	// Short measures for a fraction of the time, to try that it works.
	Short bool
}

// times are how long things are looked at.
type times struct {
	floor, warm, window time.Duration
	lagRate             int // requests/s
	streams             []int
	gaps                []time.Duration // of the saturating trial, from slow to fast
}

func (o *Options) times() times {
	t := times{floor: 1500 * time.Millisecond, warm: 500 * time.Millisecond, window: 800 * time.Millisecond, lagRate: 250,
		streams: []int{64, 512, 2000},
		gaps:    []time.Duration{40e6, 20e6, 14e6, 10e6, 7e6, 5e6, 3.5e6, 2.5e6}}
	if o.Short {
		t.floor, t.warm, t.window, t.streams, t.gaps = 300e6, 100e6, 150e6, []int{8, 16}, []time.Duration{20e6}
	}
	return t
}

// usualGap is the time between two events of a stream where the rate is not
// what is tried: 50 tokens/s for each user.
const usualGap = 20 * time.Millisecond

// Run calibrates. It takes some seconds and all of the machine.
func Run(ctx context.Context, o Options) (*Result, error) {
	began := time.Now()
	server, err := startChild(ctx, o.Server)
	if err != nil {
		return nil, exit.With(exit.Target, err)
	}
	busy0, known := machineBusy()
	own0, _ := cpuTime()
	r, err := measure(ctx, &o, server)
	busy1, _ := machineBusy()
	own1, _ := cpuTime()
	if err = errors.Join(err, server.close()); err != nil {
		return nil, exit.With(exit.Target, err)
	}
	if known {
		ours := float64(own1-own0) + float64(server.cmd.ProcessState.SystemTime()+server.cmd.ProcessState.UserTime())
		others := max(0, busy1-busy0-ours) / float64(time.Since(began))
		r.Others = &others
	}
	r.Schema, r.Machine, r.At = Schema, o.Machine, began.UTC().Truncate(time.Second)
	r.Seconds = time.Since(began).Round(100 * time.Millisecond).Seconds()
	return r, nil
}

func measure(ctx context.Context, o *Options, server *child) (*Result, error) {
	run := clock.NewReal()
	defer run.Close()
	d := &driver{opt: o, times: o.times(), server: server, clock: run}
	if n, ok := descriptors(); ok {
		d.most = max(1, n/2-32)
	}
	r := &Result{}
	if err := d.floor(ctx, r); err != nil {
		return nil, err
	}
	for _, n := range d.times.streams {
		if err := d.cost(ctx, r, n); err != nil {
			return nil, err
		}
	}
	return r, d.saturate(ctx, r)
}

// driver carries out the trials, each over a transport of its own.
type driver struct {
	opt    *Options
	times  times
	server *child
	clock  *clock.Real
	most   int // streams that the limit of open files allows; 0: unknown
}

func (d *driver) tell(format string, args ...any) {
	if d.opt.Progress != nil {
		d.opt.Progress(fmt.Sprintf(format, args...))
	}
}

// floor finds how late requests leave and how true stamps are while the
// machine has little to do.
func (d *driver) floor(ctx context.Context, r *Result) error {
	d.tell("schedule lag and stamps, 32 streams")
	t, err := d.begin(ctx, 32, usualGap)
	if err != nil {
		return err
	}
	defer t.close()
	r.ScheduleLag, err = d.lag(ctx, t)
	if err != nil {
		return err
	}
	stats := t.stats()
	r.ReadDelay = delays(&stats.Delay)
	t.end()
	r.StampNoise = spread(t.noise())
	if r.StampNoise.Count == 0 {
		return errors.New("the paced server's events did not arrive")
	}
	return nil
}

// lag sends requests on an absolute schedule and returns how late they left.
func (d *driver) lag(ctx context.Context, t *trial) (Spread, error) {
	n := int(d.times.floor.Seconds() * float64(d.times.lagRate))
	u := d.server.base.JoinPath("once")
	if w, ok := t.transport.(wire.Warmer); ok {
		if err := w.Warm(ctx, u, 16); err != nil {
			return Spread{}, err
		}
	}
	all := make([]once, n)
	for i := range all {
		all[i].done = make(chan struct{})
		all[i].x.Reset(&wire.Request{Method: "POST", URL: u, Limits: wire.Limits{Total: time.Minute}}, &all[i])
	}
	intended := make([]int64, n)
	unpin, _ := d.clock.Lead()
	start := d.clock.Now() + int64(10*time.Millisecond)
	for i := range all {
		intended[i] = start + int64(i)*int64(time.Second)/int64(d.times.lagRate)
		d.clock.Wait(intended[i])
		t.transport.Start(&all[i].x)
	}
	unpin()
	late := make([]int64, 0, n)
	for i := range all {
		<-all[i].done
		if x := &all[i].x; x.Cause != wire.Completed {
			return Spread{}, fmt.Errorf("the paced server: %v (%w)", x.Cause, x.Err)
		}
		late = append(late, all[i].x.WriteStart-intended[i])
	}
	return spread(late), nil
}

// once is an exchange without a stream.
type once struct {
	x    wire.Exchange
	done chan struct{}
}

// Segment drops the answer.
func (*once) Segment(*wire.Exchange, *wire.Segment) {}

// Ended tells that it came.
func (o *once) Ended(*wire.Exchange) { close(o.done) }

// allowed is a number of streams within the limit of open files.
func (d *driver) allowed(n int) int {
	if d.most > 0 {
		return min(n, d.most)
	}
	return n
}

// cost finds what an event costs at n streams.
func (d *driver) cost(ctx context.Context, r *Result, n int) error {
	if d.allowed(n) < n {
		return nil // nothing is said of what was not tried
	}
	d.tell("CPU for each event, %d streams", n)
	before, known := residentBytes()
	t, err := d.begin(ctx, n, usualGap)
	if err != nil {
		return err
	}
	defer t.close()
	w, err := t.watch(ctx)
	if err != nil {
		return err
	}
	if after, ok := residentBytes(); ok && known {
		each := max(0, after-before) / float64(n)
		r.StreamBytes = &each // the last one's, of the most streams, counts
	}
	c := Cost{Streams: n, EventsPerS: w.events / w.seconds, CoalescedPct: 100 * w.coalesced}
	if w.cpu > 0 && w.events > 0 {
		each := w.cpu / w.events / 1e3
		by := d.opt.Machine.cores() * 1e6 / each
		c.CPUPerEvent, c.ByCPU = &each, &by
	}
	r.Costs = append(r.Costs, c)
	return nil
}

// saturate raises the rate until the client, or the server beside it, no
// longer keeps up.
func (d *driver) saturate(ctx context.Context, r *Result) error {
	n := d.allowed(d.times.streams[len(d.times.streams)-1])
	r.Carried.Streams = n
	for _, gap := range d.times.gaps {
		asked := float64(n) / gap.Seconds()
		d.tell("%s events/s, %d streams", grouped(asked), n)
		t, err := d.begin(ctx, n, gap)
		if err != nil {
			return err
		}
		w, err := t.watch(ctx)
		t.close()
		if err != nil {
			return err
		}
		if limit := w.limit(asked, gap); limit != "" {
			r.Carried.Refused, r.Carried.Limit = asked, limit
			return nil
		}
		r.Carried.EventsPerS = w.events / w.seconds
	}
	return nil
}
