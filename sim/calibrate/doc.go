// Package calibrate fits the simulated engine's step times to what somebody
// measured: a run's requests with their lengths and moments, or a table of
// closed loops, go in; efficiencies come out, with the error on requests or rows
// that were held out.
package calibrate
