package portrait

import (
	"fmt"
	"math"

	"github.com/tokamak-bench/tokamak/chart"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/workload/fit"
)

// Fit draws how far a model is from the log that it was learnt from.
func Fit(r *fit.Report, o Options) *Page {
	p := &Page{Title: o.Name, Subtitle: "a model of traffic beside the log that it was learnt from, read as " + r.Format, Notes: r.Findings}
	if conversations(r) {
		p.Notes = append([]string{"Arrivals and input lengths are those of the first request of each conversation."}, p.Notes...)
	}
	p.First = []Number{burstError(r), heldOut("input", r.Input), heldOut("output", r.Output), drift(r)}
	p.Rest = []Number{
		{"rows", measure.Count(r.Rows), "of the log; " + measure.Count(r.Failed) + " requests failed, " + measure.Count(r.Skipped) + " lines could not be read"},
	}
	p.Rest = append(p.Rest, totals(r.Totals)...)
	p.Rest = append(p.Rest, fitSpan(r), histories(r.Sessions))
	p.Rest = append(p.Rest, []Number{
		{"clients", measure.Count(int64(len(r.Clients))), clientsMeaning(r)},
		gapDistance(r), together(r.Joint), prefixHits(r.Prefix),
	}...)
	p.Sections = []Section{{Figures: []chart.Figure{
		fittedRate(r), fittedDispersion(r), fittedGaps(r),
		fittedLength("input", r.Input, r.MadeUp), fittedLength("output", r.Output, r.MadeUp)}}}
	first := &p.Sections[0]
	if r.Joint != nil {
		first.Figures = append(first.Figures, ranks("The log's lengths together", "log", r.Joint.Log), ranks("The model's lengths together", "model", r.Joint.Model))
	}
	first.Figures = append(first.Figures, fittedPrefix(r.Prefix))
	if r.Prefix != nil && len(r.Prefix.Popularity) > 1 {
		first.Figures = append(first.Figures, popularity(r.Prefix))
	}
	if len(r.Drift.Parts) > 1 {
		p.Sections = append(p.Sections, driftSection(&r.Drift, conversations(r)))
	}
	if r.Season != nil {
		p.Sections = append(p.Sections, Section{Title: "Season", Figures: []chart.Figure{season(r.Season)}})
	}
	p.Sections = append(p.Sections, candidates(r))
	return p
}

// conversations tells whether later prompts were taken to hold a history.
func conversations(r *fit.Report) bool {
	return r.Sessions != nil && r.Sessions.Later > 0 && r.Sessions.Independent < 1
}

// totals are what the log comes to, beside the model.
func totals(t *fit.Totals) []Number {
	if t == nil {
		return nil
	}
	var out []Number
	for _, k := range []struct {
		name string
		*fit.Total
	}{{"requests", &t.Requests}, {"input tokens", &t.Input}, {"output tokens", &t.Output}} {
		n := Number{Name: k.name, Meaning: "the log does not tell; those of the model, " + measure.Count(int64(k.Model)) + ", are made up"}
		if k.Log != nil && k.Off != nil {
			n.Value = measure.Count(int64(*k.Log))
			n.Meaning = fmt.Sprintf("in the log; in samples of the model %s (%s)", measure.Count(int64(k.Model)), difference(*k.Off))
			if k.LogPerSecond != nil {
				n.Meaning += ", " + measure.Digits(*k.LogPerSecond) + " a second in the log"
			}
			if k.Known < t.Requests.Known {
				n.Meaning += fmt.Sprintf("; %s requests of the log tell theirs; compared are %s in the log with %s in the model, of %s requests, where those that do not tell count as their client's mean",
					measure.Count(k.Known), measure.Count(int64(*k.LogCompared)), measure.Count(int64(k.ModelCompared)), measure.Count(k.ComparedRequests))
			}
		}
		out = append(out, n)
	}
	return out
}

// histories says what later prompts were taken to hold.
func histories(s *fit.SessionReport) Number {
	if s == nil || s.Later == 0 {
		return Number{Name: "turns", Meaning: "not known: the log does not tell which requests belong together"}
	}
	return Number{"turns", s.History, fmt.Sprintf("what the prompts of %s later requests of %s sessions were taken to hold: %s; %s",
		measure.Count(s.Later), measure.Count(s.Told), fit.HistoryWords(s.History), s.HistoryWhy)}
}

// burstError is the largest error of the index of dispersion.
func burstError(r *fit.Report) Number {
	n := Number{Name: "error of dispersion", Meaning: unknown(noWindows(r))}
	most, poisson, at := -1.0, 0.0, 0.0
	for _, d := range r.Dispersion {
		if d.Scale > 60 || !(d.Log > 0) {
			continue
		}
		if e := math.Abs(d.Model/d.Log - 1); e > most {
			most, poisson, at = e, math.Abs(d.Poisson/d.Log-1), d.Scale
		}
	}
	if most < 0 {
		return n
	}
	n.Value = measure.Percent(100 * most)
	n.Meaning = fmt.Sprintf("how far the model's burstiness is from the log's, at the worst window up to 60 s (%s); a Poisson process misses by %s there",
		elapsed(at), measure.Percent(100*poisson))
	return n
}

// heldOut is the distance of lengths on slices that the model did not see.
func heldOut(which string, h *fit.HeldOut) Number {
	n := Number{Name: which + " KS, held out", Meaning: "not known: the log has too few " + which + " lengths"}
	if h == nil {
		return n
	}
	n.Value = measure.Digits(h.KS)
	n.Meaning = "largest difference of the distribution functions of " + which + " lengths, on slices of the log that the model did not see; 0 is the same, 1 apart"
	return n
}

// noMoments says why nothing is known of the arrivals of a log.
func noMoments(r *fit.Report) string {
	if r.MadeUp && r.Stamps.Moments > 0 {
		return "the log has fewer than three different moments"
	}
	return "the log has no moments"
}

// noWindows says why nothing is known of its burstiness.
func noWindows(r *fit.Report) string {
	if r.MadeUp {
		return noMoments(r)
	}
	return "the log is too short, or its source holds no moments"
}

func fitSpan(r *fit.Report) Number {
	if r.MadeUp {
		return Number{Name: "span", Meaning: unknown(noMoments(r))}
	}
	return Number{"span", elapsed(r.Span), "from the first request to the last"}
}

func drift(r *fit.Report) Number {
	d := &r.Drift
	switch {
	case r.MadeUp:
		return Number{Name: "drift", Meaning: unknown(noMoments(r))}
	case len(d.Parts) < 2:
		return Number{Name: "drift", Meaning: "not known: the log is too short to be divided"}
	case d.Found:
		return Number{"drift", "found", "the traffic changes along the log: what was learnt from it is a mean over parts that differ"}
	}
	return Number{"drift", "none", fmt.Sprintf("rate and lengths of %d parts of the log do not differ by more than chance and bursts allow", len(d.Parts))}
}

func clientsMeaning(r *fit.Report) string {
	if len(r.Clients) == 0 {
		return "streams of requests in the model"
	}
	c := &r.Clients[0]
	window := "one rate"
	if c.Window > 0 {
		window = "rates of " + elapsed(c.Window)
	}
	return fmt.Sprintf("streams of requests in the model; the largest, %s: %s, %s", c.Name, c.Process, window)
}

func gapDistance(r *fit.Report) Number {
	g := r.Gaps
	if g == nil {
		return Number{Name: "gaps KS", Meaning: unknown(noMoments(r))}
	}
	return Number{"gaps KS", measure.Digits(g.KS), "of the times between requests, log against model; Poisson of one rate " + measure.Digits(g.PoissonKS)}
}

func together(j *fit.Joint) Number {
	if j == nil {
		return Number{Name: "joint distance", Meaning: "not known: too few requests have both lengths"}
	}
	return Number{"joint distance", measure.Digits(j.Distance), fmt.Sprintf("of the joint ranks of input and output, held out; drawn apart %s (by chance alone %s), the log's own halves %s",
		measure.Digits(j.Independent), measure.Digits(j.Chance), measure.Digits(j.Even))}
}

func prefixHits(p *fit.PrefixReport) Number {
	if p == nil || len(p.Curve) == 0 {
		return Number{Name: "shared prefix", Meaning: "not known: the log does not name the blocks of its prompts"}
	}
	all := p.Curve[len(p.Curve)-1]
	n := Number{"shared prefix", measure.Percent(100 * all.Hit), "share of prompt tokens that were sent before, in the log"}
	if all.Model != nil {
		n.Meaning += "; in the model " + measure.Percent(100**all.Model)
	}
	return n
}

// candidates are the tables of what was tried.
func candidates(r *fit.Report) Section {
	const shown = 3 // clients
	s := Section{Title: "What was tried"}
	for i := range r.Clients {
		if i == shown {
			break
		}
		c := &r.Clients[i]
		s.Tables = append(s.Tables, arrivalTable(c))
		for _, l := range []struct {
			name string
			fits []fit.LengthFit
		}{{"input", c.Input}, {"output", c.Output}} {
			if len(l.fits) > 0 {
				s.Tables = append(s.Tables, lengthTable(c.Name, l.name, &l.fits[0]))
			}
		}
	}
	return s
}

func arrivalTable(c *fit.ClientReport) Table {
	t := Table{Title: c.Name + ": arrivals", Note: c.Why, Head: []string{"process", "rate windows", "parameters", "BIC", "CV", "error of dispersion", "taken"}}
	if t.Note != "" {
		t.Note = "Taken: " + t.Note + "."
	}
	for i, a := range c.Arrivals {
		if i >= 8 && !a.Chosen {
			continue
		}
		window, miss, taken := "one rate", "-", ""
		if a.Window > 0 {
			window = elapsed(a.Window)
		}
		if a.DispersionError != nil {
			miss = measure.Percent(100 * *a.DispersionError)
		}
		if a.Chosen {
			taken = "yes"
		}
		t.Rows = append(t.Rows, []string{a.Process, window, measure.Count(int64(a.Parameters)), bic(a.BIC), measure.Digits(a.CV), miss, taken})
	}
	return t
}

func lengthTable(client, which string, l *fit.LengthFit) Table {
	t := Table{Title: client + ": " + which + " length", Note: l.Why, Head: []string{"family", "parameters", "BIC", "KS", "Wasserstein (tokens)", "taken"}}
	if t.Note != "" {
		t.Note = "Taken: " + t.Note + "."
	}
	for _, c := range l.Candidates {
		taken := ""
		if c.Family == l.Chosen {
			taken = "yes"
		}
		t.Rows = append(t.Rows, []string{c.Family, measure.Count(int64(c.Parameters)), bic(c.BIC), measure.Digits(c.KS), measure.Digits(c.Wasserstein), taken})
	}
	return t
}

// bic writes a criterion, of which differences count.
func bic(x float64) string {
	if math.IsNaN(x) || math.Abs(x) > 1e15 {
		return "-"
	}
	return measure.Count(int64(math.Round(x)))
}

// difference is a relative difference in whole percent; none has no sign.
func difference(x float64) string {
	if math.Round(100*x) == 0 {
		return "0%"
	}
	return fmt.Sprintf("%+.0f%%", 100*x)
}
