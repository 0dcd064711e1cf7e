// Package dialect recomputes, from the records of one run, the figures that
// other load tools would have printed of it: vLLM bench (Python and Rust),
// SGLang, GuideLLM, inference-perf, AIPerf, EvalScope and MLPerf LoadGen.
//
// A [Dialect] is data: the version it is pinned to, the names under which that
// tool prints its figures, and a [Rules] value, one small pure function for
// each question on which tools differ (who counts as a success, from when
// latency counts, which event is a token, when a response ends, how many
// tokens it had, what a gap is, over which time a rate is taken, which
// percentile). [House] is the same for tokamak's own definitions, so that what
// a rule does to a figure can be said by switching that rule alone.
//
// Attempts go in through [Trace.Add]; a trace keeps about a hundred bytes a
// request and six a chunk. Out come [Figures] of one tool and the [Comparison]
// of all. The rules of each tool, with their sources, are in docs/dialects.md.
package dialect
