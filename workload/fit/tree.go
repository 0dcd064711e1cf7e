package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
)

const (
	// classRows is how many requests a class has at least.
	classRows   = 200
	mostClasses = 12
	// leastMixed is how many requests a wider window has at least for its mix to
	// be divided further.
	leastMixed = 2
	// cutErrors is how many standard errors of chance a share changes by at some
	// level, for a class to be cut: some hundreds of cuts and levels are tried.
	cutErrors = 5
)

// cutShares are the shares of a class at which cuts of either length are tried.
var cutShares = [...]float64{.1, .25, .5, .75, .9, .95, .98}

// class is requests between two lengths of prompts and of answers.
type class struct {
	rows          []int32 // indices of moments, ascending
	input, output between
	factor        []float64 // of the mean rate of all, in each window
	curve         *curve    // its arrivals
	cut           lengthCut // the best one, worth 0 where there is none
}

// between are lengths of so many tokens at least and at most.
type between struct{ least, most int32 }

// tree divides requests into classes.
type tree struct {
	at            []float64
	input, output []int32
	span, fine    float64
	// the means over all requests, a length not said being 0
	meanInput, meanOutput, meanHeld float64
	ladder                          []int // widths in fine windows, the rates' first
	classes                         []class
	levels                          []BurstLevel // what is kept of shares at each width, of the cut that keeps most
}

// newTree has the requests whose moments, in s, and lengths these are.
func newTree(at []float64, input, output []int32, span, window, fine float64) *tree {
	t := &tree{at: at, input: input, output: output, span: span, fine: fine, ladder: ladder(int(math.Round(window / fine))),
		meanInput: max(meanTokens(input), 1), meanOutput: max(meanTokens(output), 1)}
	for i := range input {
		t.meanHeld += heldBy(input[i], output[i]) / float64(len(input))
	}
	t.meanHeld = max(t.meanHeld, 1)
	for _, n := range t.ladder[1:] {
		t.levels = append(t.levels, BurstLevel{Window: float64(n) * fine, Dispersion: 1})
	}
	return t
}

// heldBy is how many tokens a request holds in an engine's cache, summed over the
// tokens of its answer: its prompt all the time, its answer as it grows.
func heldBy(input, output int32) float64 {
	return (float64(input) + float64(output)/2) * float64(output)
}

// name says of which lengths a class is.
func (c *class) name() string {
	return fmt.Sprintf("input-%d-%d-output-%d-%d", c.input.least, c.input.most, c.output.least, c.output.most)
}

// most is the greatest of a list, at least 1.
func most(list []int32) int32 {
	m := int32(1)
	for _, x := range list {
		m = max(m, x)
	}
	return m
}

func meanTokens(list []int32) float64 {
	sum := 0.0
	for _, x := range list {
		sum += float64(x)
	}
	return sum / float64(len(list))
}

// divide cuts classes from one of all requests on, always where tokens come
// together most, until there are enough classes or no share is more than chance.
// It returns what is kept of the bursts of all.
func (t *tree) divide() []BurstLevel {
	all := &bursts{window: t.span, fine: t.fine, factor: make([]float64, windowCount(t.span, t.fine))}
	c := class{rows: allRows(len(t.at)), input: between{1, most(t.input)}, output: between{1, most(t.output)}, factor: all.factor, curve: newCurve(t.at, t.span, t.fine)}
	rates := newCurve(t.at, t.span, float64(t.ladder[0])*t.fine) // those of its windows are the log's
	for i := range all.factor {
		all.factor[i] = rates.rate[i/t.ladder[0]]
	}
	all.narrow(c.curve, t.ladder)
	t.look(&c)
	t.classes = []class{c}
	for len(t.classes) < mostClasses {
		best := 0
		for i := range t.classes {
			if t.classes[i].cut.worth > t.classes[best].cut.worth {
				best = i
			}
		}
		if t.classes[best].cut.own == nil {
			break
		}
		short, long := t.cutInTwo(&t.classes[best])
		t.look(&short)
		t.look(&long)
		t.classes = slices.Replace(t.classes, best, best+1, short, long)
	}
	return all.levels
}

// cutInTwo cuts a class.
func (t *tree) cutInTwo(c *class) (short, long class) {
	short, long = *c, *c
	short.rows, long.rows = nil, nil
	for _, i := range c.rows {
		if t.length(c.cut.input, i) > c.cut.at {
			long.rows = append(long.rows, i)
		} else {
			short.rows = append(short.rows, i)
		}
	}
	if c.cut.input {
		short.input.most, long.input.least = c.cut.at, c.cut.at+1
	} else {
		short.output.most, long.output.least = c.cut.at, c.cut.at+1
	}
	short.curve, long.curve = newCurve(t.moments(short.rows), t.span, t.fine), c.cut.own
	t.share(c, &short, &long)
	return short, long
}

// lengthCut is a length of prompts, or of answers, by which a class is cut; own are
// the arrivals of the longer ones.
type lengthCut struct {
	input bool
	at    int32
	own   *curve
	// worth is how much tokens come together by it: the squares of how far the
	// number of longer ones is from its share, less those of chance, times the
	// squares of by how much more of the mean input, the mean output and what requests
	// hold in the mean these have.
	worth float64
}

func (t *tree) moments(rows []int32) []float64 {
	out := make([]float64, len(rows))
	for k, i := range rows {
		out[k] = t.at[i]
	}
	return out
}

func (t *tree) length(input bool, i int32) int32 {
	if input {
		return t.input[i]
	}
	return t.output[i]
}

// look finds a class's best cut.
func (t *tree) look(c *class) {
	c.cut = lengthCut{}
	t.try(c, true)
	t.try(c, false)
}

// try looks for a cut of one length that is worth more than the best so far.
func (t *tree) try(c *class, input bool) {
	lengths := make([]int32, 0, len(c.rows))
	for _, i := range c.rows {
		if n := t.length(input, i); n > 0 {
			lengths = append(lengths, n)
		}
	}
	if len(lengths) == 0 {
		return
	}
	slices.Sort(lengths)
	last := int32(-1)
	for _, share := range cutShares {
		if at := stat.Quantile(lengths, share); at != last {
			last = at
			t.cutAt(c, lengthCut{input: input, at: at})
		}
	}
}

// cutAt takes a cut where it is worth more than a class's best so far.
func (t *tree) cutAt(c *class, x lengthCut) {
	var own []float64
	var n, in, out, held [2]float64 // of the shorter and the longer ones
	for _, i := range c.rows {
		k := 0
		if t.length(x.input, i) > x.at {
			own = append(own, t.at[i])
			k = 1
		}
		n[k], in[k], out[k], held[k] = n[k]+1, in[k]+float64(t.input[i]), out[k]+float64(t.output[i]), held[k]+heldBy(t.input[i], t.output[i])
	}
	if min(n[0], n[1]) < classRows {
		return
	}
	more := func(sum [2]float64, mean float64) float64 { return (sum[1]/n[1] - sum[0]/n[0]) / mean }
	moreIn, moreOut, moreHeld := more(in, t.meanInput), more(out, t.meanOutput), more(held, t.meanHeld)
	x.own = newCurve(own, t.span, t.fine)
	beyond, wide, found := 0.0, len(x.own.counts), false
	for _, narrow := range t.ladder {
		s := mixScatter(c.curve, x.own, wide, narrow)
		l, errors := s.level(0, 0)
		if l.Kept > 0 {
			beyond += s.squares - s.chance
		}
		found = found || errors >= cutErrors
		wide = narrow
	}
	if x.worth = beyond * (moreIn*moreIn + moreOut*moreOut + moreHeld*moreHeld); found && x.worth > c.cut.worth {
		c.cut = x
	}
}

// share divides the factors of a class among those of its shorter and longer
// requests, the latter's arrivals being own.
func (t *tree) share(c, short, long *class) {
	all, own := c.curve, c.cut.own
	last := len(all.counts)
	of := slices.Repeat([]float64{own.upTo[last] / all.upTo[last]}, last) // the longer ones' share
	addShares(of, all, own, last, t.ladder[0], 1)                         // as the log has them
	for k, narrow := range t.ladder[1:] {
		l, _ := mixScatter(all, own, t.ladder[k], narrow).level(t.levels[k].Window, 0)
		if l.Kept > t.levels[k].Kept {
			t.levels[k] = l
		}
		if l.Kept > 0 {
			addShares(of, all, own, t.ladder[k], narrow, l.Kept)
		}
	}
	short.factor, long.factor = make([]float64, len(of)), make([]float64, len(of))
	for i, x := range of {
		x = min(max(x, 0), 1)
		short.factor[i], long.factor[i] = c.factor[i]*(1-x), c.factor[i]*x
	}
}

// addShares adds the part that is kept of how far the share of own among all goes
// from windows to narrower ones.
func addShares(share []float64, all, own *curve, wide, narrow int, kept float64) {
	whole, part := all.coarser(wide), all.coarser(narrow)
	ownWhole, ownPart := own.coarser(wide), own.coarser(narrow)
	for i := range share {
		if n, total := part.counts[i/narrow], whole.counts[i/wide]; n > 0 {
			share[i] += kept * (ownPart.counts[i/narrow]/n - ownWhole.counts[i/wide]/total)
		}
	}
}

// mixScatter is how far the share of own among all is in narrow windows from that
// of the wide one, held against chance, which draws those that come in the narrow
// window from all of the wide one without putting back.
func mixScatter(all, own *curve, wide, narrow int) *scatter {
	whole, part := all.coarser(wide), all.coarser(narrow)
	ownWhole, ownPart := own.coarser(wide), own.coarser(narrow)
	s := &scatter{}
	for i, n := range part.counts {
		total, mine := whole.counts[i*narrow/wide], ownWhole.counts[i*narrow/wide]
		if n == 0 || n == total || mine == 0 || mine == total || total < leastMixed {
			continue
		}
		p := mine / total
		s.add(ownPart.counts[i]-n*p, n*p*(1-p)*(total-n)/(total-1), p)
	}
	return s
}
