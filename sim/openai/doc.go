// Package openai reads requests of OpenAI's APIs and writes their answers, as
// each engine that imitates them does: a face gives its [Dialect]. Requests
// come in as JSON, go out as a face.Ask; answers are chunks or a body.
package openai
