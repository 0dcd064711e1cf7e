package traffic

import (
	"math/rand/v2"
)

// stationary returns the share of the gaps that each state draws in the long
// run and the mean gap, by elimination without differences (Grassmann, Taksar
// and Heyman 1985); false where not every state follows from every other.
func (k *Markov) stationary() (share []float64, mean float64, ok bool) {
	n := len(k.Gaps)
	a := make([][]float64, n)
	for i := range a {
		a[i] = append([]float64(nil), k.Next[i]...)
	}
	for last := n - 1; last > 0; last-- {
		sum := 0.0
		for j := range last {
			sum += a[last][j]
		}
		if !(sum > 0) {
			return nil, 0, false
		}
		for i := range last {
			a[i][last] /= sum
			for j := range last {
				a[i][j] += float64(a[i][last] * a[last][j])
			}
		}
	}
	share = make([]float64, n)
	share[0] = 1
	total := 1.0
	for j := 1; j < n; j++ {
		for i := range j {
			share[j] += float64(share[i] * a[i][j])
		}
		if !(share[j] > 0) {
			return nil, 0, false
		}
		total += share[j]
	}
	for i := range share {
		share[i] /= total
		mean += float64(share[i] * k.Gaps[i].Mean())
	}
	return share, float64(float32(mean)), true // whatever an architecture makes of the last bits
}

// chain is a Markov chain of gaps of mean 1 under way.
type chain struct {
	*Markov
	mean  float64
	upTo  [][]float64 // sums of each row of Next
	state int
}

// warmed is how many gaps a chain goes through before it begins.
const warmed = 512

// newChain returns a chain in the middle of a gap, and the rest of that gap.
func newChain(k *Markov, r *rand.Rand) (c *chain, rest float64) {
	share, mean, _ := k.stationary()
	c = &chain{Markov: k, mean: mean}
	for _, row := range k.Next {
		c.upTo = append(c.upTo, sums(row))
	}
	c.state = choose(sums(share), r.Float64())
	states, gaps, total := make([]int, warmed), make([]float64, warmed), 0.0
	for i := range warmed {
		states[i] = c.state
		gaps[i] = max(k.Gaps[c.state].Sample(r), 0)
		total += gaps[i]
		c.state = choose(c.upTo[c.state], r.Float64())
	}
	at := float64(r.Float64() * total)
	i := 0
	for ; i < warmed-1 && at >= gaps[i]; i++ {
		at -= gaps[i]
	}
	c.state = states[i]
	return c, max(gaps[i]-at, 0) / mean
}

// gap draws the next state and its gap.
func (c *chain) gap(r *rand.Rand) float64 {
	c.state = choose(c.upTo[c.state], r.Float64())
	return max(c.Gaps[c.state].Sample(r), 0) / c.mean
}

// sums returns the running sums of weights.
func sums(weights []float64) []float64 {
	list := make([]float64, len(weights))
	sum := 0.0
	for i, w := range weights {
		sum += w
		list[i] = sum
	}
	return list
}

// choose returns which of some weights a number from [0, 1) falls on, given
// their running sums.
func choose(upTo []float64, u float64) int {
	u = float64(u * upTo[len(upTo)-1])
	for i, s := range upTo {
		if u < s {
			return i
		}
	}
	return len(upTo) - 1
}
