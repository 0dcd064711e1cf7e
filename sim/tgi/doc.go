// Package tgi is the HTTP face of a simulated Text Generation Inference: its
// own and OpenAI's routes, errors, timing headers and metrics over a
// face.Service.
package tgi
