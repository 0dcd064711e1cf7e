// Package sim is the simulated inference engine. A description goes in
// ([Options], read from sim://MODEL@GPU?… by [ParseTarget]); out comes either
// an engine on a clock.Loop ([NewEngine]), in virtual or real time, or a server
// that speaks an engine's HTTP API ([Serve]).
//
// Below it: core schedules and keeps the KV cache, hardware says how long a step
// takes and how many blocks fit, fault makes things go wrong on purpose, face is
// what the engines' faces (vllm, sglang, tgi and others) share.
package sim
