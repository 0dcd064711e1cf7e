// Package stat holds the one set of statistics that tokamak uses: keyed random
// streams, distributions, order statistics, bounds and fits. Values go in,
// numbers come out; nothing here knows what a request is. Rules and test
// vectors are those of docs/metrics.md.
package stat
