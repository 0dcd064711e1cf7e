// Package runner runs a load from its first moment to its last: one event loop
// over a clock that takes moments from load, content from workload, hands
// calls to a [Target] and writes what became of them to a [Recorder]. The loop
// is the same for a server behind sockets and for the simulated engine in
// virtual time; only the clock and the target differ.
package runner
