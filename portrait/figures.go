package portrait

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/chart"
	"github.com/tokamak-bench/tokamak/measure"
)

// rateFigure draws the rate over time.
func rateFigure(at []int64, f *Facts) *chart.Plot {
	p := &chart.Plot{Title: "Requests over time",
		X:     chart.Axis{Label: "time since the first request", Unit: chart.Seconds},
		Y:     chart.Axis{Label: "requests/s"},
		Empty: f.empty()}
	if p.Empty != "" {
		return p
	}
	window := rateWindow(time.Duration(f.Span.Or(0) * 1e9))
	edges, rate := rates(at, window)
	if len(rate) == 0 {
		p.Empty = "all requests are at one moment"
		if f.Span.Or(0) > 0 {
			p.Empty = "all requests are within " + elapsed(f.Span.Or(0))
		}
		return p
	}
	p.Note = "Each step is the mean of " + written(window) + cutShort(edges, window.Seconds()) + f.part(f.Arrivals) + "."
	p.Series = append(p.Series, chart.Series{Name: "mean of " + written(window), Shape: chart.Filled, X: edges, Y: rate})
	if window > peakWindow {
		p.Series = append(p.Series, busiest(at, window))
		p.Note += " The dotted line is the busiest 60 s within it."
	}
	if peak, ok := f.PeakRate.Get(); ok && window >= peakWindow {
		m := chart.Mark{X: f.PeakAt.Or(0) + peakWindow.Seconds()/2, Y: peak, Label: "busiest 60 s: " + measure.Digits(peak) + " req/s"}
		if window > peakWindow { // the middle may lie in the step before
			m.X += peakWindow.Seconds() / 2
		}
		p.Marks = append(p.Marks, m)
	}
	return p
}

// cutShort says how the last step is cut short, if it is.
func cutShort(edges []float64, window float64) string {
	n := len(edges) - 1
	switch long := edges[n] - edges[n-1]; {
	case long >= window*(1-1e-9):
		return ""
	case n == 1:
		return ", here of " + elapsed(long)
	}
	return "; the last, cut short by the end, has that of the last " + written(time.Duration(window*1e9))
}

// empty returns why a figure of arrivals cannot be drawn, or nothing.
func (f *Facts) empty() string {
	if f.Span.Valid() {
		return ""
	}
	return f.noMoments()
}

// rateWindow returns the window of the picture of the rate: 60 s, unless that
// makes fewer than 10 or more than 200 steps.
func rateWindow(span time.Duration) time.Duration {
	for _, w := range []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second, time.Minute, 5 * time.Minute,
		15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour} {
		if w < time.Minute && span/w <= 60 || w >= time.Minute && span/w <= 200 {
			return w
		}
	}
	return 7 * 24 * time.Hour
}

// busiest is the highest rate of 60 s that ends in each window, a multiple of
// 60 s; in a last one cut short, of the window up to the last arrival.
func busiest(at []int64, window time.Duration) chart.Series {
	s := chart.Series{Name: "busiest 60 s in it", Shape: chart.Steps, Role: chart.Other, X: []float64{0}}
	last := at[len(at)-1]
	for from := at[0]; from < last; from += int64(window) {
		end, begin := from+int64(window), from
		if end > last {
			end, begin = last, last-int64(window)+1
		}
		to := behind(at, end-1)
		if end == last {
			to = len(at)
		}
		most, _ := highest(at, peakWindow, behind(at, begin-1), to)
		s.X = append(s.X, float64(end-at[0])/1e9)
		s.Y = append(s.Y, float64(most)/peakWindow.Seconds())
	}
	return s
}

// gapFigure draws the inter-arrival times against those of a Poisson process
// of the same mean.
func gapFigure(at []int64, f *Facts) *chart.Plot {
	p := &chart.Plot{Title: "Time between requests", Note: "Exponential is what a Poisson process of the same rate would show.",
		X:     chart.Axis{Label: "gap to the request before", Unit: chart.Seconds, Log: true},
		Y:     chart.Axis{Label: "share of the requests in each bin", Unit: chart.Share},
		Empty: f.empty()}
	mean, _, same := gaps(at)
	average, ok := mean.Get()
	if p.Empty == "" && !ok {
		p.Empty = f.fewMoments()
	}
	if p.Empty != "" {
		return p
	}
	p.Note += f.partSentence(f.Arrivals)
	if share, _ := same.Get(); share > 0 {
		p.Note += " " + measure.Percent(100*share) + " of the gaps are 0 and stand outside the picture."
	}
	low, high := math.Inf(1), 0.0
	for i := range len(at) - 1 {
		if gap := float64(at[i+1]-at[i]) / 1e9; gap > 0 {
			low, high = min(low, gap), max(high, gap)
		}
	}
	edges := logEdges(max(min(low, average/30), average/1e4), max(high, 4*average), gapBins)
	n := make([]float64, len(edges)-1)
	for i := range len(at) - 1 {
		if k := bin(edges, float64(at[i+1]-at[i])/1e9); k >= 0 {
			n[k]++
		}
	}
	law := make([]float64, len(n))
	for k := range n {
		n[k] /= float64(len(at) - 1)
		law[k] = math.Exp(-edges[k]/average) - math.Exp(-edges[k+1]/average)
	}
	p.Series = []chart.Series{{Name: f.origin(), Shape: chart.Filled, X: edges, Y: n},
		{Name: "exponential of the same mean", Shape: chart.Line, Role: chart.Reference, X: middles(edges), Y: law}}
	p.Marks = []chart.Mark{chart.At(average, "mean "+measure.Figure(measure.Some(average*1000), "ms"))}
	return p
}

// middles returns the geometric middles of bins.
func middles(edges []float64) []float64 {
	var out []float64
	for k := range len(edges) - 1 {
		out = append(out, math.Sqrt(edges[k]*edges[k+1]))
	}
	return out
}

// The bins of a decade.
const (
	lengthBins = 12
	gapBins    = 8
)

// lengthFigure draws the density of token counts, with percentiles marked.
func (f *Facts) lengthFigure(title, which string, ascending []int32, l Lengths) *chart.Plot {
	p := &chart.Plot{Title: title, X: chart.Axis{Label: which + " length (tokens)", Log: true, Whole: true},
		Y: chart.Axis{Label: "share of the requests in 1/12 of a decade", Unit: chart.Share}}
	if len(ascending) == 0 {
		p.Empty = f.noLengths(which)
		return p
	}
	p.Note = strings.TrimSpace(f.partSentence(l.Count))
	edges := wholeEdges(float64(ascending[0]), float64(ascending[len(ascending)-1]), lengthBins)
	p.Series = []chart.Series{{Name: which, Shape: chart.Filled, X: edges, Y: density(ascending, edges, lengthBins)}}
	p.Marks = marks(named{"p50", l.P50}, named{"p95", l.P95}, named{"p99", l.P99})
	return p
}

// named is a value with its name.
type named struct {
	name string
	at   measure.Value
}

// marks labels whole numbers; names of one value share a label.
func marks(of ...named) []chart.Mark {
	var out []chart.Mark
	for i := range of {
		if m := of[i]; i+1 < len(of) && of[i+1].at == m.at {
			of[i+1].name = m.name + " " + of[i+1].name
		} else {
			out = append(out, chart.At(m.at.Or(0), m.name+" "+whole(m.at)))
		}
	}
	return out
}

// jointFigure draws how input and output lengths go together.
func jointFigure(l *log, f *Facts) *chart.Plot {
	p := &chart.Plot{Title: "Input and output together", Note: "Darker: more requests.",
		X: chart.Axis{Label: "input length (tokens)", Log: true, Whole: true}, Y: chart.Axis{Label: "output length (tokens)", Log: true, Whole: true}}
	var lowX, lowY, highX, highY int32 = math.MaxInt32, math.MaxInt32, 0, 0
	both := int64(0)
	for i, x := range l.input {
		if y := l.output[i]; x != missing && y != missing {
			both++
			lowX, lowY, highX, highY = min(lowX, x), min(lowY, y), max(highX, x), max(highY, y)
		}
	}
	if highX == 0 {
		p.Empty = "no request of the log has both lengths"
		if f.Sampled {
			p.Empty = f.noLengths("")
		}
		return p
	}
	p.Note += f.partSentence(both)
	g := &chart.Grid{X: wholeEdges(float64(lowX), float64(highX), 10), Y: wholeEdges(float64(lowY), float64(highY), 10)}
	g.Count = make([][]float64, len(g.X)-1)
	for i := range g.Count {
		g.Count[i] = make([]float64, len(g.Y)-1)
	}
	for i, x := range l.input {
		if y := l.output[i]; x != missing && y != missing {
			if a, b := bin(g.X, float64(x)), bin(g.Y, float64(y)); a >= 0 && b >= 0 {
				g.Count[a][b]++
			}
		}
	}
	p.Grid = g
	return p
}

// dispersionFigure draws the index of dispersion over time scales.
func dispersionFigure(at []int64, f *Facts) *chart.Plot {
	p := &chart.Plot{Title: "Burstiness over time scales",
		Note:  "Variance ÷ mean of the counts in windows. Poisson traffic lies at 1 whatever the window; what rises has bursts or trends of that length.",
		X:     chart.Axis{Label: "window", Unit: chart.Seconds, Log: true},
		Y:     chart.Axis{Label: "index of dispersion", Log: true},
		Empty: f.empty()}
	if p.Empty != "" {
		return p
	}
	var x, y []float64
	for _, w := range scales(at) {
		if v, ok := dispersion(at, w).Get(); ok && v > 0 {
			x, y = append(x, w.Seconds()), append(y, v)
		}
	}
	if len(x) < 2 {
		p.Empty = "the " + f.origin() + " is too short: fewer than twenty windows of any length"
		return p
	}
	one := make([]float64, len(x))
	for i := range one {
		one[i] = 1
	}
	p.Series = []chart.Series{{Name: f.origin(), Shape: chart.Line, X: x, Y: y}, {Name: "Poisson", Role: chart.Reference, X: x, Y: one}}
	return p
}

// scales are the windows, 60 s and 1, 2 and 5 times a power of ten, that hold a few
// thousandths of an arrival at least and of which the log has twenty.
func scales(at []int64) []time.Duration {
	if len(at) < 2 {
		return nil
	}
	span := at[len(at)-1] - at[0]
	least := max(span/int64(len(at))/10, span/2_000_000)
	var out []time.Duration
	for w := int64(time.Millisecond); w <= span/leastWindows; w *= 10 {
		for _, f := range []int64{1, 2, 5} {
			if f*w >= least && f*w <= span/leastWindows {
				out = append(out, time.Duration(f*w))
			}
		}
	}
	if minute := int64(time.Minute); minute <= span/leastWindows && minute >= least {
		out = append(out, time.Minute) // which stands among the figures
		slices.Sort(out)
	}
	return out
}

// turnsFigure draws how many turns conversations have.
func turnsFigure(s *sessions, f *Facts) *chart.Plot {
	p := &chart.Plot{Title: "Turns of a conversation", X: chart.Axis{Label: "turns", Whole: true}, Y: chart.Axis{Label: "share of the conversations", Unit: chart.Share}}
	if !s.told {
		p.Empty = f.noSessions()
		return p
	}
	turns := known(s.turns)
	l := lengths(turns)
	most := int(l.Max.Or(1))
	if most > 100 {
		p.X.Log = true
	}
	edges := []float64{0.5}
	for k := 1; k <= most; k++ {
		if step := 1 + k/40; k%step == 0 || k == most {
			edges = append(edges, float64(k)+0.5)
		}
	}
	n := make([]float64, len(edges)-1)
	for _, t := range turns {
		if k := bin(edges, float64(t)); k >= 0 {
			n[k] += 1 / (float64(len(turns)) * (edges[k+1] - edges[k]))
		}
	}
	p.Series = []chart.Series{{Name: "turns", Shape: chart.Filled, X: edges, Y: n}}
	p.Marks = marks(named{"p50", l.P50}, named{"p95", l.P95})
	return p
}

// shownTenants is how many tenants have a bar of their own.
const shownTenants = 12

// tenantsFigure draws the tenants' shares; by rank unless names are asked for.
func tenantsFigure(t *tally, f *Facts, names bool) *chart.Bars {
	b := &chart.Bars{Title: f.tenantsTitle(), Label: "share of the requests", Unit: chart.Share}
	if !t.told() {
		b.Empty = f.noTenants()
		return b
	}
	ranked := t.ranked()
	total, rest := int64(0), int64(0)
	for _, x := range ranked {
		total += x.requests
	}
	for i, x := range ranked {
		if i >= shownTenants {
			rest += x.requests
			continue
		}
		name := fmt.Sprintf("tenant %d", i+1)
		switch {
		case names && x.name != "":
			name = x.name
		case x.name == "":
			name = "not named"
		}
		b.Bars = append(b.Bars, bar(name, x.requests, total))
	}
	if rest > 0 {
		others := "1 other"
		if n := len(ranked) - shownTenants; n > 1 {
			others = measure.Count(int64(n)) + " others"
		}
		b.Bars = append(b.Bars, bar(others, rest, total))
	}
	if !names {
		b.Note = "Ranked by requests; names are shown where asked for."
	}
	return b
}

func bar(name string, part, whole int64) chart.Bar {
	return chart.Bar{Name: name, Value: float64(part) / float64(whole), Text: measure.Share(int(part), int(whole))}
}
