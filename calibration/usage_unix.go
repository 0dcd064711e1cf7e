//go:build unix

package calibration

import "syscall"

// cpuTime returns the CPU time of the process in ns; false where it is unknown.
func cpuTime() (int64, bool) {
	var v syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &v) != nil {
		return 0, false
	}
	return v.Utime.Nano() + v.Stime.Nano(), true
}

// descriptors returns how many files the process may have open; false where it is unknown.
func descriptors() (int, bool) {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0, false
	}
	return int(min(l.Cur, 1<<30)), true //nolint:gosec // bounded
}
