// Package measure turns records into metrics: each defined once, in
// docs/metrics.md, with its unit, its source and when it is null.
//
// Attempts go in one by one ([Accumulator.Add]), live or from a run on disk;
// their scalars are kept in a row a request and the gaps between arrivals in
// about four bytes each, so that every percentile is exact. Out come a
// [Result] of metrics by name, counts, the steady window and the validity of
// each metric, and, for verify, the sample behind a claim ([View.Sample]).
package measure
