// Package sglang is the HTTP face of a simulated SGLang: its own and OpenAI's
// routes, errors and metrics over a face.Service.
package sglang
