// Command tokamak stress-tests, verifies and prices LLM inference services.
//
// It turns words into calls: flags and files into a scenario, a scenario into
// a run, a run into text or JSON. Results go to standard output, progress and
// errors to standard error; the exit code says how it went (package exit).
// There is no logic here, one file a subcommand.
package main
