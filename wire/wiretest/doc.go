// Package wiretest holds what proves a [wire.Transport]: [Suite], the tests
// that every way of moving bytes must pass, and [FaultServer], a server that
// speaks valid OpenAI streams except for one fault a path.
//
// A fault's base URL takes the place of a target's: a test of the whole program
// runs against Fault.URL and compares the row with the fault's Outcome,
// ErrorClass, Violations and Notes; a test of a transport compares Cause.
package wiretest
