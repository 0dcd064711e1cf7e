//go:build linux

package clock

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// BenchmarkPacing waits to 2,000 moments a second, in turns with a bare C loop
// of absolute sleeps, and reports how late both are. The aim: p99 at most 1.5
// times that of C.
func BenchmarkPacing(b *testing.B) {
	const period, count = 500_000, 2_000 // a second a turn
	cc, err := exec.LookPath("cc")
	if err != nil {
		b.Skip("no C compiler to compare with")
	}
	pace := filepath.Join(b.TempDir(), "pace")
	if out, err := exec.Command(cc, "-O2", "-o", pace, "testdata/pace.c").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	var ours, theirs []int64
	for range b.N {
		ours = append(ours, lateness(period, count)...)
		theirs = append(theirs, cLateness(b, pace, period, count)...)
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	at := func(sorted []int64, q float64) float64 { return float64(sorted[int(q*float64(len(sorted)-1))]) }
	b.ReportMetric(at(ours, 0.5)/1e3, "p50-µs")
	b.ReportMetric(at(ours, 0.99)/1e3, "p99-µs")
	b.ReportMetric(at(theirs, 0.5)/1e3, "C-p50-µs")
	b.ReportMetric(at(theirs, 0.99)/1e3, "C-p99-µs")
	b.ReportMetric(at(ours, 0.99)/at(theirs, 0.99), "p99/C")
}

func lateness(period, count int64) []int64 {
	c := NewReal()
	defer c.Close()
	defer c.Pin()()
	late := make([]int64, count)
	start := c.Now() + period
	for i := range count {
		until := start + i*period
		c.Wait(until)
		late[i] = c.Now() - until
	}
	return late
}

func cLateness(b *testing.B, pace string, period, count int64) []int64 {
	out, err := exec.Command(pace, fmt.Sprint(period), fmt.Sprint(count)).Output()
	if err != nil {
		b.Fatal(err)
	}
	late := make([]int64, 0, count)
	for line := range bytes.Lines(out) {
		var x int64
		if _, err := fmt.Sscan(string(line), &x); err != nil {
			b.Fatal(err)
		}
		late = append(late, x)
	}
	return late
}
