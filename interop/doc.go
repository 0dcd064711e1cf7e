// Package interop reads the results of other load tools and writes a run in
// their formats.
//
// In comes a file of another tool ([Import]). If it has data of each request
// it becomes a run directory, so that all that works on a run works on it;
// what the file does not tell stays null, and the manifest says what that is.
// A file of summaries alone becomes a list of the tool's own figures.
//
// Out goes a run in another tool's format ([Export]), with that tool's
// definitions: a field is written only where its meaning is the same, and what
// is left out is returned in sentences. docs/interop.md has the list.
package interop
