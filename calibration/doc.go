// Package calibration finds out what a client can carry on this machine.
//
// [Run] starts a small server in a process of its own (this binary again, in
// [Serve]), which streams events at moments of its own and writes into each
// when it sent it, and reads them through the transport that runs use. Out
// comes a [Result]: how late requests leave when nothing is in the way, how
// far kernel stamps are from the truth, how long bytes wait to be read, what
// an event costs, how many a second can be read, and the memory of a stream.
// A [Cache] keeps it for each machine; a run only reads it, and
// [Result.Warning] says which plans ask for more than a share of what was
// carried. The figures are defined in docs/metrics.md.
package calibration
