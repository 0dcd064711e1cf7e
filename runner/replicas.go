package runner

import "github.com/tokamak-bench/tokamak/record"

// Replicas spreads sessions over several targets in turn; the turns of one
// session stay with one target.
type Replicas []Target

func (r Replicas) of(c *Call) Target { return r[c.number%int64(len(r))] }

// Prepare prepares the call at its target.
func (r Replicas) Prepare(c *Call) error { return r.of(c).Prepare(c) }

// Start starts the call at its target.
func (r Replicas) Start(c *Call, sink Sink) { r.of(c).Start(c, sink) }

// Cancel ends the call at its target.
func (r Replicas) Cancel(c *Call, why record.Outcome) { r.of(c).Cancel(c, why) }
