package runner

import (
	"sync"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/record"
)

// Snapshot is the state of a run at a moment, for people who watch it. Its
// latencies are approximate (three digits): the summary's are exact.
type Snapshot struct {
	At     int64 // ns since the run's epoch
	Sent   int64
	Ended  int64
	OK     int64
	Failed int64
	// Abandoned of the Failed were given up by their users.
	Abandoned int64
	InFlight  int64
	// Allowed is how many users may be under way, of Users, in a closed loop
	// that answers to latency; 0 of 0 in others.
	Allowed, Users int64
	Tokens         int64 // output tokens of what has ended, as the server counted
	Stage          int
	TTFTp50        int64 // ns; 0 where nothing has answered yet
	TTFTp99        int64
}

// Live gathers figures while a run goes on. Snapshot may be called from any
// goroutine.
type Live struct {
	mu   sync.Mutex
	s    Snapshot
	ttft *hdrhistogram.Histogram
}

var _ Observer = (*Live)(nil)

// NewLive returns an empty Live. TTFT is kept in µs up to an hour.
func NewLive() *Live {
	return &Live{ttft: hdrhistogram.New(1, 3_600_000_000, 3)}
}

// Sent counts a sending.
func (l *Live) Sent(a *record.Attempt) {
	l.mu.Lock()
	l.s.At = a.Dispatched.Or(l.s.At)
	l.s.Sent++
	l.s.InFlight++
	l.mu.Unlock()
}

// Ended counts an end.
func (l *Live) Ended(a *record.Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.s.At = max(l.s.At, a.Moments.Ended.Or(0))
	l.s.InFlight--
	l.s.Ended++
	l.s.Tokens += a.OutputUsage.Or(int64(a.Chunks.Len()))
	switch a.Outcome {
	case record.OK:
		l.s.OK++
	case record.Abandoned:
		l.s.Abandoned++
		l.s.Failed++
	case record.Cut:
	default:
		l.s.Failed++
	}
	if t, ok := a.FirstToken.Get(); ok {
		// Values beyond an hour are clamped: this is a live figure.
		_ = l.ttft.RecordValue(min(max((t-a.Intended.Or(t))/1000, 1), 3_600_000_000))
	}
}

// Level notes how many users are allowed.
func (l *Live) Level(_ int64, v load.Level) {
	l.mu.Lock()
	l.s.Allowed, l.s.Users = v.Allowed, v.Of
	l.mu.Unlock()
}

// Stage notes the stage under way.
func (l *Live) Stage(stage int, _ int64) {
	l.mu.Lock()
	l.s.Stage = stage
	l.mu.Unlock()
}

// Snapshot returns the figures as of the last thing that happened.
func (l *Live) Snapshot() Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.s
	if l.ttft.TotalCount() > 0 {
		s.TTFTp50 = l.ttft.ValueAtQuantile(50) * 1000
		s.TTFTp99 = l.ttft.ValueAtQuantile(99) * 1000
	}
	return s
}
