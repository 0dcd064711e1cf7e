// Package acceptance holds the tests of the whole command: the built binary
// against the simulated engine in another process, against misbehaving
// servers, and against a real engine where one can be installed. They measure
// real time, so each states what it holds against what: the server's own log,
// or a value computed by hand.
package acceptance
