// Package sim is the simulated inference engine: a deterministic
// discrete-event core ([Engine]) that schedules like a real one and takes its
// step times from a model of the hardware, and faces that serve it over HTTP.
// The core runs on a clock.Loop, so the same code serves in real time and
// answers in virtual time. Every token time and metric comes from that clock.
package sim
