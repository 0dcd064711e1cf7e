package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/wire"
)

// stream is one exchange and the record of it, as a run would keep it.
type stream struct {
	x      wire.Exchange
	chunks record.Chunks
	ended  *sync.WaitGroup
}

// Segment copies what a record needs of each event.
func (s *stream) Segment(_ *wire.Exchange, seg *wire.Segment) {
	for _, e := range seg.Events {
		_, data, ok := wire.EventData(seg.Data[e.Start:e.End])
		if !ok || string(data) == "[DONE]" {
			continue
		}
		c := &s.chunks
		c.At = append(c.At, e.At)
		c.Bytes = append(c.Bytes, int32(len(data)))
		c.Kind = append(c.Kind, record.TextChunk)
		c.Choice = append(c.Choice, 0)
		c.Flags = append(c.Flags, e.Flags)
	}
}

// Ended counts the end.
func (s *stream) Ended(*wire.Exchange) { s.ended.Done() }

// child reads streams and prints what it cost.
func child(args []string) error {
	var p childPlan
	if err := json.Unmarshal([]byte(args[0]), &p); err != nil {
		return err
	}
	run := clock.NewReal()
	defer run.Close()
	tr, err := newTransport(p, run)
	if err != nil {
		return err
	}
	defer tr.Close()
	if w, ok := tr.(wire.Warmer); ok {
		u := &url.URL{Scheme: "http", Host: "127.0.0.1:" + p.Port}
		if err := w.Warm(context.Background(), u, p.Streams); err != nil {
			return err
		}
	}
	var r childResult
	debug.FreeOSMemory()
	r.BaseKB = rssKB()
	streams, ended := start(tr, p)
	if p.WindowMS > 0 {
		time.Sleep(time.Duration(p.WarmupMS) * time.Millisecond)
		stop, err := profile(p.Profile)
		if err != nil {
			return err
		}
		window(tr, &r, time.Duration(p.WindowMS)*time.Millisecond)
		stop()
	} else {
		watch(&r, ended)
	}
	if p.WindowMS > 0 {
		return json.NewEncoder(os.Stdout).Encode(r)
	}
	judge(&r, tr, streams, p)
	if p.Arrivals != "" {
		if err := writeArrivals(p.Arrivals, run, streams); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func newTransport(p childPlan, run *clock.Real) (wire.Transport, error) {
	cfg := wire.Config{Clock: run}
	if p.Way == "nethttp" {
		return wire.NewNetHTTP(cfg), nil
	}
	return wire.New(cfg)
}

// start begins all streams.
func start(tr wire.Transport, p childPlan) ([]*stream, *sync.WaitGroup) {
	ended := &sync.WaitGroup{}
	streams := make([]*stream, p.Streams)
	for i := range streams {
		s := &stream{ended: ended}
		s.chunks = record.Chunks{At: make([]int64, 0, p.Tokens), Bytes: make([]int32, 0, p.Tokens), Kind: make([]record.ChunkKind, 0, p.Tokens),
			Choice: make([]int32, 0, p.Tokens), Flags: make([]uint8, 0, p.Tokens)}
		u := &url.URL{Scheme: "http", Host: "127.0.0.1:" + p.Port, Path: "/" + strconv.Itoa(i)}
		s.x.Reset(&wire.Request{Method: "POST", URL: u, Body: []byte("{}"), Framing: wire.SSE, Limits: wire.Limits{Total: 5 * time.Minute}}, s)
		streams[i] = s
		ended.Add(1)
		tr.Start(&s.x)
	}
	return streams, ended
}

// profile starts a CPU profile, where one is asked for.
func profile(name string) (stop func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); _ = f.Close() }, pprof.StartCPUProfile(f)
}

// window measures for a while in the middle of the streams.
func window(tr wire.Transport, r *childResult, d time.Duration) {
	stats := func() (s wire.Stats) {
		if t, ok := tr.(wire.Statistics); ok {
			s = t.Stats()
		}
		return s
	}
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	s0, c0 := stats(), cpuTime()
	time.Sleep(d)
	c1, s1 := cpuTime(), stats()
	runtime.ReadMemStats(&m1)
	r.CPU, r.Chunks, r.Reads = c1-c0, s1.Chunks-s0.Chunks, s1.Reads-s0.Reads
	r.Allocs = m1.Mallocs - m0.Mallocs
	r.Coalesced, r.Unstamped = s1.Coalesced-s0.Coalesced, s1.Unstamped-s0.Unstamped
	r.delays(&s1)
}

// delays reads the percentiles of the time from stamp to read off the counts.
func (r *childResult) delays(s *wire.Stats) {
	total := int64(0)
	for _, n := range s.Delay {
		total += n
	}
	sum := int64(0)
	for i, n := range s.Delay {
		sum += n
		if r.DelayP50NS == 0 && sum*2 >= total {
			r.DelayP50NS = 1 << i
		}
		if r.DelayP99NS == 0 && sum*100 >= total*99 {
			r.DelayP99NS = 1 << i
		}
	}
}

// watch notes the peak of memory until all has ended.
func watch(r *childResult, ended *sync.WaitGroup) {
	done := make(chan struct{})
	go func() { ended.Wait(); close(done) }()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			r.PeakKB = max(r.PeakKB, rssKB())
		}
	}
}

// judge counts what arrived as it should.
func judge(r *childResult, tr wire.Transport, streams []*stream, p childPlan) {
	for _, s := range streams {
		n := s.chunks.Len()
		r.ChunksKept += int64(n)
		if s.x.SentKernel {
			r.SentKernel++
		}
		if s.x.Cause == wire.Completed && n == p.Tokens {
			r.Completed++
			continue
		}
		r.Wrong++
		if r.FirstError == "" {
			r.FirstError = fmt.Sprintf("%v (%v), %d chunks of %d", s.x.Cause, s.x.Err, n, p.Tokens)
		}
	}
	if t, ok := tr.(wire.Statistics); ok {
		s := t.Stats()
		r.Chunks, r.Reads, r.Coalesced, r.Unstamped = s.Chunks, s.Reads, s.Coalesced, s.Unstamped
		r.delays(&s)
	}
}

// writeArrivals writes "STREAM sent NS" and "STREAM INDEX NS" in ns of
// CLOCK_MONOTONIC, as the server's log has them.
func writeArrivals(name string, run *clock.Real, streams []*stream) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	offset, w := monotonicOffset(run), bufio.NewWriter(f)
	for i, s := range streams {
		fmt.Fprintf(w, "%d sent %d\n", i, s.x.Sent+offset)
		for j, at := range s.chunks.At {
			fmt.Fprintf(w, "%d %d %d\n", i, j, at+offset)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// monotonicOffset is CLOCK_MONOTONIC less the run's clock.
func monotonicOffset(run *clock.Real) int64 {
	best, offset := int64(1<<62), int64(0)
	for range 100 {
		a := run.Now()
		m := clockNS(unix.CLOCK_MONOTONIC)
		b := run.Now()
		if b-a < best {
			best, offset = b-a, m-(a+b)/2
		}
	}
	return offset
}

func clockNS(id int32) int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(id, &ts)
	return ts.Nano()
}

func cpuTime() int64 { return clockNS(unix.CLOCK_PROCESS_CPUTIME_ID) }

// rssKB is the resident memory.
func rssKB() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()) / 1024
}
