// Package self is the client's testimony against itself: what tokamak's own
// process used and lacked while it measured. Every second it reads CPU, how
// long threads waited for one, throttling, garbage collection, scheduling
// delay, memory, file descriptors, ports and context switches, and it notices
// when the whole process stood still. measure judges from these readings
// which figures the client may have shaped.
//
// In go the run's clock and a sink, out come samples of probe "self", named
// and described by [Quantities], and events of kind "stopped". Sources are
// getrusage, runtime/metrics, /proc and the cgroup's files; where a system
// lacks one, its readings are absent.
package self
