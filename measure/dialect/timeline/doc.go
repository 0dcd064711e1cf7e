// Package timeline reads small hand-written runs: a few requests, the events
// of their responses, and what each tool is expected to print of them. One
// file holds one rule; docs/dialects.md says how a file is written.
package timeline
