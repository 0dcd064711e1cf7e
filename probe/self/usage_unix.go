//go:build unix

package self

import "syscall"

// usage reads getrusage.
type usage struct{ user, system, voluntary, involuntary counter }

func (u *usage) read(r *round) {
	var v syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &v) != nil {
		return
	}
	u.user.rate(r, "cpu_user", float64(v.Utime.Nano()))
	u.system.rate(r, "cpu_system", float64(v.Stime.Nano()))
	u.voluntary.add(r, "switches_voluntary", float64(v.Nvcsw), 1)
	u.involuntary.add(r, "switches_involuntary", float64(v.Nivcsw), 1)
}

// cpuTime returns the CPU time of the process in ns, -1 where it is unknown.
func cpuTime() int64 {
	var v syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &v) != nil {
		return -1
	}
	return v.Utime.Nano() + v.Stime.Nano()
}

// fileLimit returns the number of file descriptors allowed, 0 where it is unknown.
func fileLimit() int64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return int64(min(l.Cur, 1<<62)) //nolint:gosec // bounded
}
