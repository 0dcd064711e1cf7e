// Package vllm is the HTTP face of a simulated vLLM: its routes, errors and
// metrics over a face.Service.
package vllm
