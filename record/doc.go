// Package record holds what happened: one [Attempt] for each sending of a
// request, with the arrival of every chunk, and the run directory into which
// attempts, probe samples and events are written so that a crash loses at most
// the last second. Nothing here computes a metric.
package record
