package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// MinBursts is the shortest window in which a log's own bursts are kept.
const MinBursts = time.Second

// bursts are how arrivals vary within the windows of a rate curve: the part of
// it that is more than chance, at the moments at which the log has it. They are
// found level by level, from each window down to parts of it: of how far a part
// is from its share of the whole, √(1 − 1/D) is kept, D being the variance of
// the parts' numbers ÷ what it would be if chance divided the whole among them.
// Poisson arrivals around what is kept have a dispersion of D again: they add
// the variance that was left out.
type bursts struct {
	window, fine float64   // s
	factor       []float64 // of the curve's rate, in each fine window
	levels       []BurstLevel
}

// BurstLevel is what is kept of a log's bursts at one width.
type BurstLevel struct {
	Window float64 `json:"window_s"`
	// Dispersion is the variance of the numbers in windows of this width around
	// their share of the next wider one's, ÷ what chance alone would make it.
	Dispersion float64 `json:"dispersion"`
	// Kept is the share of those deviations that the model's rates have.
	Kept float64 `json:"kept"`
}

// burstErrors is how many standard errors a dispersion is above that of chance
// where something is kept.
const burstErrors = 2

// newBursts finds those of ascending moments, in s, down to windows of fine s, a
// whole part of window; nil where there is nothing that is more than chance.
func newBursts(at []float64, span, window, fine float64) *bursts {
	b := &bursts{window: window, fine: fine, factor: slices.Repeat([]float64{1}, windowCount(span, fine))}
	c := newCurve(at, span, fine)
	parts := int(math.Round(window / fine))
	found := false
	for parts > 1 {
		p := leastFactor(parts)
		l := b.level(c, parts, parts/p)
		found = found || l.Kept > 0
		b.levels = append(b.levels, l)
		parts /= p
	}
	if !found {
		return nil
	}
	return b
}

// leastFactor is the least prime that divides n.
func leastFactor(n int) int {
	for p := 2; p*p <= n; p++ {
		if n%p == 0 {
			return p
		}
	}
	return n
}

// level divides windows of some fine ones into narrower ones, and multiplies what
// is kept of the difference into the factors.
func (b *bursts) level(c *curve, wide, narrow int) BurstLevel {
	whole, part := c.coarser(wide), c.coarser(narrow)
	squares, chance, free := 0.0, 0.0, 0
	for i, n := range part.counts {
		share := part.length(i) / whole.length(i*narrow/wide)
		if expected := whole.counts[i*narrow/wide] * share; expected > 0 {
			squares += (n - expected) * (n - expected)
			chance += expected * (1 - share)
			free++
		}
	}
	free -= free * narrow / wide // each whole is given
	l := BurstLevel{Window: part.window, Dispersion: 1}
	if chance == 0 || free == 0 {
		return l
	}
	l.Dispersion = squares / chance
	if l.Dispersion < 1+burstErrors*math.Sqrt(2/float64(free)) {
		return l
	}
	l.Kept = math.Sqrt(1 - 1/l.Dispersion)
	for i := range b.factor {
		k := i / narrow
		share := part.length(k) / whole.length(i/wide)
		if expected := whole.counts[i/wide] * share; expected > 0 {
			b.factor[i] *= 1 + l.Kept*(part.counts[k]/expected-1)
		}
	}
	return l
}

// coarser is the curve in windows of n of its own.
func (c *curve) coarser(n int) *curve {
	out := &curve{window: c.window * float64(n), span: c.span, counts: make([]float64, (len(c.counts)+n-1)/n)}
	for i, k := range c.counts {
		out.counts[i/n] += k
	}
	return out
}

// with is the curve with bursts, in their windows. It has as many arrivals in
// each of its own windows as before.
func (c *curve) with(at []float64, b *bursts) *curve {
	if b == nil {
		return c
	}
	fine := newCurve(at, c.span, b.fine)
	own := make([]float64, len(c.counts)) // what the factors come to in the mean
	each := int(math.Round(c.window / b.fine))
	for i, f := range b.factor {
		own[i/each] += f * fine.length(i) / c.length(i/each)
	}
	for i, f := range b.factor {
		fine.rate[i] = c.rate[i/each] * f / max(own[i/each], math.SmallestNonzeroFloat64)
		fine.upTo[i+1] = fine.upTo[i] + fine.rate[i]*fine.length(i)
	}
	return fine
}

// burstsOf are those of a client's moments, or of all where clients were found
// by their lengths: what comes together does not ask which of them it is of.
func (l *log) burstsOf(at []float64) *bursts {
	if l.options.Bursts == 0 {
		return nil
	}
	if !l.found {
		return newBursts(at, l.span, l.options.window(), l.options.Bursts.Seconds())
	}
	if l.common == nil {
		all := l.seconds(l.starts(allRows(len(l.at))))
		l.common = newBursts(all, l.span, l.options.window(), l.options.Bursts.Seconds())
	}
	return l.common
}

// window is that of the rates around which bursts are kept.
func (o *Options) window() float64 {
	if o.Window > 0 {
		return o.Window.Seconds()
	}
	return MinWindow.Seconds()
}

// checkBursts says what is wrong with the window of bursts.
func (o *Options) checkBursts() error {
	if o.Bursts == 0 {
		return nil
	}
	window := time.Duration(o.window() * float64(time.Second))
	if o.Bursts < MinBursts || o.Bursts >= window || window%o.Bursts != 0 {
		return fmt.Errorf("expected bursts of %v or longer, a whole part of the rates' window of %v such as %v, found %v", MinBursts, window, window/60, o.Bursts)
	}
	return nil
}

// findBursts says that samples repeat the log's bursts.
func (l *log) findBursts(list []ClientReport) {
	with := slices.ContainsFunc(list, func(c ClientReport) bool { return len(c.Bursts) > 0 })
	switch {
	case l.options.Bursts == 0:
		return
	case l.madeUp:
		l.say("bursts: none are kept, since the log's moments tell nothing of arrivals")
	case !with:
		l.say("bursts: within %s nothing is more than chance, so that none are kept", shortDuration(l.options.window()))
	}
	for _, c := range list {
		if len(c.Bursts) == 0 {
			continue
		}
		of := c.Name
		if l.found || len(list) == 1 {
			of = "the model"
		}
		var kept []string
		for _, b := range c.Bursts {
			kept = append(kept, fmt.Sprintf("%.0f %% at %s", 100*b.Kept, shortDuration(b.Window)))
		}
		l.say("%s keeps the log's own bursts, at their moments: of the deviations from even rates %s; that samples are as bursty as the log is no evidence of a law", of, strings.Join(kept, ", "))
		if l.found {
			return
		}
	}
}

// burstRemedy is what may be tried, as the end of a sentence, where samples of so
// many clients are not as bursty as the log.
func (l *log) burstRemedy(clients int) string {
	s := ""
	if l.options.Bursts == 0 && l.span <= mostBursts*MinBursts.Seconds() {
		s = "; --bursts 1s keeps the log's own bursts"
	}
	if clients > 1 && l.options.By != ByNone {
		s += "; --by none fits all clients as one, where they burst together"
	}
	return s
}

// mostBursts bounds the windows in which bursts are kept.
const mostBursts = 200_000

// checkBursts refuses windows of bursts that are too many for the log.
func (l *log) checkBursts() error {
	b := l.options.Bursts
	if b == 0 || l.span/b.Seconds() <= mostBursts {
		return nil
	}
	return fmt.Errorf("expected bursts in windows of %s or longer, as at most %d are kept, found %v in a log of %s", shortDuration(math.Ceil(l.span/mostBursts)), mostBursts,
		b, shortDuration(l.span))
}
