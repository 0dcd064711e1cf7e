package calibration

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"net/url"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/tokamak-bench/tokamak/wire"
)

// trial is a number of streams being read.
type trial struct {
	d         *driver
	transport wire.Transport
	streams   []*stream
	ended     sync.WaitGroup
	over      bool
}

// stream is one exchange; what it keeps belongs to the worker that serves it.
type stream struct {
	x       wire.Exchange
	trial   *trial
	epoch   int64 // of the run's clock, ns of the civil clock
	decoder Decoder
	late    []int64 // stamps less the server's moments of sending
}

// keptNoise is how many stamps a stream compares at most.
const keptNoise = 2000

// Segment compares the events' stamps with what the server wrote into them.
func (s *stream) Segment(_ *wire.Exchange, seg *wire.Segment) {
	if len(s.late) < keptNoise && len(s.trial.streams) <= 64 {
		for _, e := range seg.Events {
			if sent, ok := sentAt(seg.Data[e.Start:e.End]); ok && e.Flags == 0 {
				s.late = append(s.late, e.At+s.epoch-sent)
			}
		}
	}
	if s.decoder != nil {
		s.decoder.Segment(seg)
	}
}

// Ended counts the end.
func (s *stream) Ended(*wire.Exchange) { s.trial.ended.Done() }

// sentAt reads an event's stamp of its sending.
func sentAt(event []byte) (int64, bool) {
	i := bytes.LastIndex(event, []byte(sentKey))
	if i < 0 || len(event) < i+len(sentKey)+sentDigits {
		return 0, false
	}
	i += len(sentKey)
	ns, err := strconv.ParseInt(string(event[i:i+sentDigits]), 10, 64)
	return ns, err == nil
}

// begin starts n streams, spread over a gap, and waits until all have begun.
func (d *driver) begin(ctx context.Context, n int, gap time.Duration) (*trial, error) {
	n = d.allowed(n)
	tr, err := wire.New(wire.Config{Clock: d.clock})
	if err != nil {
		return nil, err
	}
	t := &trial{d: d, transport: tr}
	if w, ok := tr.(wire.Warmer); ok {
		if err := w.Warm(ctx, &d.server.base, n); err != nil {
			tr.Close()
			return nil, fmt.Errorf("%d connections to the paced server: %w", n, err)
		}
	}
	epoch := d.clock.Epoch().UnixNano()
	debug.FreeOSMemory()
	t.streams = make([]*stream, n)
	for i := range t.streams {
		s := &stream{trial: t, epoch: epoch}
		if d.opt.Decoder != nil {
			s.decoder = d.opt.Decoder()
		}
		t.streams[i] = s
	}
	first := 50 * time.Millisecond
	for i, s := range t.streams {
		u := d.server.base.JoinPath("stream")
		u.RawQuery = url.Values{"first": {strconv.FormatInt(int64(first)+int64(i)*int64(gap)/int64(n), 10)},
			"gap": {strconv.FormatInt(int64(gap), 10)}, "events": {"1000000"}}.Encode()
		s.x.Reset(&wire.Request{Method: "POST", URL: u, Framing: wire.SSE}, s)
		t.ended.Add(1)
		tr.Start(&s.x)
	}
	return t, nil
}

// end cuts the streams and waits for the last of their events.
func (t *trial) end() {
	if t.over {
		return
	}
	t.over = true
	for _, s := range t.streams {
		t.transport.Cancel(&s.x, wire.Cut)
	}
	t.ended.Wait()
}

func (t *trial) close() {
	t.end()
	t.transport.Close()
}

// noise is by how much stamps were later than the sending.
func (t *trial) noise() []int64 {
	var all []int64
	for _, s := range t.streams {
		all = append(all, s.late...)
	}
	return all
}

func (t *trial) stats() (s wire.Stats) {
	if counter, ok := t.transport.(wire.Statistics); ok {
		s = counter.Stats()
	}
	return s
}

// seen is what a trial came to in its window.
type seen struct {
	seconds   float64
	events    float64
	cpu       float64 // ns; 0: unknown
	coalesced float64 // share
	held      int64
	backlog   int
	server    Spread // lateness
}

// watch lets the streams run in and measures for a while.
func (t *trial) watch(ctx context.Context) (seen, error) {
	if err := wait(ctx, t.d.times.warm); err != nil {
		return seen{}, err
	}
	if _, err := t.d.server.late(ctx); err != nil { // forget what was before
		return seen{}, err
	}
	s0, from := t.stats(), time.Now()
	cpu0, known := cpuTime()
	if err := wait(ctx, t.d.times.window); err != nil {
		return seen{}, err
	}
	cpu1, _ := cpuTime()
	s1, to := t.stats(), time.Now()
	w := seen{seconds: to.Sub(from).Seconds(), events: float64(s1.Chunks - s0.Chunks), held: s1.Held - s0.Held, backlog: s1.Backlog}
	if known {
		w.cpu = float64(cpu1 - cpu0)
	}
	if w.events > 0 {
		w.coalesced = float64(s1.Coalesced-s0.Coalesced) / w.events
	}
	var err error
	w.server, err = t.d.server.late(ctx)
	return w, err
}

const (
	// metMost is the share of events that may meet another in a socket while
	// the client counts as keeping up: each such one has lost its stamp.
	metMost = 0.01
	// readLeast is the share of the asked rate that must have been read.
	readLeast = 0.97
)

// limit says who did not keep up with a rate: the server, where its own
// sending ran late or fell short, else the client; empty: nobody.
func (w *seen) limit(asked float64, gap time.Duration) string {
	late := w.server.P99 > float64(gap)/1e6/2
	switch {
	case w.coalesced <= metMost && w.held == 0 && w.events/w.seconds >= readLeast*asked:
		return ""
	case late:
		return "server"
	}
	return "client"
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// delays reads a spread off counts by powers of two: upper edges. Nil where
// nothing was counted.
func delays(counts *[len(wire.Stats{}.Delay)]int64) *Spread {
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return nil
	}
	at := func(q float64) float64 {
		sum := int64(0)
		for i, n := range counts {
			if sum += n; float64(sum) >= q*float64(total) {
				return float64(int64(1)<<i) / 1e6
			}
		}
		return float64(int64(1)<<bits.Len64(1<<39)) / 1e6
	}
	return &Spread{Count: int(total), P50: at(0.5), P99: at(0.99), Max: at(1)}
}
