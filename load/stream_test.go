package load

import (
	"errors"
	"testing"
	"time"
)

// counting returns a stream of n moments, one a millisecond times the seed.
func counting(n int64) *Stream {
	return &Stream{
		Open: func(seed uint64) (func() (int64, bool), error) {
			if seed == 0 {
				return nil, errors.New("no seed")
			}
			i := int64(0)
			return func() (int64, bool) {
				i++
				return i * int64(seed) * 1e6, i <= n
			}, nil
		},
		Summary: Summary{Requests: float64(n), Known: true, PeakRate: 1000, Duration: time.Second},
	}
}

func TestStream(t *testing.T) {
	s, err := New(Plan{Stream: counting(3), Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(3) {
		for range 2 { // looking does not take
			if d, state := s.Peek(); state != Ready || d != (Due{At: (i + 1) * 2e6, Index: i, User: NoUser}) {
				t.Fatalf("%d: %+v, %v", i, d, state)
			}
		}
		s.Pop()
	}
	for range 2 {
		if _, state := s.Peek(); state != Finished {
			t.Fatal(state)
		}
		s.Pop()
	}
	s.Ended(0, 0)
}

func TestStreamIsLimited(t *testing.T) {
	p := Plan{Stream: counting(3), Seed: 1, MaxRequests: 2}
	s, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	s.Pop()
	s.Pop()
	if _, state := s.Peek(); state != Finished {
		t.Error(state)
	}
	if d := p.Describe(); d.Requests != 2 || d.PeakRate != 1000 || d.Duration != time.Second {
		t.Errorf("%+v", d)
	}
	if _, err := New(Plan{Stream: counting(3)}); err == nil {
		t.Error("the stream's own error is lost")
	}
}
