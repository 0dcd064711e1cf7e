// Package compare holds runs against each other: a baseline and one or more
// others, each a [Side] of one run or of repeats. Metrics of finished runs go
// in; a [Comparison] comes out that gives for each figure the difference with
// its interval, its effect size and one of four words: same, better, worse,
// cannot tell.
//
// The unit is the run, never the request. Runs with the same seed are pairs,
// and the interval is Student's on their log ratios; several runs a side
// without common seeds are compared by their pooled spread; one run a side by
// a circular block bootstrap over time plus the stored noise between runs
// ([Noise]), without which nothing can be said. docs/metrics.md has the rules.
package compare
