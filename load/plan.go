package load

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// Mode says what a stage holds.
type Mode uint8

// The modes of a stage.
const (
	// OpenLoop fixes moments ahead: From and To are requests/s.
	OpenLoop Mode = iota + 1
	// ClosedLoop has users who each begin again after the end of the last:
	// From and To are numbers of users.
	ClosedLoop
)

// Stage is one level of a load, or a linear ramp between two.
type Stage struct {
	Mode Mode
	// From and To are the levels at the stage's beginning and end.
	From, To float64
	// Duration is the stage's length; 0: until Requests have been due.
	Duration time.Duration
	// Requests ends the stage when so many have been due; 0: no such limit.
	// The next stage then begins at the moment of the due that would follow.
	// A ramp and a closed stage in front of others need a Duration.
	Requests int64
}

// Process is the kind of an arrival process.
type Process uint8

// The arrival processes.
const (
	// Poisson has exponential gaps.
	Poisson Process = iota
	// EvenGaps has gaps of exactly one over the rate; the first due is at the
	// beginning.
	EvenGaps
	// GammaGaps has gamma distributed gaps of a given coefficient of variation.
	GammaGaps
)

// Arrival says how the dues of open stages are spread around their rate.
type Arrival struct {
	Process Process
	CV      float64 // of gaps, GammaGaps only
}

// Plan is a load: stages in turn, an explicit schedule, or a stream of moments.
type Plan struct {
	Stages  []Stage
	Arrival Arrival
	// Think is how long, in seconds, a closed loop's user waits before the
	// next; nil: not at all.
	Think stat.Distribution
	// Adapt is how the users of closed stages answer to latency; nil: they do
	// not. The source of such a plan is an [Adaptive].
	Adapt *Adapt
	// Schedule are moments in ns from the start, in rising order, instead of
	// stages.
	Schedule []int64
	// Speed divides the moments of Schedule; 0 means 1.
	Speed float64
	// Stream, where set, yields the moments instead of stages and schedule.
	Stream *Stream
	Seed   uint64
	// MaxRequests ends the load after so many dues; 0: no limit. A due of a
	// workload of conversations begins a whole one.
	MaxRequests int64
}

// New returns the source of a plan's moments, or an error that says which part
// of the plan cannot be.
func New(p Plan) (Source, error) {
	if p.Stream != nil {
		return newStream(p)
	}
	if p.Schedule != nil {
		return newSchedule(p)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return newStaged(p), nil
}

func (p Plan) check() error {
	if len(p.Stages) == 0 {
		return errors.New("a load needs a stage or a schedule")
	}
	if a := p.Arrival; a.Process == GammaGaps && !(a.CV > 0 && a.CV <= 100) {
		return fmt.Errorf("arrival: expected a cv above 0 and at most 100, found %v", a.CV)
	}
	if p.MaxRequests < 0 {
		return fmt.Errorf("expected a number of requests of at least 0, found %d", p.MaxRequests)
	}
	closed, most := false, int64(0)
	for i, s := range p.Stages {
		if s.Mode == ClosedLoop {
			closed, most = true, max(most, int64(max(s.From, s.To)))
		}
		if err := s.check(i == len(p.Stages)-1, p.MaxRequests > 0); err != nil {
			return fmt.Errorf("stage %d: %w", i+1, err)
		}
	}
	if p.Adapt == nil {
		return nil
	}
	if !closed {
		return errors.New("adapt: needs a closed loop, of users")
	}
	if p.Adapt.Floor >= most {
		return fmt.Errorf("adapt: a floor of %d leaves nothing to adapt of %d users: expected more users, or a floor below their number", p.Adapt.Floor, most)
	}
	return p.Adapt.check()
}

const (
	maxRate  = 1e6
	maxUsers = 1e6
)

func (s Stage) check(last, bounded bool) error {
	switch {
	case s.Mode != OpenLoop && s.Mode != ClosedLoop:
		return errors.New("is neither open nor closed")
	case s.Duration < 0 || s.Requests < 0:
		return errors.New("has a negative length")
	case s.Duration > 10*365*24*time.Hour:
		return errors.New("is longer than ten years")
	case s.Duration == 0 && s.Requests == 0 && (!last || !bounded):
		return errors.New("needs a duration or a number of requests")
	case s.Duration == 0 && s.From != s.To:
		return errors.New("is a ramp and needs a duration")
	case s.Duration == 0 && s.From == 0:
		return errors.New("sends nothing and needs a duration")
	case s.Mode == ClosedLoop && s.Duration == 0 && !last:
		return errors.New("is a closed loop in front of another stage and needs a duration")
	case s.Mode == ClosedLoop && s.Requests > 0 && !last:
		return errors.New("is a closed loop: only the last may end by its number of requests")
	}
	for _, level := range []float64{s.From, s.To} {
		if s.Mode == OpenLoop && !(level == 0 || level >= 1e-6 && level <= maxRate) {
			return fmt.Errorf("expected a rate of 0 or from 1e-6 to %g requests/s, found %v", float64(maxRate), level)
		}
		if s.Mode == ClosedLoop && !(level >= 0 && level <= maxUsers && level == math.Trunc(level)) {
			return fmt.Errorf("expected a whole number of users from 0 to %g, found %v", float64(maxUsers), level)
		}
	}
	return nil
}

// Summary is what a plan amounts to.
type Summary struct {
	// Requests is the expected number of dues where Known: not of a closed
	// loop that no number of requests ends.
	Requests float64
	Known    bool
	// PeakRate is the highest rate of its open stages, in requests/s: of a
	// schedule, the most in any one second.
	PeakRate float64
	// PeakUsers is the most users that its closed stages hold.
	PeakUsers int64
	// Duration is until nothing more is due: expected, where a number of
	// requests ends an open stage; 0 where that number ends a closed one and
	// nothing bounds it.
	Duration time.Duration
}

// Describe returns what a plan amounts to. It must be one that New accepts.
func (p Plan) Describe() Summary {
	if p.Stream != nil {
		return p.describeStream()
	}
	if p.Schedule != nil {
		return p.describeSchedule()
	}
	s := Summary{Known: true}
	limit := math.Inf(1)
	if p.MaxRequests > 0 {
		limit = float64(p.MaxRequests)
	}
	for _, g := range p.Stages {
		if g.Mode == ClosedLoop {
			s.PeakUsers = max(s.PeakUsers, int64(g.From), int64(g.To))
			s.Duration += g.Duration
			if g.Requests > 0 && s.Known {
				s.Requests += float64(g.Requests)
			} else if max(g.From, g.To) > 0 {
				s.Known = false
			}
			continue
		}
		n, length := g.expected(limit - s.Requests)
		s.PeakRate = max(s.PeakRate, g.From, g.To)
		s.Requests += n
		s.Duration += length
	}
	if p.MaxRequests > 0 && (!s.Known || s.Requests > limit) {
		// A closed loop without a duration goes on until the limit; one with
		// a duration may end before it.
		last := p.Stages[len(p.Stages)-1]
		s.Known = s.Known || last.Duration == 0
		s.Requests = limit
	}
	if !s.Known {
		s.Requests = 0
	}
	return s
}

// expected returns how many requests of an open stage are due, at most limit,
// and until when.
func (s Stage) expected(limit float64) (n float64, length time.Duration) {
	n = limit
	if s.Requests > 0 {
		n = min(n, float64(s.Requests))
	}
	whole := math.Inf(1)
	if s.Duration > 0 {
		whole = (s.From + s.To) / 2 * s.Duration.Seconds()
	}
	if whole <= n {
		return whole, s.Duration
	}
	t := (&ramp{from: s.From, slope: s.slope()}).inverse(n)
	return n, time.Duration(min(t*1e9, float64(math.MaxInt64/2)))
}

func (s Stage) slope() float64 {
	if s.Duration == 0 {
		return 0
	}
	return (s.To - s.From) / s.Duration.Seconds()
}
