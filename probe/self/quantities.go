package self

// Quantity describes one name of sample.
type Quantity struct{ Name, Unit, Doc string }

// Quantities lists every sample that the probe may emit. A unit of "cores" is
// CPU time per time; what is counted "in the interval" is counted since the
// sample before.
func Quantities() []Quantity {
	return []Quantity{
		{"cpu_user", "cores", "CPU time in user code."},
		{"cpu_system", "cores", "CPU time in the kernel."},
		{"cpu_wait", "cores", "Time that runnable threads of the process waited for a CPU."},
		{"cpu_throttled", "ratio", "Share of the time that the cgroup's CPU quota held the process back."},
		{"throttled_periods", "count", "Quota periods in the interval in which it did."},
		{"machine_busy", "cores", "CPU time used on the whole machine."},
		{"machine_steal", "cores", "CPU time that the hypervisor gave to others."},
		{"cpu_pressure", "ratio", "Share of the time in which some task of the machine waited for a CPU (PSI)."},
		{"cpu_pressure_full", "ratio", "Share of the time in which every task of the process's cgroup that had work waited for a CPU (PSI)."},
		{"memory_pressure", "ratio", "Share of the time in which some task of the machine waited for memory (PSI)."},
		{"runnable", "count", "Threads of the machine that run or wait for a CPU, at the moment of the reading."},
		{"load1", "count", "The machine's load average of one minute."},
		{"gc_cycles", "count", "Garbage collections in the interval."},
		{"gc_pause_max", "ns", "Longest stop of all goroutines for garbage collection in the interval; upper edge of its bucket."},
		{"gc_cpu", "cores", "CPU time of garbage collection."},
		{"gc_assist", "cores", "Part of it that goroutines paid while they allocated."},
		{"sched_latency_p99", "ns", "99th percentile of the time that goroutines were runnable and did not run; upper edge of its bucket."},
		{"sched_latency_max", "ns", "The longest of them."},
		{"goroutines", "count", "Goroutines."},
		{"threads", "count", "Threads."},
		{"heap", "bytes", "Memory of live and not yet swept objects."},
		{"rss", "bytes", "Resident memory."},
		{"fds", "count", "Open file descriptors."},
		{"fd_limit", "count", "File descriptors allowed."},
		{"switches_voluntary", "count", "Context switches in the interval because a thread waited."},
		{"switches_involuntary", "count", "Context switches in the interval because another thread ran."},
		{"tcp_sockets", "count", "TCP sockets of the network namespace in use, those that wait to expire included: an upper bound of the local ports taken."},
		{"tcp_ports", "count", "Local ports that the system hands out."},
		{"tcp_retransmits", "count", "TCP segments sent again in the interval, of the network namespace."},
	}
}

func unitOf(name string) string {
	for _, q := range Quantities() {
		if q.Name == name {
			return q.Unit
		}
	}
	return ""
}
