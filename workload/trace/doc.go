// Package trace reads recorded traffic: traces, gateway logs, datasets. What
// comes in is any of the formats of [Formats], plain, gzip or zstd, of any
// length; what goes out is one [Row] a recorded session, streamed in constant
// memory. A line that cannot be used is a [LineError] with its number and the
// reason, and never loses the lines behind it.
package trace
