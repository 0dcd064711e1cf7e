package rivals

import "time"

// spent is what a client's process tree used.
type spent struct {
	CPU     time.Duration
	PeakMB  float64 // proportional set size of the tree, read twice a second
	Wall    time.Duration
	Started int64 // ns of CLOCK_MONOTONIC
}
