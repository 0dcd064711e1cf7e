// Package verify says whether a run was good enough. An expression such as
//
//	ttft.p99<800ms, itl.p99<50ms, error_rate<1%
//
// is parsed into objectives ([Parse]); [Judge] holds them against what measure
// knows and gives each a value, a verdict and the evidence for it; [Overall]
// turns the verdicts into the run's one. The rules
// are those of docs/metrics.md.
package verify
