// Package dcgm tells what dcgm-exporter would about the accelerators of a
// simulated engine. A [Board] stands between the engine and its step timer, so
// that it knows each step's work and time on the engine's own clock; [Board.Handler]
// writes the gauges with dcgm-exporter's names and labels, MIG ones included.
// The models of activity, power and temperature are in docs/simulated-engine.md.
package dcgm
