// Package fidelity asks what a model of traffic is good for: it drives the
// simulated engine in virtual time with a real trace, with the model fitted to
// it, with Poisson arrivals of one length model, and with one fixed prompt, and
// says how far the last three are from the first in what decides a purchase:
// TTFT p99, preemptions, and the highest rate inside an SLO.
package fidelity
