package load

import "time"

// NewOpen returns Poisson arrivals of rate requests/s for a duration: a short
// form of New for a plan that is known to be sound.
func NewOpen(rate float64, duration time.Duration, seed uint64) Source {
	return newStaged(Plan{Stages: []Stage{{Mode: OpenLoop, From: rate, To: rate, Duration: duration}}, Seed: seed})
}

// NewClosed returns users that all start at 0 and stop starting at duration.
func NewClosed(users int, duration time.Duration) Source {
	n := float64(users)
	return newStaged(Plan{Stages: []Stage{{Mode: ClosedLoop, From: n, To: n, Duration: duration}}})
}
