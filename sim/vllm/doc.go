// Package vllm is the HTTP face of a simulated vLLM: requests come in over
// HTTP, go to a core.Engine on a loop, and come out as vLLM's API server would
// send them, with its error bodies and metrics. Every time in metrics, log and
// stream is the engine's.
package vllm
