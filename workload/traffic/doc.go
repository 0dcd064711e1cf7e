// Package traffic is a model of the traffic of a service: a mixture of clients,
// each with its rate over time, its bursts, its lengths, sessions and shared
// prefixes. A [Model] is learnt from logs by package fit, or written by hand,
// lives in a file (traffic.yaml), and is sampled: moments and lengths follow
// from (seed, client, index) alone.
//
// A model holds figures and names that it made up. Texts, and names from the
// logs, are in it only where the user asked for them.
package traffic
