package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/runner"
)

func TestProgressLine(t *testing.T) {
	s := int64(time.Second)
	p := &progress{total: 30 * time.Second}
	for _, c := range []struct {
		s    runner.Snapshot
		want string
	}{
		{runner.Snapshot{}, "   0s/30s left 30s  ok 0  failed 0  in flight 0  -/s"},
		{runner.Snapshot{At: 10 * s, Sent: 80, Ended: 70, OK: 69, Failed: 1, InFlight: 10, TTFTp50: 23e7, TTFTp99: 12e8},
			"  10s/30s left 20s  ok 69  failed 1  in flight 10  8.0/s  ttft p50 230ms p99 1.20s"},
		{runner.Snapshot{At: 31 * s, Sent: 240, Ended: 235, OK: 235, InFlight: 5}, "  31s/30s draining  ok 235  failed 0  in flight 5  7.7/s"},
	} {
		if diff := cmp.Diff(c.want, p.line(c.s)); diff != "" {
			t.Error(diff)
		}
	}
	p = &progress{requests: 100}
	want := "  10s left 40s  ok 20/100  failed 0  in flight 0  2.0/s"
	if diff := cmp.Diff(want, p.line(runner.Snapshot{At: 10 * s, Sent: 20, Ended: 20, OK: 20})); diff != "" {
		t.Error(diff)
	}
}

// TestProgressOffTerminal writes whole lines, one every five seconds.
func TestProgressOffTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := &progress{w: &b, snapshot: func() runner.Snapshot { return runner.Snapshot{} }}
		stop := p.start(t.Context())
		time.Sleep(12 * time.Second)
		stop()
		if lines := strings.Count(b.String(), "\n"); lines != 2 || strings.ContainsAny(b.String(), "\r\x1b") {
			t.Errorf("%d lines in 12 s: %q", lines, b.String())
		}
	})
}

// TestProgressOnTerminal writes over one line that never wraps, and wipes it.
func TestProgressOnTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := &progress{w: &b, width: 20, snapshot: func() runner.Snapshot { return runner.Snapshot{OK: 1234567} }}
		stop := p.start(t.Context())
		time.Sleep(500 * time.Millisecond)
		stop()
		if strings.Contains(b.String(), "\n") || !strings.HasSuffix(b.String(), "\r\x1b[K") {
			t.Errorf("%q", b.String())
		}
		for l := range strings.SplitSeq(b.String(), "\r") {
			if l = strings.TrimSuffix(l, "\x1b[K"); len(l) >= 20 {
				t.Errorf("%d columns of 20: %q", len(l), l)
			}
		}
	})
}

// TestWritingProgress: texts that take long are told of, those of the cache not.
func TestWritingProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		wrote, end := writing(t.Context(), &b, 0)(24)
		time.Sleep(4 * time.Second)
		wrote()
		wrote()
		time.Sleep(7 * time.Second)
		end()
		if diff := cmp.Diff("   5s  2 of 24 texts written\n  10s  2 of 24 texts written\n", b.String()); diff != "" {
			t.Error(diff)
		}
		b.Reset()
		wrote, end = writing(t.Context(), &b, 0)(1)
		wrote()
		end()
		if b.Len() > 0 {
			t.Errorf("%q", b.String())
		}
	})
}
