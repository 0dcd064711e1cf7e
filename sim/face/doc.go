// Package face is what the HTTP faces of simulated engines share. A face reads
// a request into an [Ask]; a [Service] gives it to the engine on its loop,
// aborts it when the client goes away, logs it, and writes the answer with the
// face's [Frames] or body. Metrics are a face's table over one [Meter]. Every
// time in metrics, log and stream is the engine's.
package face
