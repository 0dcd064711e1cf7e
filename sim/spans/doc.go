// Package spans exports one OpenTelemetry span for each finished sequence of a
// simulated engine, as vLLM does: name llm_request, vLLM's attributes, times of
// the engine's clock, the request's traceparent as its parent. An [Exporter]
// takes them without ever holding up the engine and posts them in batches, as
// OTLP in JSON over HTTP.
package spans
