package portrait_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/portrait"
	"github.com/tokamak-bench/tokamak/workload/fit"
)

// TestFitPage draws a fit of a log in memory: every part is there, and the
// figures are the report's.
func TestFitPage(t *testing.T) {
	log := bursts()
	for i := range log {
		log[i].Session, log[i].Tenant = "", ""
	}
	_, r, err := fit.Fit(context.Background(), &rows{of: log}, fit.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := portrait.Fit(r, portrait.Options{Name: "bursts"})
	text := page(t, p, portrait.TextOptions{Width: 100})
	for _, want := range []string{"error of dispersion", "Arrivals over time", "Burstiness over time scales", "Time between arrivals",
		"Input length, held out", "The model's lengths together", "client-1: arrivals", "client-1: input length", "Taken: ",
		"the log does not name the blocks of its prompts"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	var html bytes.Buffer
	if err := p.HTML(&html); err != nil {
		t.Fatal(err)
	}
	if s := html.String(); strings.Contains(s, "NaN") || strings.Contains(s, "<script") {
		t.Error("the page has a NaN or a script in it")
	}
}

// TestEmptyFit: a report of nothing is a page of sentences.
func TestEmptyFit(t *testing.T) {
	text := page(t, portrait.Fit(&fit.Report{Clients: []fit.ClientReport{{Name: "\x1b[31mred"}}}, portrait.Options{Name: "none"}), portrait.TextOptions{})
	text = strings.Join(strings.Fields(text), " ")
	for _, want := range []string{"error of dispersion – not known", "the log has no moments", "the log has too few input lengths", "?[31mred"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestFitErrorIsWorst: of the windows up to 60 s the worst error is shown,
// 1 - 6/8 = 25 %, beside what Poisson misses by there.
func TestFitErrorIsWorst(t *testing.T) {
	p := portrait.Fit(&fit.Report{Dispersion: []fit.Dispersion{{Scale: 1, Log: 2, Model: 2.1, Poisson: 1}, {Scale: 10, Log: 8, Model: 6, Poisson: 1},
		{Scale: 600, Log: 100, Model: 1, Poisson: 1}}}, portrait.Options{})
	if n := p.First[0]; n.Value != "25%" || !strings.Contains(n.Meaning, "misses by 87.5%") {
		t.Errorf("%+v", n)
	}
}

// TestFitTotals: what the log comes to stands beside the model, and what later
// prompts were taken for.
func TestFitTotals(t *testing.T) {
	log, compared, per, off := 1000.0, 1250.0, 2.5, .25
	r := &fit.Report{Totals: &fit.Totals{Requests: fit.Total{Known: 10, Model: 12}, Input: fit.Total{Known: 8, Log: &log, LogCompared: &compared, ModelCompared: 1562.5, ComparedRequests: 10, Model: 1562.5, LogPerSecond: &per, Off: &off},
		Output: fit.Total{Model: 300}},
		Sessions: &fit.SessionReport{Told: 3, Later: 7, History: "independent", HistoryWhy: "as asked", Independent: 1}}
	p := portrait.Fit(r, portrait.Options{})
	text := strings.Join(strings.Fields(page(t, p, portrait.TextOptions{Width: 200})), " ")
	for _, want := range []string{"input tokens 1,000 in the log; in samples of the model 1,562 (+25%), 2.50 a second in the log; 8 requests of the log tell theirs; compared are 1,250 in the log with 1,562 in the model, of 10 requests, where those that do not tell count as their client's mean",
		"output tokens – the log does not tell; those of the model, 300, are made up",
		"turns independent what the prompts of 7 later requests of 3 sessions were taken to hold: no history; as asked"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if len(p.Notes) != 0 {
		t.Errorf("%q: there are no conversations", p.Notes)
	}
}
