package self

import (
	"path/filepath"
	"strings"
)

// cgroupDirs returns the directories that may hold the files of the process's
// cgroup for a controller, the likeliest first, each followed by its parents.
// Both versions of cgroups, mixtures and namespaces are covered by trying.
func cgroupDirs(proc, root, controller string) []string {
	var dirs []string
	for line := range strings.Lines(string(file(proc, "self/cgroup"))) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		var bases []string
		if parts[0] == "0" {
			bases = []string{root, filepath.Join(root, "unified")}
		} else if has(parts[1], controller) {
			bases = []string{filepath.Join(root, parts[1]), filepath.Join(root, controller)}
		}
		for _, base := range bases {
			for path := filepath.Clean("/" + parts[2]); ; path = filepath.Dir(path) {
				dirs = append(dirs, filepath.Join(base, path))
				if path == "/" {
					break
				}
			}
		}
	}
	return dirs
}

func has(controllers, name string) bool {
	for c := range strings.SplitSeq(controllers, ",") {
		if c == name {
			return true
		}
	}
	return false
}

// throttle reads how a CPU quota held the process's cgroup back.
type throttle struct {
	path          string // of cpu.stat; empty: none has the figures
	pressure      string // of cpu.pressure; empty: there is none
	time, periods counter
	full          counter
}

func newThrottle(proc, root string) *throttle {
	t := &throttle{}
	for _, dir := range cgroupDirs(proc, root, "cpu") {
		path := filepath.Join(dir, "cpu.stat")
		if _, ok := field(file(path), "nr_throttled", 1); ok && t.path == "" {
			t.path = path
		}
		path = filepath.Join(dir, "cpu.pressure")
		if _, ok := equals(file(path), "full", "total"); ok && t.pressure == "" {
			t.pressure = path
		}
	}
	return t
}

func (t *throttle) read(r *round) {
	if t.pressure != "" {
		if total, ok := equals(file(t.pressure), "full", "total"); ok {
			t.full.rate(r, "cpu_pressure_full", total*1e3)
		}
	}
	if t.path == "" {
		return
	}
	stat := file(t.path)
	if n, ok := field(stat, "nr_throttled", 1); ok {
		t.periods.add(r, "throttled_periods", n, 1)
	}
	if us, ok := field(stat, "throttled_usec", 1); ok { // version 2
		t.time.rate(r, "cpu_throttled", us*1e3)
	} else if ns, ok := field(stat, "throttled_time", 1); ok { // version 1
		t.time.rate(r, "cpu_throttled", ns)
	}
}

// cpuLimit returns how many CPUs the cgroups allow at once, 0 for no limit.
func cpuLimit(proc, root string) float64 {
	limit := 0.0
	for _, dir := range cgroupDirs(proc, root, "cpu") {
		quota, ok := word(file(dir, "cpu.max"), 0)
		period, ok2 := word(file(dir, "cpu.max"), 1)
		if !ok || !ok2 {
			quota, ok = word(file(dir, "cpu.cfs_quota_us"), 0)
			period, ok2 = word(file(dir, "cpu.cfs_period_us"), 0)
		}
		if ok && ok2 && quota > 0 && period > 0 && (limit == 0 || quota/period < limit) {
			limit = quota / period
		}
	}
	return limit
}

// memoryLimit returns how many bytes the cgroups allow, 0 for no limit.
func memoryLimit(proc, root string) int64 {
	const none = 1 << 62 // version 1 writes "no limit" as nearly 2^63
	limit := int64(0)
	for _, dir := range cgroupDirs(proc, root, "memory") {
		for _, name := range []string{"memory.max", "memory.limit_in_bytes"} {
			v, ok := word(file(dir, name), 0)
			if ok && v < none && (limit == 0 || int64(v) < limit) {
				limit = int64(v)
			}
		}
	}
	return limit
}
