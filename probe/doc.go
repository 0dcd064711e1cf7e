// Package probe holds what the collectors of side channels share. A collector
// reads a quantity on the run's clock, hands each reading to a [Sink] as a
// [record.Sample], and what happens once as a [record.Event]. What it cannot
// read it leaves out: a missing reading is no sample, never a zero.
// probe/self watches the client itself.
package probe
