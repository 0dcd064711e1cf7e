// Package measure turns records into metrics: each defined once, in
// docs/metrics.md, with its unit, its source and when it is null.
package measure
