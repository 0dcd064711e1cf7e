// Package scenario turns what the user asked for, a YAML file and flags that
// say the same things with the same words, into one resolved [Scenario].
//
// A setting is a word of a section: `rate` in `load:` is `--rate`. File and
// flags become the same list of settings; flags win; each setting is parsed by
// one parser, whatever it came from; then defaults are applied and what
// excludes each other is refused. Every error names file, line and column (or
// the flag) and what was expected. Nothing is sent and nothing is written here.
//
// [Scenario.Frozen] is the resolved form for the run's manifest: JSON, itself
// a valid scenario file, with secrets redacted.
package scenario
