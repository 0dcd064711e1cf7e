package engine

// What counts as at once, see [AtOnce].
const (
	atOnceChunks = 8
	atOnceGap    = 50_000 // ns
	atOnceShare  = 20
)

// AtOnce tells whether the content of a stream came in one piece: at least
// eight chunks whose arrivals at (ns, ascending) lie within 50 µs each and
// within a twentieth of the wait for the first, counted from sent. No engine
// makes the tokens of one stream that fast after such a wait: something on the way collected them, or the
// client was not scheduled while they came.
func AtOnce(sent int64, at []int64) bool {
	n := int64(len(at))
	if n < atOnceChunks || sent < 0 {
		return false
	}
	spread, wait := at[n-1]-at[0], at[0]-sent
	return spread <= atOnceGap*(n-1) && spread*atOnceShare <= wait && wait > 0
}
