package fit

import (
	"fmt"
	"math"
	"strings"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// totals shows what the log and the model come to.
func (w *writer) totals(r *Report) {
	t := r.Totals
	if t == nil {
		return
	}
	of := "one sample"
	if t.Seeds > 1 {
		of = fmt.Sprintf("the median of %d samples", t.Seeds)
	}
	w.title("totals of the log, and %s of the model", of)
	w.row("\t\tlog\tmodel\t\tlog per s\tmodel per s")
	for _, k := range []struct {
		name string
		*Total
	}{{"requests", &t.Requests}, {"input tokens", &t.Input}, {"output tokens", &t.Output}} {
		log, model, by := "not told", k.Model, "made up"
		if k.Log != nil {
			log, model = grouped(int64(*k.LogCompared)), k.ModelCompared
			if k.Known < t.Requests.Known {
				log = "~" + log
			}
		}
		if k.Off != nil {
			by = signed(*k.Off)
		}
		w.row("\t%s\t%s\t%s\t%s\t%s\t%s", k.name, log, grouped(int64(model)), by, perSecond(k.LogPerSecond), perSecond(k.ModelPerSecond))
	}
	for _, k := range []struct {
		name string
		*Total
	}{{"input", &t.Input}, {"output", &t.Output}} {
		if k.Log != nil && k.Known < t.Requests.Known {
			_ = w.Flush()
			w.row("  %s tokens: %s", k.name, k.extrapolated(t.Requests.Known))
		}
	}
}

// extrapolated says what of a log of so many requests is compared.
func (t *Total) extrapolated(requests int64) string {
	s := fmt.Sprintf("%s requests of the log tell theirs, %s in all; ", grouped(t.Known), grouped(int64(*t.Log)))
	if t.ComparedRequests < requests {
		s += fmt.Sprintf("what is compared is of the %s requests of clients that tell some, ", grouped(t.ComparedRequests))
	}
	return s + "the others count as their client's mean"
}

// perSecond writes a rate.
func perSecond(x *float64) string {
	if x == nil || *x < 999.5 {
		return number(x, "%.3g")
	}
	return grouped(int64(math.Round(*x)))
}

// limits shows the most tokens that requests let their answers have.
func (w *writer) limits(r *Report) {
	_ = w.Flush()
	for i, c := range r.Clients {
		if i == shownClients {
			break
		}
		if m := c.Limits; m != nil {
			w.row("  %s: %s requests limit their answers (max_tokens): p50 %s, p90 %s, at most %s tokens", c.Name, grouped(m.Rows), grouped(int64(m.P50)),
				grouped(int64(m.P90)), grouped(int64(m.Max)))
		}
	}
}

func (w *writer) sessions(r *Report) {
	s := r.Sessions
	if s == nil || s.Later == 0 {
		return
	}
	w.title("sessions, told by %s: %s with %s later requests", s.By, grouped(s.Told), grouped(s.Later))
	line := fmt.Sprintf("their prompts are taken to hold %s (%s): %s", HistoryWords(s.History), s.History, s.HistoryWhy)
	if s.History == mixedTurns {
		line += fmt.Sprintf("; %.0f %% of them are taken to hold no history", 100*s.Independent)
	}
	w.row("%s", strings.TrimRight(wrapped(line, 2, 110), "\n"))
	if s.Turns <= singleLimit {
		return
	}
	_ = w.Flush()
	w.row("\tsessions in the model\tturns\tone turn\tthink p50\tnew text p50\tjump")
	think, input, jump := "–", "–", "–"
	if s.ThinkP50 != nil {
		think = shortDuration(*s.ThinkP50)
	}
	if s.InputP50 != nil {
		input = fmt.Sprintf("%.0f tokens", *s.InputP50)
	}
	if s.Jump != nil {
		jump = fmt.Sprintf("%.0f%%", 100**s.Jump)
	}
	w.row("\t%s\t%.2f\t%.1f%%\t%s\t%s\t%s", grouped(s.Sessions), s.Turns, 100*s.Single, think, input, jump)
}

// HistoryWords say what a kind of turns, as of SessionReport, holds.
func HistoryWords(kind string) string {
	switch trace.Turns(kind) {
	case trace.DeltaTurns:
		return "their new text alone"
	case IndependentTurns:
		return "no history"
	case mixedTurns:
		return "all that came before in some sessions, and no history in others"
	}
	return "all that came before"
}
