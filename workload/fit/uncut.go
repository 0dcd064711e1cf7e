package fit

import (
	"math"
	"slices"
)

// seen is what a log shows of when the sessions of a client go on: after each
// turn either the next one came, or the log had ended some time later.
type seen struct {
	sides [2]int      // bins of the new text of first turns and of later ones; 0: not looked at
	gaps  []float64   // s, from a turn to the next, where the log says when it came, ascending
	n     [][]float64 // [k][bin]: sessions of at least k+1 turns
	went  [][]float64 // of them, those seen to go on
	ended []ended
}

// ended is a session that was not seen to go on.
type ended struct {
	turn, bin int
	left      float64 // s, from the end of its last answer to the log's
}

// bins are those after turn k+1; the last is of new text that is not known.
func (s *seen) bins(k int) int { return s.sides[min(k, 1)] + 1 }

func (s *seen) bin(k int, rank float64) int {
	side := s.sides[min(k, 1)]
	if side == 0 || math.IsNaN(rank) {
		return side
	}
	return min(int(rank*float64(side)), side-1)
}

// seenOf is what is seen of sessions.
func (l *log) seenOf(chats []*chat, sides [2]int) *seen {
	s := &seen{sides: sides}
	for _, c := range chats {
		last := len(c.rows) - 1
		for k, r := range c.rows {
			if len(s.n) <= k {
				s.n, s.went = append(s.n, make([]float64, s.bins(k))), append(s.went, make([]float64, s.bins(k)))
			}
			bin := s.bin(k, c.input[k])
			s.n[k][bin]++
			if k < last {
				s.went[k][bin]++
				if next := c.rows[k+1]; l.timely(next) {
					s.gaps = append(s.gaps, l.think(r, next))
				}
				continue
			}
			left := math.Inf(1) // of a row that holds a whole conversation
			if l.timely(r) {
				left = l.leftAfter(r)
			}
			s.ended = append(s.ended, ended{k, bin, left})
		}
	}
	slices.Sort(s.gaps)
	return s
}

// leftAfter is how long the log goes on after a request's answer, in s.
func (l *log) leftAfter(r int32) float64 {
	left := l.span - float64(l.at[r])/1e9
	if l.took != nil {
		left -= float64(l.took[r])
	}
	return max(left, 0)
}

const (
	// uncutClasses is among how many classes of gaps those that the log did not live
	// to see are divided.
	uncutClasses = 100
	// uncutRounds bounds the expectation and maximisation.
	uncutRounds = 300
	// evenSessions is how many sessions of the mean chance each bin gets besides.
	evenSessions = 2
)

// uncut is how sessions go on when no log ends: what is likeliest, given that a
// session whose last turn is near the end of the log may have gone on behind it. The
// odds of another turn are those of the turn's number times those of its bin.
type uncut struct {
	*seen
	edge   []float64    // upper edges of the classes of gaps, equally full, in s
	gap    []float64    // share of the gaps in each
	counts []float64    // of them, as seen
	number []float64    // [k]: log odds of a turn after turn k+1
	odds   [2][]float64 // log odds of the bins, after first and later turns
	cells  []cell
}

// cell are sessions not seen to go on after a turn, by bin and the class of what was left.
type cell struct {
	turn, bin, class int
	n                float64
	seen             float64 // mean share of the class that the log would have shown
}

// newUncut fits what is seen; where no gap is known, sessions end where they are
// seen to.
func newUncut(s *seen) *uncut {
	u := &uncut{seen: s, number: make([]float64, len(s.n))}
	for i := range u.odds {
		u.odds[i] = make([]float64, s.sides[i]+1)
	}
	u.classes()
	u.cells = u.group()
	for range uncutRounds {
		if u.round() < 1e-5 {
			break
		}
	}
	return u
}

// classes divides the gaps into classes.
func (u *uncut) classes() {
	n := len(u.gaps)
	for i := range min(uncutClasses, n) {
		e := u.gaps[(n*(i+1)-1)/min(uncutClasses, n)]
		if k := len(u.edge); k == 0 || e > u.edge[k-1] {
			u.edge = append(u.edge, e)
		}
	}
	u.counts, u.gap = make([]float64, len(u.edge)), make([]float64, len(u.edge))
	for _, g := range u.gaps {
		u.counts[u.class(g)]++
	}
	for i, c := range u.counts {
		u.gap[i] = c / float64(n)
	}
}

func (u *uncut) class(gap float64) int {
	i, _ := slices.BinarySearch(u.edge, gap)
	return min(i, len(u.edge)-1)
}

// within is the share of a class that lies below a time.
func (u *uncut) within(class int, t float64) float64 {
	from := 0.0
	if class > 0 {
		from = u.edge[class-1]
	}
	if u.edge[class] <= from {
		return 1
	}
	return (t - from) / (u.edge[class] - from)
}

// group puts together the sessions that were not seen to go on; those after which
// the log went on longer than any gap have ended.
func (u *uncut) group() []cell {
	if len(u.edge) == 0 {
		return nil
	}
	type key struct{ turn, bin, class int }
	at := map[key]int{}
	var out []cell
	for _, e := range u.ended {
		if e.left >= u.edge[len(u.edge)-1] {
			continue
		}
		k := key{e.turn, e.bin, u.class(e.left)}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, cell{turn: k.turn, bin: k.bin, class: k.class})
		}
		c := &out[i]
		c.n++
		c.seen += (u.within(k.class, e.left) - c.seen) / c.n
	}
	return out
}

// chance is that of a turn after turn k+1 with new text of a bin.
func (u *uncut) chance(k, bin int) float64 { return logistic(u.number[k] + u.odds[min(k, 1)][bin]) }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// round is one of expectation and maximisation. It returns by how much the log odds
// of the numbers changed at most.
func (u *uncut) round() float64 {
	behind := make([]float64, len(u.gap)+1) // share of gaps in later classes
	for i := len(u.gap) - 1; i >= 0; i-- {
		behind[i] = behind[i+1] + u.gap[i]
	}
	on := make([][]float64, len(u.went))
	for k := range on {
		on[k] = slices.Clone(u.went[k])
	}
	gaps, from := slices.Clone(u.counts), make([]float64, len(u.gap))
	for i := range u.cells {
		c := &u.cells[i]
		hidden := behind[c.class+1] + (1-c.seen)*u.gap[c.class]
		p := u.chance(c.turn, c.bin)
		n := c.n * p * hidden / (1 - p*(1-hidden))
		if hidden <= 0 || n <= 0 {
			continue
		}
		on[c.turn][c.bin] += n
		gaps[c.class] += n * (1 - c.seen) * u.gap[c.class] / hidden
		from[c.class] += n / hidden
	}
	earlier, sum := 0.0, 0.0 // earlier: what a class gets for each of its share
	for i := range gaps {
		gaps[i] += earlier * u.gap[i]
		earlier += from[i]
		sum += gaps[i]
	}
	for i := range gaps {
		u.gap[i] = gaps[i] / sum
	}
	return u.maximise(on)
}

// farthest bounds log odds.
const farthest = 12

// maximise fits the odds to how many sessions went on.
func (u *uncut) maximise(on [][]float64) float64 {
	for later, odds := range u.odds {
		for bin := range odds[:len(odds)-1] {
			u.fitBin(on, later, bin)
		}
	}
	most := 0.0
	for k := range u.number {
		went := 0.0
		for _, x := range on[k] {
			went += x
		}
		if k == len(u.number)-1 {
			went = 0 // nothing is known of more turns than any session has
		}
		x := newton(u.number[k], func(x float64) (miss, slope float64) {
			miss = -went
			for bin, n := range u.n[k] {
				p := logistic(x + u.odds[min(k, 1)][bin])
				miss, slope = miss+n*p, slope+n*p*(1-p)
			}
			return miss, slope
		})
		most = max(most, math.Abs(logistic(x)-logistic(u.number[k])))
		u.number[k] = x
	}
	return most
}

// fitBin fits the odds of a bin after first turns (0) or later ones (1).
func (u *uncut) fitBin(on [][]float64, later, bin int) {
	first, end := 0, 1
	if later == 1 {
		first, end = 1, len(u.number)
	}
	went, all, mean := 0.0, 0.0, 0.0
	for k := first; k < end; k++ {
		went += on[k][bin]
		for _, n := range u.n[k] {
			all += n
		}
		for _, x := range on[k] {
			mean += x
		}
	}
	if all == 0 {
		return
	}
	mean /= all
	even := math.Log(max(mean, 1e-6) / max(1-mean, 1e-6))
	odds := u.odds[later]
	odds[bin] = newton(odds[bin], func(x float64) (miss, slope float64) {
		p := logistic(even + x)
		miss, slope = evenSessions*(p-mean)-went, evenSessions*p*(1-p)
		for k := first; k < end; k++ {
			p := logistic(u.number[k] + x)
			miss, slope = miss+u.n[k][bin]*p, slope+u.n[k][bin]*p*(1-p)
		}
		return miss, slope
	})
}

// newton takes a few steps towards where an ascending function is zero.
func newton(x float64, f func(x float64) (value, slope float64)) float64 {
	for range 4 {
		value, slope := f(x)
		step := value / max(slope, 1e-9)
		x = min(max(x-min(max(step, -2), 2), -farthest), farthest)
		if math.Abs(step) < 1e-9 {
			break
		}
	}
	return x
}

// likelihoods are by how many nats what is seen of other sessions is likely, of
// first turns and of later ones, where this one tells of turns as many.
func (u *uncut) likelihoods(s *seen) (out [2]float64) {
	const least = 1e-3
	p := func(k, bin int) float64 { return min(max(u.chance(k, bin), least), 1-least) }
	for k, bins := range s.went[:min(len(s.went), len(u.number))] {
		for bin, n := range bins {
			out[min(k, 1)] += n * math.Log(p(k, bin))
		}
	}
	upTo := make([]float64, len(u.gap)+1)
	for i, g := range u.gap {
		upTo[i+1] = upTo[i] + g
	}
	for _, e := range s.ended {
		if e.turn >= len(u.number) {
			continue
		}
		shown := 1.0
		if n := len(u.edge); n > 0 && e.left < u.edge[n-1] {
			c := u.class(e.left)
			shown = upTo[c] + u.gap[c]*u.within(c, e.left)
		}
		out[min(e.turn, 1)] += math.Log(1 - p(e.turn, e.bin)*shown)
	}
	return out
}

// relative are the odds of the bins after first turns (0) or later ones (1), around
// 1; nil of none.
func (u *uncut) relative(later int) []float64 {
	n := u.sides[later]
	if n == 0 {
		return nil
	}
	mean := 0.0
	for _, x := range u.odds[later][:n] {
		mean += x / float64(n)
	}
	out := make([]float64, n)
	for i, x := range u.odds[later][:n] {
		out[i] = round(math.Exp(x - mean))
	}
	return out
}

// goesOn are the chances of another turn after each, new text of each bin coming
// as often.
func (u *uncut) goesOn() []float64 {
	out := make([]float64, len(u.number))
	for k := range out {
		n := max(u.bins(k)-1, 1)
		for bin := range n {
			out[k] += u.chance(k, bin) / float64(n)
		}
	}
	out[len(out)-1] = 0
	return out
}

// turns are so many numbers of turns, evenly taken from their distribution.
func (u *uncut) turns(n int) []int32 {
	out := make([]int32, 0, n)
	goesOn := u.goesOn()
	k, alive := 0, goesOn[0] // share of sessions of more than k+1 turns
	for i := range n {
		for p := (float64(i) + .5) / float64(n); p > 1-alive && k < len(goesOn)-1; {
			k++
			alive *= goesOn[k]
		}
		out = append(out, int32(k+1))
	}
	return out
}

// thinks are as many gaps as were seen, ascending, evenly taken from their
// distribution.
func (u *uncut) thinks() []float64 {
	out := make([]float64, len(u.gaps))
	weight := func(k int) float64 {
		c := u.class(u.gaps[k])
		return u.gap[c] / u.counts[c]
	}
	k, upTo := 0, 0.0
	for i := range out {
		if i == 0 {
			upTo = weight(0)
		}
		for p := (float64(i) + .5) / float64(len(out)); p > upTo && k < len(u.gaps)-1; {
			k++
			upTo += weight(k)
		}
		out[i] = u.gaps[k]
	}
	return out
}
