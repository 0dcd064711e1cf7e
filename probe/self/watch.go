package self

import (
	"time"

	"github.com/tokamak-bench/tokamak/record"
)

// watch ticks and reports when a tick comes late: for that long nothing of
// this process ran, or nothing of it got a CPU.
func (p *Probe) watch() {
	t := time.NewTicker(p.cfg.Tick)
	defer t.Stop()
	last, used := p.clock.Now(), cpuTime()
	for {
		select {
		case <-t.C:
			now, cpu := p.clock.Now(), cpuTime()
			if gap := now - last; gap >= int64(p.cfg.Tick+p.cfg.Late) {
				p.note(p.sink.Event(standstill(last, gap, cpu-used, cpu >= 0)))
			}
			last, used = now, cpu
		case <-p.stop:
			return
		}
	}
}

// standstill describes a gap between ticks that is too long. Where the process
// used next to no CPU in it, it was stopped (a signal, a debugger, a suspended
// machine) or never scheduled; else it was busy with something else.
func standstill(from, gap, cpu int64, known bool) record.Event {
	e := record.Event{At: from, Kind: record.StoppedEvent, Name: "client", Detail: map[string]any{"ns": gap}}
	if known {
		e.Detail["cpu_ns"] = cpu
		if cpu > gap/20 {
			e.Name = "client_busy"
		}
	}
	return e
}
