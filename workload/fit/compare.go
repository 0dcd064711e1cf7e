package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// sliceLength is how long the slices are in s that are fitted and held out in
// turn: minutes, shorter where the log has fewer than twenty.
func (l *log) sliceLength() float64 { return min(60, l.span/20) }

// slice returns the rows of the even (0) or the odd (1) slices.
func (l *log) slice(rows []int32, parity int64) []int32 {
	var out []int32
	for _, r := range rows {
		if l.sliceOf(r)%2 == parity {
			out = append(out, r)
		}
	}
	return out
}

// sliceOf numbers the slice of a request.
func (l *log) sliceOf(r int32) int64 { return l.at[r] / int64(l.sliceLength()*1e9) }

// compare holds samples of the model against the log.
func (l *log) compare(m, even *traffic.Model, r *Report) error {
	starts := l.starts(allRows(len(l.at)))
	var err error
	if r.Totals, err = l.totals(m); err != nil {
		return err
	}
	if l.madeUp { // what a sample of made-up arrivals is like tells nothing
		return l.heldOut(even, starts, r)
	}
	at := l.seconds(starts)
	log := countsOf(at, l.span, fineness(l.span, len(at)))
	d, err := newDispersion(log, m, l.span, len(at), l.options.Seed)
	if err != nil {
		return err
	}
	r.Dispersion, r.Seeds = d.scales, d.seeds
	if err := l.arrivals(m, at, d.first, r); err != nil {
		return err
	}
	if r.Work, err = l.tokenDispersion(m, starts, log.fine); err != nil {
		return err
	}
	return l.heldOut(even, starts, r)
}

// mostDrawn bounds the arrivals that gaps are of.
const mostDrawn = 200_000

// arrivals fills in the series of rates and gaps; sample is one of the model.
func (l *log) arrivals(m *traffic.Model, at []float64, sample *counts, r *Report) error {
	window := 60.0
	for _, w := range windowsTried {
		if window = w; l.span/w <= 600 {
			break
		}
	}
	for l.span/window > 600 {
		window *= 2
	}
	window = math.Ceil(window/float64(sample.fine)) * float64(sample.fine)
	model, err := moments(m, stat.Key(l.options.Seed, "series", 0), mostDrawn)
	if err != nil {
		return err
	}
	plain, err := moments(plainPoisson(float64(len(at)), l.span), stat.Key(l.options.Seed, "series", 1), mostDrawn)
	if err != nil {
		return err
	}
	n, to := covered(l.span, window)
	drawn := sample.rates(window)
	r.Rate = RateSeries{Window: window, To: to, Log: newCurve(at, l.span, window).rate[:n], Model: drawn[:min(n, len(drawn))],
		CV: windowCVs(at, l.span, window)[:n]}
	for i := range n {
		from := float64(i) * window
		sum := 0.0
		for k := range m.Clients {
			sum += meanRate(&m.Clients[k].Rate, from, min(from+window, l.span))
		}
		r.Rate.Fitted = append(r.Rate.Fitted, sum)
	}
	a, b, c := gapsOf(at), gapsOf(model), gapsOf(plain)
	if len(a) == 0 || len(b) == 0 || len(c) == 0 {
		return nil
	}
	g := &GapSeries{KS: stat.KolmogorovSmirnov(a, b), PoissonKS: stat.KolmogorovSmirnov(a, c)}
	for _, p := range tableShares[1:] {
		g.Share = append(g.Share, p)
		g.Log, g.Model, g.Poisson = append(g.Log, stat.Quantile(a, p)), append(g.Model, stat.Quantile(b, p)), append(g.Poisson, stat.Quantile(c, p))
	}
	r.Gaps = g
	return nil
}

// leastCovered is the share of a window that a log covers at least for its rate
// to be one of it: the rate of less is that of a few arrivals.
const leastCovered = 0.1

// covered is how many windows of a span have a rate, and where the last ends.
func covered(span, window float64) (n int, to float64) {
	n = windowCount(span, window)
	if from := float64(n-1) * window; n > 1 && span-from < leastCovered*window {
		return n - 1, from
	}
	return n, span
}

// rates are those of windows, a multiple of the fineness long; the last may be
// shorter.
func (c *counts) rates(window float64) []float64 {
	n := int(window) / c.fine
	var out []float64
	for from := 0; from < len(c.list); from += n {
		part := c.list[from:min(from+n, len(c.list))]
		sum := 0.0
		for _, k := range part {
			sum += float64(k)
		}
		out = append(out, sum/float64(len(part)*c.fine))
	}
	return out
}

// meanRate is the mean of a curve between two moments in s, from < to.
func meanRate(c *traffic.Curve, from, to float64) float64 {
	if c.Window <= 0 {
		return c.Rate[0]
	}
	w, sum := c.Window.Seconds(), 0.0
	for t := from; t < to; {
		i := min(int(t/w), len(c.Rate)-1)
		end := to
		if i < len(c.Rate)-1 {
			end = min(float64(i+1)*w, to)
		}
		if end <= t { // a window that rounding has passed
			end = min(t+w, to)
		}
		sum += c.Rate[i] * (end - t)
		t = end
	}
	return sum / (to - from)
}

// moments are the first session starts of a sample, in s.
func moments(m *traffic.Model, seed uint64, most int) ([]float64, error) {
	s, err := m.Sampler(traffic.SampleOptions{Seed: seed})
	if err != nil {
		return nil, err
	}
	var out []float64
	for len(out) < most {
		at, ok := s.NextMoment()
		if !ok {
			break
		}
		out = append(out, float64(at)/1e9)
	}
	return out, nil
}

// gapsOf are the times between ascending moments, ascending.
func gapsOf(at []float64) []float64 {
	var out []float64
	for i := 1; i < len(at); i++ {
		out = append(out, at[i]-at[i-1])
	}
	slices.Sort(out)
	return out
}

// drawnFor is how many sessions are drawn to be held against so many of the log:
// more, so that their own spread counts little.
func drawnFor(n int) int { return max(n, min(20*n, 50_000)) }

// heldOut draws from the model of the even slices, and holds the lengths of
// session starts, and of all answers, against those of the odd ones.
func (l *log) heldOut(even *traffic.Model, starts []int32, r *Report) error {
	odd, own := l.slice(starts, 1), l.slice(starts, 0)
	if len(odd) < leastRows || len(own) < leastRows {
		return nil
	}
	drawn, outputs, err := draw(even, len(odd), l.options.Seed)
	if err != nil {
		return err
	}
	log, halves := l.pairsOf(odd), l.pairsOf(own)
	r.Input = l.held(log.input, drawn.input, halves.input)
	all := allRows(len(l.at))
	r.Output = l.held(taken(l.output, l.slice(all, 1)), outputs, taken(l.output, l.slice(all, 0)))
	r.Joint = jointOf(log, drawn, halves)
	return nil
}

// pairsOf are the lengths of rows, 0 where not said.
func (l *log) pairsOf(rows []int32) pairs {
	var p pairs
	for _, r := range rows {
		p.input, p.output = append(p.input, l.newText(r)), append(p.output, l.output[r])
	}
	return p
}

// draw samples lengths over the whole time of a model, again and again until
// there are enough: those of first turns, and the outputs of all turns.
func draw(m *traffic.Model, n int, seed uint64) (p pairs, outputs []int32, err error) {
	var turns []traffic.Turn
	n = drawnFor(n)
	for again := uint64(0); len(p.input) < n && again < 100; again++ {
		s, err := m.Sampler(traffic.SampleOptions{Seed: stat.Key(seed, "lengths", again)})
		if err != nil {
			return p, nil, err
		}
		for {
			d, ok := s.Next()
			if !ok {
				break
			}
			p.input, p.output = append(p.input, int32(d.Input)), append(p.output, int32(d.Output))
			turns = s.Turns(&d, turns[:0])
			for i := range turns {
				outputs = append(outputs, int32(turns[i].Output))
			}
		}
	}
	return p, outputs, nil
}

func (l *log) held(log, model, even []int32) *HeldOut {
	a, b, c := positive(log), positive(model), positive(even)
	if len(a) == 0 || len(b) == 0 || len(c) == 0 {
		return nil
	}
	h := &HeldOut{Slice: l.sliceLength(), Rows: int64(len(a)), KS: stat.KolmogorovSmirnov(a, b), Wasserstein: stat.Wasserstein(a, b)}
	for _, p := range []float64{.01, .05, .1, .25, .5, .75, .9, .95, .99, .999} {
		h.Quantiles = append(h.Quantiles, Quantile{p, stat.Quantile(a, p), stat.Quantile(b, p), stat.Quantile(c, p)})
	}
	return h
}

func positive(list []int32) []float64 {
	out := make([]float64, 0, len(list))
	for _, x := range list {
		if x > 0 {
			out = append(out, float64(x))
		}
	}
	slices.Sort(out)
	return out
}

// jointSide is the grid on which joint ranks are held against each other.
const jointSide = 5

func jointOf(log, model, even pairs) *Joint {
	grids := make([][][]float64, 3)
	j := &Joint{Side: jointSide}
	for i, p := range []pairs{log, model, even} {
		p = p.complete().some()
		if len(p.input) < 100 {
			return nil
		}
		input, output := ranks(p.input, "input ranks"), ranks(p.output, "output ranks")
		grids[i] = grid(input, output, jointSide)
		if i == 0 {
			j.Rank, j.Chance = spearman(input, output), chance(jointSide, len(input))
		}
	}
	j.Log, j.Model = grids[0], grids[1]
	j.Distance, j.Even = apart(grids[0], grids[1]), apart(grids[0], grids[2])
	j.Independent = apart(grids[0], evenGrid(jointSide))
	return j
}

// chance is the expected distance of a grid of n pairs of independent ranks
// from equal cells: each of the side² cells then holds 1/side² of the pairs, with a
// standard deviation of (1-1/side)/side/sqrt(n) since rows and columns are
// full by construction, and the mean of a normal error's size is
// sqrt(2/pi) of its standard deviation.
func chance(side, n int) float64 { return float64(side-1) / math.Sqrt(2*math.Pi*float64(n)) }

// complete are the pairs of which both are known.
func (p pairs) complete() pairs {
	var out pairs
	for i := range p.input {
		if p.input[i] > 0 && p.output[i] > 0 {
			out.input, out.output = append(out.input, p.input[i]), append(out.output, p.output[i])
		}
	}
	return out
}

// conclude fills in what is of the whole log, and the findings.
func (l *log) conclude(m *traffic.Model, r *Report) error {
	var err error
	if r.Prefix, err = l.prefixReport(m); err != nil {
		return err
	}
	r.Sessions = l.sessionReport()
	if !l.madeUp {
		r.Season = season(l.seconds(l.starts(allRows(len(l.at)))), l.span)
		r.Drift = l.drift(l.parts(r.Season))
	}
	l.findAll(r)
	r.Findings = slices.Clone(l.findings)
	m.Findings = slices.Clone(l.findings)
	return nil
}

// findAll says what a user has to know.
func (l *log) findAll(r *Report) {
	l.findAsked()
	l.findLengths(r.Clients)
	l.findBursts(r.Clients)
	l.findSessions(r.Sessions)
	l.findTotals(r.Totals)
	for _, p := range l.pauses {
		l.say("%s", p.Words(r.Begin, int64(len(l.at))))
	}
	for i, c := range r.Drift.Changes {
		if more := len(r.Drift.Changes) - i; i >= shownChanges && more > 1 {
			l.say("drift: and %d more changes of this kind", more)
			break
		}
		l.say("drift: %s", c)
	}
	if r.Drift.Found {
		l.say("drift: the log is not stationary, so a forecast from a part of it would miss the rest")
	}
	if r.Season != nil {
		l.say("season: the rate repeats every %s, which explains %.0f %% of its variance", shortDuration(r.Season.Period), 100*r.Season.Strength)
	}
	remedy := l.burstRemedy(len(r.Clients))
	for _, d := range r.Dispersion {
		if e := d.Model/d.Log - 1; math.Abs(e) > dispersionLimit && d.Scale <= 60 {
			chance, more := byChance(d.Log, d.Low, d.High, r.Seeds), ""
			if chance == "" { // once, at the first scale
				more, remedy = remedy, ""
			}
			l.say("burstiness: at %s the model's index of dispersion is %.3g against the log's %.3g (%+.0f %%%s)%s", shortDuration(d.Scale), d.Model, d.Log, 100*e, chance, more)
		}
	}
	l.findWork(r.Work, r.Seeds)
	if s := r.Sessions; s != nil && s.FromArrival {
		l.say("think times are from one request to the next, answers included: the log does not say when they ended")
	}
}

// byChance says that samples of a model spread over a figure of the log.
func byChance(log, low, high float64, seeds int) string {
	if seeds < 5 || log < low || log > high {
		return ""
	}
	return ", within the spread of the samples"
}

// shownChanges is how many changes along the log are said one by one.
const shownChanges = 6

// findLengths says which clients' lengths are made up, of those of which the
// log tells none.
func (l *log) findLengths(clients []ClientReport) {
	for _, side := range []struct {
		what string
		of   func(c *ClientReport) []LengthFit
	}{{"prompt lengths", func(c *ClientReport) []LengthFit { return c.Input }}, {"lengths of answers", func(c *ClientReport) []LengthFit { return c.Output }}} {
		var names []string
		var of []*ClientReport
		for i := range clients {
			if c := &clients[i]; len(side.of(c)) == 0 {
				names, of = append(names, c.Name), append(of, c)
			}
		}
		what := fmt.Sprintf("%d tokens are made up", madeUpInput)
		if side.what != "prompt lengths" {
			what = answersMadeUp(of)
		}
		switch {
		case len(names) == 0:
		case len(names) == len(clients):
			l.say("the log tells no %s: %s", side.what, what)
		case len(names) <= 3:
			l.say("the log tells no %s of %s: %s", side.what, strings.Join(names, ", "), what)
		default:
			l.say("the log tells no %s of %d clients, %s first: %s", side.what, len(names), names[0], what)
		}
	}
}
