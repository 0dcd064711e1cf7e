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
	b.narrow(c, ladder(int(math.Round(window/fine))))
	if !slices.ContainsFunc(b.levels, func(l BurstLevel) bool { return l.Kept > 0 }) {
		return nil
	}
	b.coarsen(window, b.levels)
	return b
}

// ladder are the widths, in fine windows, at which a log is divided: the window of
// its rates and on by its least factors down to one.
func ladder(window int) []int {
	var list []int
	for w := window; ; w /= leastFactor(w) {
		list = append(list, w)
		if w == 1 {
			return list
		}
	}
}

// narrow goes down a ladder.
func (b *bursts) narrow(c *curve, ladder []int) {
	for k, narrow := range ladder[1:] {
		b.levels = append(b.levels, b.level(c, ladder[k], narrow))
	}
}

// coarsen leaves windows as short as the narrowest of levels at which something
// is kept, or as the widest: below, factors only repeat.
func (b *bursts) coarsen(widest float64, levels []BurstLevel) {
	least := widest
	for _, l := range levels {
		if l.Kept > 0 {
			least = min(least, l.Window)
		}
	}
	if each := int(math.Round(least / b.fine)); each > 1 && each <= len(b.factor) {
		var out []float64
		for i := 0; i < len(b.factor); i += each {
			out = append(out, b.factor[i])
		}
		b.fine, b.factor = least, out
	}
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
	var s scatter
	for i, n := range part.counts {
		share := part.length(i) / whole.length(i*narrow/wide)
		if expected := whole.counts[i*narrow/wide] * share; expected > 0 {
			s.add(n-expected, expected*(1-share), share)
		}
	}
	l, _ := s.level(part.window, (s.n*narrow+wide-1)/wide) // each whole is given
	if l.Kept == 0 {
		return l
	}
	for i := range b.factor {
		k := i / narrow
		share := part.length(k) / whole.length(i/wide)
		if expected := whole.counts[i/wide] * share; expected > 0 {
			b.factor[i] *= 1 + l.Kept*(part.counts[k]/expected-1)
		}
	}
	return l
}

// scatter sums squared deviations, and the variances by chance alone that they are
// held against.
type scatter struct {
	n               int
	squares, chance float64
	variance        float64 // of the squares, by chance
}

// add takes a deviation, its variance by chance, and the chance p of each request
// to be counted. The fourth moment of a binomial number of variance v is
// v² (3 + (1 − 6 p (1 − p))/v), so that its square varies by v² (2 + …).
func (s *scatter) add(deviation, v, p float64) {
	s.n, s.squares, s.chance = s.n+1, s.squares+deviation*deviation, s.chance+v
	s.variance += 2*v*v + max(1-6*p*(1-p), 0)*v
}

// level is what is kept of them, of which so many are given, and by how many
// standard errors of chance the dispersion is above 1.
func (s *scatter) level(window float64, given int) (l BurstLevel, errors float64) {
	l = BurstLevel{Window: window, Dispersion: 1}
	n := float64(s.n)
	if s.n <= given || s.chance == 0 {
		return l, 0
	}
	l.Dispersion = s.squares / s.chance
	errors = (l.Dispersion - 1) / (math.Sqrt(s.variance*n/(n-float64(given))) / s.chance)
	if errors >= burstErrors {
		l.Kept = math.Sqrt(1 - 1/l.Dispersion)
	}
	return l, errors
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
	each := int(math.Ceil(c.window/b.fine - 1e-9))
	for i, f := range b.factor {
		own[i/each] += f * fine.length(i) / c.length(i/each)
	}
	for i, f := range b.factor {
		fine.rate[i] = c.rate[i/each] * f / max(own[i/each], math.SmallestNonzeroFloat64)
		fine.upTo[i+1] = fine.upTo[i] + fine.rate[i]*fine.length(i)
	}
	return fine
}

// burstsOf are those of a client's moments; where clients are classes of lengths,
// those of all and of the mix.
func (l *log) burstsOf(client int, at []float64) *bursts {
	switch {
	case l.options.Bursts == 0:
		return nil
	case l.mixed != nil:
		return l.mixed.classes[client]
	}
	return newBursts(at, l.span, l.options.window(), l.options.Bursts.Seconds())
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
		return fmt.Errorf("expected bursts of %v or longer that are shorter than the rates' window of %v and a whole part of it, such as %v, found %v", MinBursts, window, window/60, o.Bursts)
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
		return
	case l.mixed != nil:
		more := ""
		if list := keptWords(l.mixed.mix); len(list) > 0 {
			more = ", and of those of its mix of lengths up to " + strings.Join(list, ", ")
		}
		l.sayBursts("the model", l.mixed.all, more)
		return
	case !with:
		l.say("bursts: within %s nothing is more than chance, so that none are kept", shortDuration(l.options.window()))
	}
	for _, c := range list {
		if len(c.Bursts) == 0 {
			continue
		}
		of := c.Name
		if len(list) == 1 {
			of = "the model"
		}
		l.sayBursts(of, c.Bursts, "")
	}
}

func (l *log) sayBursts(of string, levels []BurstLevel, more string) {
	l.say("%s keeps the log's own bursts, at their moments: of the deviations from even rates %s%s; that samples are as bursty as the log is no evidence of a law", of,
		strings.Join(keptWords(levels), ", "), more)
}

// keptWords says how much is kept at each width at which something is.
func keptWords(levels []BurstLevel) (list []string) {
	for _, b := range levels {
		if b.Kept > 0 {
			list = append(list, fmt.Sprintf("%.0f %% at %s", 100*b.Kept, shortDuration(b.Window)))
		}
	}
	return list
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
