package calibration

import (
	"fmt"
	"strings"
)

// Text is the result for people, a line a quantity.
func (r *Result) Text() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-14s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("machine", "%s", r.Machine.String())
	line("schedule lag", "%s: requests left that late, %s of them", r.ScheduleLag.text(), grouped(float64(r.ScheduleLag.Count)))
	line("stamp noise", "%s: an event's stamp less the server's own, %s of them", r.StampNoise.text(), grouped(float64(r.StampNoise.Count)))
	if r.ReadDelay == nil {
		line("read after", "unknown: there are no kernel stamps here")
	} else {
		line("read after", "%s at most: from the kernel's stamp to the read", r.ReadDelay.text())
	}
	name := "cost"
	for _, c := range r.Costs {
		switch {
		case c.CPUPerEvent == nil:
			line(name, "%s streams: %s events/s read, CPU time unknown", grouped(float64(c.Streams)), grouped(c.EventsPerS))
		default:
			line(name, "%5s streams: %4.1f µs of CPU an event at %s events/s; all of its CPU would pay for %s", grouped(float64(c.Streams)),
				*c.CPUPerEvent, grouped(c.EventsPerS), grouped(*c.ByCPU))
		}
		name = ""
	}
	line("carries", "%s", r.Carried.text())
	if r.StreamBytes != nil {
		line("memory", "%.0f KiB for each open stream", *r.StreamBytes/1024)
	}
	if r.Others != nil && *r.Others > othersMost {
		line("note", "other processes used %.1f CPUs meanwhile: an idle machine carries more; calibrate it then", *r.Others)
	}
	if most := r.Carried.EventsPerS; most > 0 {
		line("warned of", "plans above %s events/s, %.0f%% of what it carries", grouped(WarnShare*most), 100*WarnShare)
	}
	return b.String()
}

func (s *Spread) text() string {
	return fmt.Sprintf("p50 %.3f ms, p99 %.3f ms, max %.3f ms", s.P50, s.P99, s.Max)
}

func (c *Carried) text() string {
	s := fmt.Sprintf("%s events/s over %s streams", grouped(c.EventsPerS), grouped(float64(c.Streams)))
	if c.EventsPerS == 0 {
		s = "not even the lowest rate that was tried"
	}
	switch {
	case c.Refused == 0:
		return s + " and more: the trial ended before it gave up"
	case c.Limit == "server":
		return fmt.Sprintf("%s; at %s the server beside it fell behind, which shares the machine", s, grouped(c.Refused))
	}
	return fmt.Sprintf("%s; at %s it fell behind", s, grouped(c.Refused))
}
