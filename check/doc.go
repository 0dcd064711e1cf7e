// Package check looks at a target with a handful of small requests and says in
// ten lines what a load test can rely on: connection, credential, model,
// streaming, usage, cached tokens, accepted fields, output length, buffering,
// engine and version. It speaks through the same driver and transport as a run.
//
// In: a transport and the driver's options. Out: a [Report], as text or JSON.
package check
