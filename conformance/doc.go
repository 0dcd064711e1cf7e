// Package conformance asks an endpoint of OpenAI's chat or completions API a
// fixed battery of questions and says rule by rule where its answers break the
// API, the event stream or HTTP.
//
// In: a transport and the driver's options. Out: a [Report] with one [Result] a
// rule of [Rules]: what was sent, what was expected and by which source, what was
// seen, and a verdict. The battery has a version: the same version asks the
// same questions and judges by the same rules. All requests together have a
// stated bound of output tokens ([MaxOutput]).
//
// Rules of two kinds: standing ones hold for every answer that the battery gets
// (framing, end, ids, usage), the others for one question (stop strings, n, tool
// calls, errors). What the decoder of a run notes about an answer
// (docs/responses.md) is judged here by the rule that its word belongs to.
package conformance
