// Package ollama is the HTTP face of a simulated Ollama: its own and OpenAI's
// routes and errors over a face.Service. It has no metrics, as Ollama has none.
package ollama
