package fit

import (
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

const (
	// selectedRounds is how often ranks are corrected for what ends sessions.
	selectedRounds = 3
	// mostSelected bounds the later turns that are drawn in each.
	mostSelected = 20_000
)

// Where a long text ends a session and the texts of a session are alike, sessions
// that go on are those of short ones: of the later turns seen fewer are long than
// are drawn. A sampler has to draw so that what it ends up with is what was seen.

// selected fits how sessions go on, and corrects the ranks of later new text until
// samples have the log's. It returns the new text to draw from.
func (l *log) selected(k *traffic.Client, s *traffic.Sessions, chats []*chat, inputs []int32, ends bool) (*uncut, []int32, error) {
	u := l.goOn(chats)
	for round := 0; ; round++ {
		s.Turns, s.GoesOnFirst, s.GoesOn = whole(u.turns(max(len(chats), 1))), u.relative(0), u.relative(1)
		s.InputAlike = l.inputsAlike(chats)
		if s.GoesOn == nil || s.InputAlike == 0 && s.Jump == 1 {
			return u, inputs, nil
		}
		drawn, err := l.drawnRanks(k, s, ends)
		if err != nil || len(drawn) < leastRows {
			return u, inputs, err
		}
		if round == selectedRounds {
			return u, unselected(inputs, drawn), nil
		}
		for _, c := range chats {
			for i := range c.input[1:] {
				if v := c.seen[i+1]; v == v { // not NaN
					c.input[i+1] = drawn[min(int(v*float64(len(drawn))), len(drawn)-1)]
				}
			}
		}
		u = newUncut(l.seenOf(chats, u.sides))
	}
}

// drawnRanks are the ranks of the new text of later turns that a sampler of a
// client ends up with, ascending, as far as they come before the log's end.
func (l *log) drawnRanks(k *traffic.Client, s *traffic.Sessions, ends bool) ([]float64, error) {
	const unit = 1 << 20
	one := traffic.Client{Name: k.Name, Rate: k.Rate, Arrival: traffic.Arrival{Process: traffic.Poisson}, Lengths: k.Lengths, Sessions: &traffic.Sessions{}}
	*one.Sessions = *s
	one.Sessions.Input = stat.Uniform{Low: 1, High: unit}
	m := &traffic.Model{Duration: duration(l.span), Clients: []traffic.Client{one}}
	var out []float64
	var turns []traffic.Turn
	for again := uint64(0); len(out) < mostSelected && again < 20; again++ {
		sampler, err := m.Sampler(traffic.SampleOptions{Seed: stat.Key(l.options.Seed, "selected", again)})
		if err != nil {
			return nil, err
		}
		for {
			d, ok := sampler.Next()
			if !ok {
				break
			}
			turns = sampler.Turns(&d, turns[:0])
			at := time.Duration(d.At)
			for _, t := range turns[1:] {
				if at += t.Think; ends && at >= m.Duration {
					break
				}
				out = append(out, float64(t.Input)/(unit+1))
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// unselected are as many lengths as were seen, of which samples whose ranks come
// out as drawn have those that were seen.
func unselected(seen []int32, drawn []float64) []int32 {
	slices.Sort(seen)
	out := make([]int32, len(seen))
	for i := range out {
		share, _ := slices.BinarySearch(drawn, (float64(i)+.5)/float64(len(seen)))
		out[i] = seen[min(share*len(seen)/len(drawn), len(seen)-1)]
	}
	return out
}
