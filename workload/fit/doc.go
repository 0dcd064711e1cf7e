// Package fit learns a model of traffic from a log. What comes in is a stream
// of [trace.Row]; what goes out is a [traffic.Model] and a [Report] that says
// what was tried, why one form was taken over another, how far the model is
// from the log, and what the log does not tell.
//
// A row leaves some forty bytes behind, whatever it holds; texts are not kept.
// Names become made-up ones unless the user asks for them, so that neither the
// model nor the report nor an error repeats what the log's users wrote or what
// they are called.
//
// Rules and definitions: docs/fitting.md and docs/metrics.md.
package fit
