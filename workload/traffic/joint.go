package traffic

import (
	"math"
	"math/rand/v2"

	"github.com/tokamak-bench/tokamak/stat"
)

// joint draws what belongs together in the sessions of a client.
type joint struct {
	*Sessions
	more []float64 // [k]: chance of another turn after turn k+1, of all sessions
	odds []float64 // [k]: what the relative odds are multiplied by after turn k+1; NaN: not looked for yet
}

// level is what the turns of one session have in common: normal scores of new
// text and of answers.
type level struct{ input, output float64 }

// newJoint is nil where the turns of a session have nothing to do with each other.
func newJoint(s *Sessions) *joint {
	j := &joint{Sessions: s}
	switch {
	case j.selects():
		j.more = chances(s.Turns)
		j.odds = make([]float64, len(j.more))
		for k := range j.odds {
			j.odds[k] = math.NaN()
		}
	case s.InputAlike == 0 && s.OutputAlike == 0:
		return nil
	}
	return j
}

// selects tells whether it depends on what is sent whether a session goes on.
func (j *joint) selects() bool { return j.GoesOnFirst != nil || j.GoesOn != nil }

// chances are those of another turn after each.
func chances(turns stat.Distribution) []float64 {
	const steps = 1 << 14
	var ended []float64 // sessions of k+1 turns
	for i := range steps {
		n := int(whole(turns.Quantile((float64(i)+.5)/steps), 1, maxTurns))
		for len(ended) < n {
			ended = append(ended, 0)
		}
		ended[n-1]++
	}
	left := float64(steps)
	for k, n := range ended {
		ended[k] = (left - n) / left
		left -= n
	}
	return ended
}

// chance is that of another turn after so many, the last of which has new text of
// a rank.
func (j *joint) chance(turns int64, rank float64) float64 {
	k := int(turns - 1)
	if k >= len(j.more) {
		return 0
	}
	odds := j.GoesOn
	if k == 0 {
		odds = j.GoesOnFirst
	}
	n := len(odds)
	if more := j.more[k]; n == 0 || more <= 0 || more >= 1 {
		return more
	}
	if math.IsNaN(j.odds[k]) {
		j.odds[k] = balance(odds, j.more[k])
	}
	return chanceOf(float64(j.odds[k] * odds[min(int(rank*float64(n)), n-1)]))
}

func chanceOf(odds float64) float64 { return odds / (1 + odds) }

// balance is what relative odds have to be multiplied by for the mean chance over
// their bins to be one between 0 and 1.
func balance(odds []float64, mean float64) float64 {
	low, high := 1e-12, 1e12
	for range 100 {
		middle := math.Sqrt(float64(low * high))
		sum := 0.0
		for _, o := range odds {
			sum += chanceOf(float64(middle * o))
		}
		if sum < float64(mean*float64(len(odds))) {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// drawLevel draws that of a session.
func drawLevel(r *rand.Rand) level {
	var l level
	l.input, l.output = score(r.Float64()), score(r.Float64())
	return l
}

// given is the rank that a share of those that go with another rank do not
// exceed; upTo are running sums of the grid of both, nil where they are independent.
func given(upTo [][]float64, rank, share float64) float64 {
	n := len(upTo)
	if n == 0 {
		return share
	}
	row := upTo[min(int(rank*float64(n)), n-1)]
	k, below := choose(row, share), 0.0
	if k > 0 {
		below = row[k-1]
	}
	within := 0.0
	if here := row[k] - below; here > 0 {
		within = (float64(share*row[n-1]) - below) / here
	}
	return (float64(k) + min(max(within, 0), 1)) / float64(n)
}

// alike makes a share one that has a correlation with those of the other turns of
// its session: their normal scores have the session's in common.
func alike(correlation, level, share float64) float64 {
	if correlation == 0 {
		return share
	}
	x := float64(level*math.Sqrt(correlation)) + float64(score(share)*math.Sqrt(1-correlation))
	return stat.Normal{SD: 1}.Share(x)
}

// score is the normal score of a share, kept within what doubles tell from 0 and 1.
func score(share float64) float64 {
	return stat.Normal{SD: 1}.Quantile(min(max(share, 1e-12), 1-1e-12))
}
