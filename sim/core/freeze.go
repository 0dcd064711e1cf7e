package core

// Freeze is a pause in which the engine computes nothing: For ns long, At ns
// after the first request arrived. The zero value never comes.
type Freeze struct{ At, For int64 }

// stretch returns the end of a step of d ns that starts at start.
func (f Freeze) stretch(first, start, d int64) int64 {
	from := first + f.At
	switch {
	case f.For <= 0 || start+d <= from || start >= from+f.For:
		return start + d
	case start < from:
		return start + d + f.For
	default:
		return from + f.For + d
	}
}
