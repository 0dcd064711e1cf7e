// Package workload decides what is sent: sessions of requests as lazy
// specifications (how many tokens of which content), drawn from distributions,
// read from datasets, or replayed from traces. A specification becomes text
// only in [Render], off the timing path; against the simulated engine in
// virtual time it never does.
//
// Everything about session i follows from (seed, i), never from what was drawn
// for others.
package workload
