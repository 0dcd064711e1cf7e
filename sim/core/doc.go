// Package core is the simulated engine's discrete-event heart: requests go in,
// token times come out. It holds waiting and running requests, a paged KV cache
// with prefix reuse, and a scheduling policy; how long a step takes and how many
// blocks there are it is told ([StepTimer], [Config]). It runs on a clock.Loop:
// the same code in real and in virtual time.
//
// Its time is nominal: a step starts at the moment the one before ended, not at
// the moment the loop got round to it, so a late machine neither drifts nor
// changes what is scheduled. The same arrivals give the same tokens at the same
// nanoseconds.
//
// Other engines' scheduling are variants of it ([Policy]); what goes wrong on
// purpose comes in as a [Disturbance].
package core
