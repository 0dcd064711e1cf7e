package fit

import (
	"fmt"
	"time"
)

// Pause is a time in which a log has no request, long enough to make one log of
// what may be two.
type Pause struct {
	From   float64 `json:"from_s"` // the request before it, in s from the first
	To     float64 `json:"to_s"`   // the request behind it
	Before int64   `json:"requests_before"`
}

// A pause is longer than leastPause and than one pauseShare-th of the log, so
// that nights, weekends and a single day off are none.
const (
	leastPause = 24 * time.Hour
	pauseShare = 4
)

// Pauses returns the times without a request that are longer than a day and than
// a quarter of the time from the first to the last of ascending moments, in ns.
func Pauses(at []int64) []Pause {
	if len(at) < 2 {
		return nil
	}
	least := max(int64(leastPause), (at[len(at)-1]-at[0])/pauseShare)
	var out []Pause
	for i := 1; i < len(at); i++ {
		if at[i]-at[i-1] > least {
			out = append(out, Pause{float64(at[i-1]-at[0]) / 1e9, float64(at[i]-at[0]) / 1e9, int64(i)})
		}
	}
	return out
}

// Words say where the pause of a log of so many requests lies: by date where the
// moment of the first is known, else from the first on.
func (p Pause) Words(begin *time.Time, requests int64) string {
	when := fmt.Sprintf("%s to %s after the first", shortDuration(p.From), shortDuration(p.To))
	if begin != nil {
		date := func(s float64) string { return begin.Add(time.Duration(s * 1e9)).UTC().Format("2006-01-02 15:04:05") }
		when = date(p.From) + " to " + date(p.To) + " UTC"
	}
	return fmt.Sprintf("the log has no request for %s, from %s, with %s of its %s requests before: rates and burstiness count that time in; "+
		"where stamps are wrong, or the log is made of several, its parts tell more", shortDuration(p.To-p.From), when, grouped(p.Before), grouped(requests))
}
