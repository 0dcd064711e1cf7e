// Package report shows a run to whoever needs to see it: [Summary] is
// summary.json (its JSON Schema is docs/summary.schema.json), and [Text] the
// terminal summary that says the same in ten seconds. Metrics and verdicts
// come in from measure and verify; nothing is computed here.
package report
