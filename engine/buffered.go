package engine

// What counts as buffered, see [Buffered].
const (
	burstChunks = 8
	burstGap    = 50_000     // ns
	burstWait   = 20_000_000 // ns
	burstShare  = 20
)

// Buffered tells whether the content of a stream came in bursts: eight chunks
// or more a burst on average, of which each follows the one before within 50 µs, with
// 20 ms or more for each burst, and all time within bursts at most a twentieth
// of the time from sent to the last of the arrivals at (ns, ascending). One
// burst at the end is a stream that something held back as a whole, several are
// a buffer that was full. No engine makes the tokens of one stream that fast
// after such waits: something on the way collected them, or the client was not
// scheduled while they came.
func Buffered(sent int64, at []int64) bool {
	n := int64(len(at))
	if n < burstChunks || sent < 0 {
		return false
	}
	bursts, inside := int64(1), int64(0)
	for i := range at[1:] {
		if gap := at[i+1] - at[i]; gap <= burstGap {
			inside += gap
		} else {
			bursts++
		}
	}
	all := at[n-1] - sent
	return n >= burstChunks*bursts && all >= burstWait*bursts && inside*burstShare <= all
}
