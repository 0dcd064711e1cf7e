package runner

import (
	"fmt"
	"runtime"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
)

// wants is what the client ran short of: the worst readings of the run.
type wants struct {
	readings                         int
	throttled, steal, waited, others float64 // sums; means are taken of readings
	busy, own                        float64 // of the reading under way
	fds, fdLimit, ports, portLimit   float64
	backlog, held, collected         float64
	memory                           float64
	ordinary                         bool // the thread that sends could have had a real-time priority and was not allowed it
}

// add takes a reading of self or wire.
func (w *wants) add(s *record.Sample) {
	switch s.Probe + "." + s.Name {
	case "self.cpu_user":
		w.readings++
		w.own = s.Value
	case "self.cpu_system":
		w.own += s.Value
	case "self.machine_busy":
		w.others += max(0, s.Value-w.own)
	case "self.machine_steal":
		w.steal += s.Value
	case "self.cpu_wait":
		w.waited += s.Value
	case "self.cpu_throttled":
		w.throttled += s.Value
	case "self.fds":
		w.fds = max(w.fds, s.Value)
	case "self.fd_limit":
		w.fdLimit = s.Value
	case "self.tcp_sockets":
		w.ports = max(w.ports, s.Value)
	case "self.tcp_ports":
		w.portLimit = s.Value
	case "self.gc_assist":
		w.collected = max(w.collected, s.Value)
	case "self.memory_pressure":
		w.memory = max(w.memory, s.Value)
	case "wire.backlog":
		w.backlog = max(w.backlog, s.Value)
	case "wire.held_streams":
		w.held = max(w.held, s.Value)
	}
}

const (
	nearLimit   = 0.9  // share of a limit from which on it is named
	wantedMost  = 0.02 // share of the time, or cores, that may be wanting unmentioned
	assistMost  = 0.1  // cores
	backlogMost = 512  // segments
)

// advice says what to change, the likeliest cause first: limits that were
// nearly reached always, the rest where figures are not valid.
func (w *wants) advice(res *measure.Result, own float64) []string {
	var all []string
	add := func(when bool, format string, args ...any) {
		if when {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	add(w.fdLimit > 0 && w.fds >= nearLimit*w.fdLimit, "%s of %s file descriptors were open: raise ulimit -n", measure.Count(int64(w.fds)), measure.Count(int64(w.fdLimit)))
	add(w.portLimit > 0 && w.ports >= nearLimit*w.portLimit, "up to %s of %s local ports were taken: widen net.ipv4.ip_local_port_range, or keep connections", measure.Count(int64(w.ports)), measure.Count(int64(w.portLimit)))
	if w.readings == 0 || allValid(res) {
		return all
	}
	n := float64(w.readings)
	cpus := float64(runtime.NumCPU())
	add(w.throttled/n > wantedMost, "the cgroup's CPU quota held the client back %s of the time: raise the quota", measure.Percent(100*w.throttled/n))
	add(w.steal/n > wantedMost, "the hypervisor gave %s CPUs to other machines: use one that is not shared", measure.Digits(w.steal/n))
	add(w.waited/n > wantedMost && w.others/n > w.waited/n, "other processes used %s of %s CPUs and the client's threads waited for %s: keep cores free for the client, or run it on another machine",
		measure.Digits(w.others/n), measure.Digits(cpus), measure.Digits(w.waited/n))
	add(w.ordinary && w.waited/n > wantedMost, "the thread that sends had no real-time priority: allow it one (CAP_SYS_NICE, or ulimit -r 1)")
	add(own > 0.8*cpus, "the client used %s of %s CPUs: give it more cores, or spread the load over more machines", measure.Digits(own), measure.Digits(cpus))
	add(w.held > 0 || w.backlog > backlogMost, "answers waited to be decoded (%s pieces at most, %s streams left unread): give the client more cores", measure.Count(int64(w.backlog)), measure.Count(int64(w.held)))
	add(w.collected > assistMost || w.memory > wantedMost, "the client was short of memory: give it more, or raise GOMEMLIMIT")
	return all
}

func allValid(res *measure.Result) bool {
	for _, v := range res.Validity {
		if v.Trust != measure.Valid {
			return false
		}
	}
	return true
}

// closedWithoutThink tells whether each user of a load sends as soon as the
// answer before is seen.
func closedWithoutThink(p load.Plan, readRate float64) bool {
	d := p.Describe()
	return d.PeakUsers > 0 && d.PeakRate == 0 && p.Think == nil && p.Adapt == nil && readRate == 0
}
