package fit

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

const (
	// shownClients is how many clients the text has, shownCandidates how many
	// candidates of each.
	shownClients    = 8
	shownCandidates = 5
)

// Text is the report for people: what was learnt, how far it is from the log,
// and what to know.
func (r *Report) Text() string {
	var b bytes.Buffer
	t := &writer{tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)}
	t.head(r)
	t.hidden(r)
	t.clients(r)
	t.limits(r)
	t.totals(r)
	t.arrivals(r)
	t.burstiness(r)
	t.tokens(r)
	t.lengths(r)
	t.families(r)
	t.sessions(r)
	t.prefix(r)
	t.drift(r)
	_ = t.Flush() // into a buffer
	if len(r.Findings) > 0 {
		b.WriteString("to know\n")
		for _, f := range r.Findings {
			b.WriteString(wrapped("- "+f, 2, 110))
		}
	}
	lines := strings.Split(b.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// writer writes tables.
type writer struct{ *tabwriter.Writer }

func (w *writer) row(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }

// title begins a table of its own.
func (w *writer) title(format string, args ...any) {
	_ = w.Flush()
	w.row("")
	w.row(format, args...)
	_ = w.Flush()
}

func (w *writer) head(r *Report) {
	what := "requests"
	switch t := r.Totals; {
	case r.Format == ServeGenFormat:
		what = "windows of clients"
	case t != nil && t.Requests.Known != r.Rows:
		what = "rows with " + grouped(t.Requests.Known) + " requests"
	}
	over := " over " + shortDuration(r.Span)
	if r.MadeUp {
		over = "; arrivals are made up, see below"
	}
	w.row("log\t%s, %s %s%s", r.Format, grouped(r.Rows), what, over)
	switch {
	case r.Skipped == 1:
		w.row("\t1 line could not be read")
	case r.Skipped > 1:
		w.row("\t%s lines could not be read", grouped(r.Skipped))
	}
	if r.Failed > 0 {
		w.row("\t%s requests failed", grouped(r.Failed))
	}
	switch {
	case r.Stamps.Tick > 0:
		w.row("stamps\tin steps of %s: spread over them", shortDuration(r.Stamps.Tick))
	case r.Stamps.Resolution > 0:
		w.row("stamps\tto %s", shortDuration(r.Stamps.Resolution))
	}
	if r.Season != nil {
		w.row("season\tthe rate repeats every %s, which explains %.0f%% of its variance", shortDuration(r.Season.Period), 100*r.Season.Strength)
	}
}

func (w *writer) clients(r *Report) {
	w.title("clients (%d)", len(r.Clients))
	w.row("\trequests\tshare\tper s\trate windows\tarrivals\tinput\toutput\ttogether")
	for i, c := range r.Clients {
		if i == shownClients {
			w.row("  and %d more\t", len(r.Clients)-i)
			break
		}
		name := c.Name
		if c.Members > 1 {
			name = fmt.Sprintf("%s (%d names)", name, c.Members)
		}
		rows := "–"
		if c.Rows > 0 {
			rows = grouped(c.Rows)
		}
		w.row("  %s\t%s\t%.1f%%\t%.3g\t%s\t%s\t%s\t%s\t%s", name, rows, 100*c.Share, c.Rate, windowWord(c.Window),
			c.processWords(), chosenWords(c.Input), chosenWords(c.Output), gridWord(c.Grid))
	}
}

func windowWord(s float64) string {
	if s == 0 {
		return "one rate"
	}
	return shortDuration(s)
}

func gridWord(n int) string {
	if n == 0 {
		return "independent"
	}
	return fmt.Sprintf("%d×%d ranks", n, n)
}

func (c *ClientReport) processWords() string {
	for _, a := range c.Arrivals {
		if a.Chosen {
			return a.words()
		}
	}
	return c.Process
}

func (a *ArrivalCandidate) words() string {
	if a.States > 0 {
		return fmt.Sprintf("%s, %d states", a.Process, a.States)
	}
	if a.Process == "poisson" {
		return a.Process
	}
	return fmt.Sprintf("%s, CV %.2f", a.Process, a.CV)
}

// chosenWords names the families of a length, which may change over time.
func chosenWords(list []LengthFit) string {
	if len(list) == 0 {
		return "unknown"
	}
	var names []string
	for _, f := range list {
		if !slices.Contains(names, f.Chosen) {
			names = append(names, f.Chosen)
		}
	}
	s := strings.Join(names, ", ")
	if len(list) > 1 {
		s += fmt.Sprintf(" (%d stretches)", len(list))
	}
	return s
}

func (w *writer) arrivals(r *Report) {
	for i, c := range r.Clients {
		if i == 2 || len(c.Arrivals) == 0 {
			break
		}
		w.title("arrivals of %s: %s", c.Name, c.Why)
		w.row("\trate windows\tprocess\tparameters\tBIC less the best\tdispersion off by\t")
		for k, a := range c.Arrivals {
			if k >= shownCandidates && !a.Chosen {
				continue
			}
			miss, mark := "not checked", ""
			if a.DispersionError != nil {
				miss = fmt.Sprintf("%.0f%%", 100**a.DispersionError)
			}
			if a.Chosen {
				mark = "taken"
			}
			w.row("\t%s\t%s\t%d\t%.0f\t%s\t%s", windowWord(a.Window), a.words(), a.Parameters, a.BIC-c.Arrivals[0].BIC, miss, mark)
		}
	}
}

func (w *writer) burstiness(r *Report) {
	if len(r.Dispersion) == 0 {
		return
	}
	w.title("burstiness: index of dispersion, median of %d samples", r.Seeds)
	w.row("\tat\tlog\tmodel\t\tone-rate Poisson\t")
	for _, d := range r.Dispersion {
		w.row("\t%s\t%.3g\t%.3g\t%s\t%.3g\t%s", shortDuration(d.Scale), d.Log, d.Model, off(d.Model, d.Log), d.Poisson, off(d.Poisson, d.Log))
	}
	if r.Gaps != nil {
		w.row("\tgaps\tKS\t%.3f\t\t%.3f\t", r.Gaps.KS, r.Gaps.PoissonKS)
	}
}

func off(x, of float64) string {
	if of == 0 || math.IsNaN(x/of) {
		return ""
	}
	return signed(x/of - 1)
}

// signed writes a difference in percent, none as such.
func signed(x float64) string {
	if s := fmt.Sprintf("%+.0f%%", 100*x); s != "-0%" && s != "+0%" {
		return s
	}
	return "0%"
}

// tokens shows how tokens come together.
func (w *writer) tokens(r *Report) {
	if len(r.Work) == 0 {
		return
	}
	w.title("work: index of dispersion of tokens, in requests")
	w.row("\tat\tinput log\tmodel\t\toutput log\tmodel\t")
	for _, d := range r.Work {
		w.row("\t%s\t%.3g\t%.3g\t%s\t%.3g\t%.3g\t%s", shortDuration(d.Scale), d.Input.Log, d.Input.Model, off(d.Input.Model, d.Input.Log),
			d.Output.Log, d.Output.Model, off(d.Output.Model, d.Output.Log))
	}
}

// hidden shows how many clients a log without names was divided into.
func (w *writer) hidden(r *Report) {
	chosen := -1
	for i, h := range r.Hidden {
		if h.Chosen {
			chosen = i
		}
	}
	if chosen < 0 {
		return
	}
	window := r.Hidden[chosen].Window
	w.title("the log names no clients; how many it is of by its lengths over time, in windows of %s", shortDuration(window))
	w.row("\tclients\tparameters\tBIC less the best\t")
	for _, h := range r.Hidden {
		if h.Window != window {
			continue
		}
		mark := ""
		if h.Chosen {
			mark = "taken"
		}
		w.row("\t%d\t%d\t%.0f\t%s", h.Clients, h.Parameters, h.BIC-r.Hidden[chosen].BIC, mark)
	}
}

func (w *writer) lengths(r *Report) {
	if r.Input == nil && r.Output == nil {
		return
	}
	slice := 0.0
	for _, h := range []*HeldOut{r.Input, r.Output} {
		if h != nil {
			slice = h.Slice
		}
	}
	of := ""
	if s := r.Sessions; s != nil && s.Later > 0 && s.Independent < 1 {
		of = " (input: of each conversation's first request)"
	}
	w.title("lengths in tokens, held out: a fit of every other %s, against the rest%s", r.sliceWords(slice), of)
	w.row("\t\tp50\tp90\tp95\tp99\tKS\tWasserstein")
	for _, h := range []struct {
		name string
		*HeldOut
	}{{"input", r.Input}, {"output", r.Output}} {
		if h.HeldOut == nil {
			continue
		}
		for _, side := range []string{"log", "model"} {
			line := fmt.Sprintf("\t%s %s", h.name, side)
			for _, p := range []float64{.5, .9, .95, .99} {
				for _, q := range h.Quantiles {
					switch {
					case q.Share == p && side == "log":
						line += fmt.Sprintf("\t%.0f", q.Log)
					case q.Share == p:
						line += fmt.Sprintf("\t%.0f (%s)", q.Model, off(q.Model, q.Log))
					}
				}
			}
			if side == "model" {
				line += fmt.Sprintf("\t%.3f\t%.1f", h.KS, h.Wasserstein)
			} else {
				line += "\t\t"
			}
			w.row("%s", line)
		}
	}
	if j := r.Joint; j != nil {
		_ = w.Flush()
		w.row("  together: ranks of input and output %.3f from the log's, %.3f if drawn apart (%.3f by chance alone), %.3f between the log's halves; rank correlation %+.2f",
			j.Distance, j.Independent, j.Chance, j.Even, j.Rank)
	}
}

// sliceWords is how long the slices are: where arrivals are made up, in rows.
func (r *Report) sliceWords(slice float64) string {
	if r.MadeUp {
		return grouped(int64(math.Round(slice))) + " rows"
	}
	return shortDuration(slice)
}

func (w *writer) families(r *Report) {
	for i, c := range r.Clients {
		if i == 1 {
			break
		}
		for _, l := range []struct {
			name string
			fits []LengthFit
		}{{"input", c.Input}, {"output", c.Output}} {
			if len(l.fits) == 0 {
				continue
			}
			f := l.fits[0]
			when := ""
			if len(l.fits) > 1 {
				when = ", the first of its stretches"
			}
			w.title("%s of %s%s: %s", l.name, c.Name, when, f.Why)
			w.row("\tfamily\tparameters\tBIC less the best\tKS\tWasserstein\t")
			for _, k := range f.Candidates {
				mark := ""
				if k.Family == f.Chosen {
					mark = "taken"
				}
				w.row("\t%s\t%d\t%.0f\t%.3f\t%.1f\t%s", k.Family, k.Parameters, k.BIC-f.Candidates[0].BIC, k.KS, k.Wasserstein, mark)
			}
		}
	}
}

func (w *writer) prefix(r *Report) {
	p := r.Prefix
	if p == nil {
		return
	}
	of := fmt.Sprintf("blocks of %d, %.0f%% of them used once", p.BlockTokens, 100*p.UsedOnce)
	if p.BlockTokens == 0 {
		of = fmt.Sprintf("by the texts of %s prompts", grouped(p.Texts))
	}
	w.title("prompt tokens that a cache would have known (%s)", of)
	w.row("\tcache\tlog\tmodel")
	for i, c := range p.Curve {
		if c.Tokens > 0 && i%4 != 0 || c.Tokens > 0 && i > 0 && c.Hit == p.Curve[i-1].Hit {
			continue
		}
		size, model := "unlimited", "–"
		if c.Tokens > 0 {
			size = grouped(c.Tokens) + " tokens"
		}
		if c.Model != nil {
			model = fmt.Sprintf("%.1f%%", 100**c.Model)
		}
		w.row("\t%s\t%.1f%%\t%s", size, 100*c.Hit, model)
	}
	if p.Exponent != nil {
		_ = w.Flush()
		w.row("  %.0f%% of the sessions begin with one of %s fronts that others sent too, popular by Zipf's law with exponent %.2f", 100*p.FrontShare,
			grouped(p.Fronts), *p.Exponent)
	}
}

func (w *writer) drift(r *Report) {
	if len(r.Drift.Parts) == 0 {
		return
	}
	word := "no drift found"
	if r.Drift.Found {
		word = "drift found"
	}
	of := ""
	if s := r.Sessions; s != nil && s.Later > 0 && s.Independent < 1 {
		of = " (input: new text of each turn)"
	}
	w.title("the log in %d parts: %s%s", len(r.Drift.Parts), word, of)
	w.row("\tfrom\tto\trequests/min\tinput p50\tp90\toutput p50\tp90\tKS to before: input\toutput")
	for i, p := range r.Drift.Parts {
		if len(r.Drift.Parts) > 12 && i%((len(r.Drift.Parts)+11)/12) != 0 {
			continue
		}
		w.row("\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", shortDuration(p.From), shortDuration(p.To), perMinute(p.PerMinute), number(p.InputP50, "%.0f"), number(p.InputP90, "%.0f"),
			number(p.OutputP50, "%.0f"), number(p.OutputP90, "%.0f"), number(p.InputKS, "%.2f"), number(p.OutputKS, "%.2f"))
	}
}

func number(x *float64, format string) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf(format, *x)
}
