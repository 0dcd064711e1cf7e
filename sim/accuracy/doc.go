// Package accuracy holds the simulated engine against what was measured on real
// ones: rows of closed loops and replayed runs go in; fitted efficiencies, and
// the error on rows that were fitted and on rows that were not, come out.
package accuracy
