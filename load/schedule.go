package load

import (
	"fmt"
	"math"
	"time"
)

// schedule yields explicit moments.
type schedule struct {
	at    []int64
	speed float64
	index int64
}

func newSchedule(p Plan) (*schedule, error) {
	if len(p.Stages) > 0 {
		return nil, fmt.Errorf("a load has stages or a schedule, not both")
	}
	if p.Adapt != nil {
		return nil, fmt.Errorf("adapt: needs a closed loop, of users")
	}
	speed := p.speed()
	if !(speed > 0 && !math.IsInf(speed, 1)) {
		return nil, fmt.Errorf("expected a speed above 0, found %v", p.Speed)
	}
	before := int64(0)
	for i, t := range p.Schedule {
		if t < before {
			return nil, fmt.Errorf("schedule: moment %d is %v, before %v: moments must not fall", i+1, time.Duration(t), time.Duration(before))
		}
		before = t
	}
	if float64(before)/speed > math.MaxInt64/2 {
		return nil, fmt.Errorf("schedule: at speed %v it is longer than a century", speed)
	}
	return &schedule{at: p.limited(), speed: speed}, nil
}

func (p Plan) speed() float64 {
	if p.Speed == 0 {
		return 1
	}
	return p.Speed
}

func (p Plan) limited() []int64 {
	if p.MaxRequests > 0 && int64(len(p.Schedule)) > p.MaxRequests {
		return p.Schedule[:p.MaxRequests]
	}
	return p.Schedule
}

func (s *schedule) moment(i int64) int64 {
	if s.speed == 1 {
		return s.at[i]
	}
	return int64(float64(s.at[i]) / s.speed)
}

// Peek returns the next moment.
func (s *schedule) Peek() (Due, State) {
	if s.index >= int64(len(s.at)) {
		return Due{}, Finished
	}
	return Due{At: s.moment(s.index), Index: s.index, User: NoUser}, Ready
}

// Pop moves to the moment after the present one.
func (s *schedule) Pop() { s.index++ }

// Ended does nothing: a schedule does not wait for answers.
func (s *schedule) Ended(_, _ int64) {}

func (p Plan) describeSchedule() Summary {
	s := &schedule{at: p.limited(), speed: p.speed()}
	n := int64(len(s.at))
	sum := Summary{Requests: float64(n), Known: true}
	if n > 0 {
		sum.Duration = time.Duration(s.moment(n - 1))
	}
	first := int64(0)
	for i := range n {
		for s.moment(i)-s.moment(first) >= int64(time.Second) {
			first++
		}
		sum.PeakRate = max(sum.PeakRate, float64(i-first+1))
	}
	return sum
}
