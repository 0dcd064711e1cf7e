package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/runner"
)

// progress tells on standard error how a run gets on.
type progress struct {
	w        io.Writer
	width    int           // of the terminal; 0: not a terminal
	total    time.Duration // of the load; 0: unknown
	requests int64         // in all; 0: unknown
	snapshot func() runner.Snapshot
	before   []runner.Snapshot // the last few, for the rate
}

// start shows progress until the returned function is called.
func (p *progress) start(ctx context.Context) (stop func()) {
	return ticking{p.w, p.width, func() string { return p.line(p.snapshot()) }}.start(ctx)
}

// line is one state in words, what matters most first: a narrow terminal cuts
// it. All of it is ASCII, so that it may be cut anywhere.
func (p *progress) line(s runner.Snapshot) string {
	var b strings.Builder
	at := time.Duration(s.At)
	fmt.Fprintf(&b, "%4.0fs", at.Seconds())
	if p.total > 0 {
		fmt.Fprintf(&b, "/%.0fs", p.total.Seconds())
	}
	if left := p.left(s); left > 0 {
		fmt.Fprintf(&b, " left %s", left.Round(time.Second))
	} else if p.total > 0 && at > p.total && s.InFlight > 0 {
		b.WriteString(" draining")
	}
	fmt.Fprintf(&b, "  ok %d", s.OK)
	if p.requests > 0 {
		fmt.Fprintf(&b, "/%d", p.requests)
	}
	fmt.Fprintf(&b, "  failed %d  in flight %d  %s/s", s.Failed, s.InFlight, p.rate(s))
	if s.Users > 0 {
		fmt.Fprintf(&b, "  users %d/%d", s.Allowed, s.Users)
	}
	if s.Abandoned > 0 {
		fmt.Fprintf(&b, "  gave up %d", s.Abandoned)
	}
	if s.TTFTp50 > 0 {
		fmt.Fprintf(&b, "  ttft p50 %s p99 %s", shortDuration(s.TTFTp50), shortDuration(s.TTFTp99))
	}
	return b.String()
}

// rate is what was sent a second over the last few lines.
func (p *progress) rate(s runner.Snapshot) string {
	const lines = 15
	p.before = append(p.before, s)
	if len(p.before) > lines {
		p.before = p.before[1:]
	}
	first := p.before[0]
	if len(p.before) == 1 {
		first = runner.Snapshot{}
	}
	if s.At <= first.At {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(s.Sent-first.Sent)/(float64(s.At-first.At)/1e9))
}

// left estimates the time to the end from what bounds the run first.
func (p *progress) left(s runner.Snapshot) time.Duration {
	at := time.Duration(s.At)
	left := max(p.total-at, 0)
	if p.requests > 0 && s.Ended > 0 {
		byCount := time.Duration(float64(at) * float64(p.requests-s.Ended) / float64(s.Ended))
		if p.total == 0 || byCount < left {
			left = max(byCount, 0)
		}
	}
	return left
}

// shortDuration writes nanoseconds with three digits.
func shortDuration(ns int64) string {
	ms := float64(ns) / 1e6
	switch {
	case ms < 10:
		return fmt.Sprintf("%.2fms", ms)
	case ms < 100:
		return fmt.Sprintf("%.1fms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0fms", ms)
	}
	return fmt.Sprintf("%.2fs", ms/1000)
}
