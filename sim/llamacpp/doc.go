// Package llamacpp is the HTTP face of a simulated llama.cpp server: its own
// and OpenAI's routes, errors, timings, slots and metrics over a face.Service.
package llamacpp
