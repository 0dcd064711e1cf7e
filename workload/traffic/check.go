package traffic

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

const (
	longest   = 10 * 365 * 24 * time.Hour
	maxRate   = 1e6
	maxCV     = 100
	minCV     = 0.01
	maxStates = 64
	maxBins   = 100
	maxName   = 200
	maxLength = 10_000_000 // tokens: above every model's context
	// maxPrefixes bounds what is kept of prefixes in memory.
	maxPrefixes = 1_000_000
	maxTop      = 1000 // prefixes that stand out
)

// Check says what in a model cannot be, one line for each thing: the path of
// the value in the file's words, and what was expected. A model that Read
// returned passes.
func (m *Model) Check() error {
	var errs []error
	for _, f := range m.faults() {
		errs = append(errs, errors.New(f.path+": "+f.message))
	}
	return errors.Join(errs...)
}

// fault is a value that cannot be.
type fault struct{ path, message string }

// checker collects faults below a path.
type checker struct {
	list []fault
	path string
}

func (c *checker) fault(below, format string, args ...any) {
	c.list = append(c.list, fault{join(c.path, below), fmt.Sprintf(format, args...)})
}

// within refuses a number outside of low to high.
func (c *checker) within(below, what string, x, low, high float64) {
	if !(x >= low && x <= high) {
		c.fault(below, "expected %s from %v to %v, got %v", what, low, high, x)
	}
}

// inline refuses a distribution that lies in a file of its own.
func (c *checker) inline(below string, d stat.Distribution) {
	if k, ok := d.(stat.Clamped); ok {
		d = k.Of
	}
	if _, ok := d.(stat.Values); ok {
		c.fault(below, "expected quantiles such as empirical:0=1,0.5=512,1=8192, not a file of values: a model stands alone")
	}
}

// length refuses a distribution of numbers of tokens or turns that no request can
// have.
func (c *checker) length(below string, d stat.Distribution) {
	c.inline(below, d)
	if d == nil {
		return
	}
	if k, ok := d.(stat.Constant); ok && k < 0.5 { // the rest is rounded to 1
		c.fault(below, "expected at least 1, got %v", float64(k))
	}
	if middle := d.Quantile(0.5); !(middle <= maxLength) {
		c.fault(below, "expected a median of at most %d, got %.6g", int64(maxLength), middle)
	}
}

func (m *Model) faults() []fault {
	c := &checker{}
	if m.Duration <= 0 || m.Duration > longest {
		c.fault("duration", "expected a duration above 0 and at most ten years, got %v", m.Duration)
		return c.list
	}
	if len(m.Clients) == 0 {
		c.fault("clients", "expected at least one client")
	}
	names, total := map[string]int{}, 0.0
	for i := range m.Clients {
		k := &m.Clients[i]
		c.path = fmt.Sprintf("clients[%d]", i)
		before, twice := names[k.Name]
		switch {
		case k.Name == "":
			c.fault("name", "expected a name")
		case len(k.Name) > maxName:
			c.fault("name", "expected a name of at most %d bytes", maxName)
		case twice:
			c.fault("name", "client %d is named %q too", before+1, clip(k.Name))
		}
		names[k.Name] = i
		c.client(k, m.Duration)
		for _, r := range k.Rate.Rate {
			total += r
		}
	}
	c.path = ""
	if len(c.list) == 0 && total <= 0 {
		c.fault("clients", "expected at least one rate above 0")
	}
	return c.list
}

func (c *checker) client(k *Client, whole time.Duration) {
	c.rate(k.Rate, whole)
	c.arrival(k)
	if len(k.Lengths) == 0 {
		c.fault("lengths", "expected input-tokens and output-tokens")
	}
	for i := range k.Lengths {
		before := time.Duration(-1)
		if i > 0 {
			before = k.Lengths[i-1].From
		}
		c.lengths(&k.Lengths[i], fmt.Sprintf("lengths[%d]", i), before, whole)
	}
	if s := k.Sessions; s != nil {
		if s.Turns == nil {
			c.fault("sessions", "expected turns")
		}
		c.within("sessions.jump", "a chance", s.Jump, 0, 1)
		c.length("sessions.turns", s.Turns)
		c.inline("sessions.think", s.Think)
		c.length("sessions.input-tokens", s.Input)
		c.odds("sessions.goes-on-first", s.GoesOnFirst)
		c.odds("sessions.goes-on", s.GoesOn)
		c.within("sessions.input-alike", "a correlation", s.InputAlike, 0, MaxAlike)
		c.within("sessions.output-alike", "a correlation", s.OutputAlike, 0, MaxAlike)
	}
	if p := k.Prefix; p != nil {
		c.within("prefix.share", "a share", p.Share, 0, 1)
		c.within("prefix.count", "a number of prefixes", float64(p.Count), 1, maxPrefixes)
		c.within("prefix.exponent", "an exponent", p.Exponent, 0, 1000)
		if p.Tokens == nil {
			c.fault("prefix", "expected tokens")
		}
		c.length("prefix.tokens", p.Tokens)
		sum := 0.0
		for i, f := range p.Top {
			path := fmt.Sprintf("prefix.top[%d]", i)
			c.within(path+".share", "a share", f.Share, 0, 1)
			c.within(path+".tokens", "a length in tokens", float64(f.Tokens), 1, maxTokens)
			sum += f.Share
		}
		if len(p.Top) > maxTop || sum > 1+1e-6 {
			c.fault("prefix.top", "expected at most %d prefixes, whose shares add up to at most 1", maxTop)
		}
	}
	c.inline("reasoning", k.Reasoning)
	c.inline("images", k.Images)
	c.length("output-limit", k.Limit)
	c.within("errors", "a share", k.Errors, 0, 1)
}

func (c *checker) rate(r Curve, whole time.Duration) {
	n := len(r.Rate)
	switch {
	case n == 0:
		c.fault("rate", "expected a rate: sessions begun a second")
	case r.Window < 0:
		c.fault("window", "expected a window above 0, got %v", r.Window)
	case r.Window == 0 && n > 1:
		c.fault("rate", "expected window beside a list of rates")
	case r.Window > 0:
		if want := (whole-1)/r.Window + 1; want != time.Duration(n) {
			c.fault("rate", "expected %d rates, of windows of %v over %v, got %d", want, r.Window, whole, n)
		}
	}
	for i, x := range r.Rate {
		c.within(item("rate", i, n), "a rate", x, 0, maxRate)
	}
}

// item is the path of a value of a list, or of the value that stands for one.
func item(path string, i, n int) string {
	if n == 1 {
		return path
	}
	return fmt.Sprintf("%s[%d]", path, i)
}

func (c *checker) arrival(k *Client) {
	a := &k.Arrival
	switch a.Process {
	case "", Constant, Poisson, MarkovGaps:
		if len(a.CV) > 0 {
			c.fault("cv", "a cv needs arrival gamma or weibull")
		}
	case Gamma, Weibull:
		if n := len(a.CV); n != 1 && n != len(k.Rate.Rate) {
			c.fault("cv", "expected one cv, or one for each of %d windows, got %d", len(k.Rate.Rate), n)
			return
		}
		for i, x := range a.CV {
			if len(a.CV) > 1 && k.Rate.Rate[i] == 0 {
				continue
			}
			least := 0.0
			if a.Process == Weibull {
				least = minCV
			}
			c.within(item("cv", i, len(a.CV)), "a cv", x, least, maxCV)
		}
	default:
		c.fault("arrival", "expected one of constant, poisson, gamma, weibull, markov, got %q", clip(string(a.Process)))
	}
	switch {
	case a.Process != MarkovGaps && a.Markov != nil:
		c.fault("markov", "it needs arrival markov")
	case a.Process == MarkovGaps && a.Markov == nil:
		c.fault("arrival", "arrival markov needs markov beside it")
	case a.Markov != nil:
		c.markov(a.Markov)
	}
}

func (c *checker) markov(k *Markov) {
	n := len(k.Gaps)
	if n == 0 || n > maxStates {
		c.fault("markov", "expected gaps of 1 to %d states, got %d", maxStates, n)
		return
	}
	if len(k.Next) != n {
		c.fault("markov.next", "expected %d rows of %d chances, one of each state, got %d rows", n, n, len(k.Next))
		return
	}
	for i, g := range k.Gaps {
		if g == nil || !(g.Mean() >= 0) || math.IsInf(g.Mean(), 1) {
			c.fault(fmt.Sprintf("markov.gaps[%d]", i), "expected a distribution of gaps with a finite mean of at least 0")
			return
		}
	}
	for i, row := range k.Next {
		path := fmt.Sprintf("markov.next[%d]", i)
		if len(row) != n {
			c.fault(path, "expected %d chances, got %d", n, len(row))
			return
		}
		sum := 0.0
		for j, x := range row {
			c.within(fmt.Sprintf("%s[%d]", path, j), "a chance", x, 0, 1)
			sum += x
		}
		if math.Abs(sum-1) > 1e-3 {
			c.fault(path, "expected chances that add up to 1, got %.6g", sum)
		}
	}
	if len(c.list) == 0 {
		switch _, mean, ok := k.stationary(); {
		case !ok:
			c.fault("markov.next", "expected each state to be reached from every other")
		case !(mean > 0):
			c.fault("markov.gaps", "expected gaps above 0")
		}
	}
}

func (c *checker) lengths(l *Lengths, path string, before, whole time.Duration) {
	switch {
	case before < 0 && l.From != 0:
		c.fault(path+".from", "expected the first lengths from 0s, got %v", l.From)
	case l.From <= before || l.From >= whole:
		c.fault(path+".from", "expected a moment after %v and before %v, got %v", before, whole, l.From)
	}
	if l.Input == nil {
		c.fault(path, "expected input-tokens")
	}
	c.length(path+".input-tokens", l.Input)
	c.length(path+".output-tokens", l.Output)
	if l.Ranks == nil {
		return
	}
	path += ".ranks"
	n := len(l.Ranks)
	if n < 2 || n > maxBins || l.Output == nil {
		c.fault(path, "expected a square of 2 to %d rows, and output-tokens beside it; got %d rows", maxBins, n)
		return
	}
	columns := make([]float64, n)
	total := 0.0
	for i, row := range l.Ranks {
		if len(row) != n {
			c.fault(fmt.Sprintf("%s[%d]", path, i), "expected %d chances, got %d", n, len(row))
			return
		}
		sum := 0.0
		for j, x := range row {
			c.within(fmt.Sprintf("%s[%d][%d]", path, i, j), "a chance", x, 0, 1)
			sum += x
			columns[j] += x
		}
		if !(sum > 0) {
			c.fault(fmt.Sprintf("%s[%d]", path, i), "expected a chance above 0 in each row")
		}
		total += sum
	}
	for j, sum := range columns {
		if !(sum > 0) {
			c.fault(path, "expected a chance above 0 in each column; column %d has none", j+1)
		}
	}
	if math.Abs(total-1) > 0.01 {
		c.fault(path, "expected chances that add up to 1, got %.6g", total)
	}
}

// maxOdds is how many times as likely as other relative odds they are at most.
const maxOdds = 1e6

// odds refuses what are no relative odds of some bins.
func (c *checker) odds(path string, list []float64) {
	if list == nil {
		return
	}
	if n := len(list); n < 2 || n > maxBins {
		c.fault(path, "expected the relative odds of 2 to %d bins, got %d", maxBins, n)
	}
	for i, x := range list {
		c.within(fmt.Sprintf("%s[%d]", path, i), "relative odds", x, 1/maxOdds, maxOdds)
	}
}
