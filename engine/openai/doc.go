// Package openai speaks OpenAI's chat completions and completions, streaming
// and not, as OpenAI itself and the engines that follow it serve them.
package openai
