package self

import (
	"sync"
	"time"

	"github.com/tokamak-bench/tokamak/probe"
	"github.com/tokamak-bench/tokamak/record"
)

// Config says what to read and how often. Its zero value is the usual one.
type Config struct {
	Every  time.Duration // between readings; 0 means one second
	Tick   time.Duration // of the watch for standstill; 0 means 20 ms
	Late   time.Duration // a tick this late is a standstill; 0 means 100 ms
	Proc   string        // root of /proc
	Cgroup string        // root of /sys/fs/cgroup
	Worker string        // name of this process in a run of several
}

func (c Config) filled() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&c.Every, time.Second)
	def(&c.Tick, 20*time.Millisecond)
	def(&c.Late, 100*time.Millisecond)
	if c.Proc == "" {
		c.Proc = "/proc"
	}
	if c.Cgroup == "" {
		c.Cgroup = "/sys/fs/cgroup"
	}
	return c
}

// Probe watches the process that it runs in.
type Probe struct {
	cfg   Config
	clock probe.Clock
	sink  probe.Sink
	from  []source

	last int64 // moment of the last reading
	stop chan struct{}
	all  sync.WaitGroup
	mu   sync.Mutex
	err  error
}

// source reads some quantities; what it cannot read it leaves out.
type source interface {
	read(r *round)
}

// round is one reading of all sources.
type round struct {
	elapsed float64 // ns since the last one; 0 in the first, which only sets counters
	emit    func(name string, value float64)
}

// gauge emits the reading of a quantity that has a value at every moment.
func (r *round) gauge(name string, value float64) {
	if r.elapsed > 0 {
		r.emit(name, value)
	}
}

// counter turns a total into what was added since the last round.
type counter struct {
	last float64
	seen bool
}

// add emits the growth of a total, times scale.
func (c *counter) add(r *round, name string, total, scale float64) {
	if c.seen && r.elapsed > 0 && total >= c.last {
		r.emit(name, (total-c.last)*scale)
	}
	c.last, c.seen = total, true
}

// rate emits the growth of a total in ns per ns: how many at once, on average.
func (c *counter) rate(r *round, name string, total float64) {
	if r.elapsed > 0 {
		c.add(r, name, total, 1/r.elapsed)
	} else {
		c.add(r, name, total, 0)
	}
}

// New returns a probe that is not started yet.
func New(c probe.Clock, sink probe.Sink, cfg Config) *Probe {
	cfg = cfg.filled()
	return &Probe{cfg: cfg, clock: c, sink: sink, stop: make(chan struct{}), from: []source{
		&usage{}, newGoRuntime(), newProcess(cfg.Proc), &machine{proc: cfg.Proc}, newThrottle(cfg.Proc, cfg.Cgroup)}}
}

// Start reads the counters once and begins to watch.
func (p *Probe) Start() {
	p.last = p.clock.Now()
	p.round(0)
	p.all.Go(p.sample)
	p.all.Go(p.watch)
}

// Stop ends the watching with a last reading and returns the first error of
// the sink.
func (p *Probe) Stop() error {
	close(p.stop)
	p.all.Wait()
	p.read()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *Probe) sample() {
	t := time.NewTicker(p.cfg.Every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			p.read()
		case <-p.stop:
			return
		}
	}
}

// read takes one round, unless no time has passed.
func (p *Probe) read() {
	now := p.clock.Now()
	elapsed := now - p.last
	if elapsed <= 0 {
		return
	}
	p.last = now
	p.round(elapsed)
}

func (p *Probe) round(elapsed int64) {
	s := record.Sample{At: p.last, Worker: p.cfg.Worker, Probe: "self"}
	r := &round{elapsed: float64(elapsed), emit: func(name string, value float64) {
		s.Name, s.Unit, s.Value = name, unitOf(name), value
		p.note(p.sink.Sample(s))
	}}
	for _, f := range p.from {
		f.read(r)
	}
}

func (p *Probe) note(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}
