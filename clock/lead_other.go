//go:build !linux

package clock

// Lead pins; it knows no way here to run ahead of other threads.
func (r *Real) Lead() (release func(), first bool) { return r.Pin(), false }

// MayLead says whether Lead would be allowed a real-time priority.
func MayLead() bool { return false }
