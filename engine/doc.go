// Package engine knows whom tokamak speaks to. A [Driver] gives requests the
// form of one API and reads its responses; engine/openai is the first. Drivers
// see bytes and stamps, never the clock: decoding happens off the timing path.
package engine
