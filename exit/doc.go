// Package exit holds the exit codes of the command and attaches them to
// errors: whoever knows what an error means for the caller's script wraps it
// with its code, and main alone reads it.
package exit
