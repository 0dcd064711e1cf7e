package fit

import (
	"bytes"
	"compress/gzip"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// The Azure 2023 traces, each fitted once.
func TestAzure(t *testing.T) {
	t.Run("conversation", func(t *testing.T) {
		m, r := fitTrace(t, "azure2023_conv.csv", Options{})
		lengthsHold(t, r)
		if r.Joint.Distance > r.Joint.Independent/4 {
			t.Errorf("joint distance %.3f, independent %.3f", r.Joint.Distance, r.Joint.Independent)
		}
		arrivalsHold(t, m, r, .15)
		driftIsSaid(t, m, r)
	})
	t.Run("code", func(t *testing.T) {
		m, r := fitTrace(t, "azure2023_code.csv", Options{})
		lengthsHold(t, r)
		// Its lengths hardly depend on each other (rank correlation -0.04), so
		// there is nothing to be clearly better than.
		if r.Joint.Distance > r.Joint.Independent+0.02 {
			t.Errorf("joint distance %.3f, independent %.3f", r.Joint.Distance, r.Joint.Independent)
		}
		arrivalsHold(t, m, r, .35)
	})
}

// lengthsHold checks lengths learnt from the even minutes, drawn and held
// against the odd minutes: p50, p90 and p95 within 10 %.
func lengthsHold(t *testing.T, r *Report) {
	t.Helper()
	for what, h := range map[string]*HeldOut{"input": r.Input, "output": r.Output} {
		if h.Slice != 60 {
			t.Errorf("slices of %v s, want minutes", h.Slice)
		}
		for _, q := range h.Quantiles {
			if q.Share != .5 && q.Share != .9 && q.Share != .95 {
				continue
			}
			if off := q.Model/q.Log - 1; math.Abs(off) > .10 {
				t.Errorf("%s p%v is %v, the log's %v (%+.1f %%)", what, 100*q.Share, q.Model, q.Log, 100*off)
			}
		}
	}
}

// arrivalsHold checks arrivals learnt from the whole trace: requests within
// 10 %, the index of dispersion within a limit; a Poisson process of one rate
// is 27 to 99 % off.
func arrivalsHold(t *testing.T, m *traffic.Model, r *Report, limit float64) {
	t.Helper()
	if w := m.Clients[0].Rate.Window; w != 0 && w < MinWindow {
		t.Errorf("windows of %v", w)
	}
	if r.Seeds != 20 || len(r.Dispersion) < 3 {
		t.Fatalf("%d seeds, %d scales", r.Seeds, len(r.Dispersion))
	}
	for _, d := range r.Dispersion[:3] {
		if off := d.Model/d.Log - 1; math.Abs(off) > limit {
			t.Errorf("at %v s %.3f against %.3f (%+.0f %%)", d.Scale, d.Model, d.Log, 100*off)
		}
		if off := d.Poisson/d.Log - 1; off > -.27 {
			t.Errorf("at %v s Poisson is only %+.0f %% off", d.Scale, 100*off)
		}
	}
	var counts []float64
	for seed := range uint64(20) {
		at, err := moments(m, 1000+seed, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, float64(len(at)))
	}
	slices.Sort(counts)
	if off := stat.Quantile(counts, .5)/float64(r.Rows) - 1; math.Abs(off) > .10 {
		t.Errorf("%+.1f %% requests", 100*off)
	}
}

// driftIsSaid checks that the conversation trace is reported to be not
// stationary: a fifth fewer requests a minute in its last third, input p90
// about 2,018 against 4,074, output p50 about 166 against 115.
func driftIsSaid(t *testing.T, m *traffic.Model, r *Report) {
	t.Helper()
	if !r.Drift.Found || len(r.Drift.Parts) != 3 {
		t.Fatalf("%+v", r.Drift)
	}
	all := strings.Join(m.Findings, "\n")
	for _, want := range []string{"in the last third, against all before: 20 % fewer requests a minute (285 against 355)",
		"p90 1970 against 4075", "output p50 164 tokens against 115", "not stationary"} {
		if !strings.Contains(all, want) {
			t.Errorf("the findings lack %q:\n%s", want, all)
		}
	}
	// What drifts is who sends: each client's lengths stay.
	if len(m.Clients) < 2 && len(m.Clients[0].Lengths) < 2 {
		t.Error("lengths drift, and the model has one client with one set of lengths for all time")
	}
}

// Published figures of the Mooncake conversation trace with LRU caches of
// 5,078, 9,960, 29,296 and unlimited blocks of 512 tokens, full blocks only.
func TestMooncakePrefix(t *testing.T) {
	m, r := fitTrace(t, "mooncake_fast25_conversation.jsonl", Options{CacheTokens: []int64{5078 * 512, 9960 * 512, 29296 * 512}})
	for i, want := range []float64{.123, .219, .335, .373} {
		if got := r.Prefix.Curve[i].Hit; math.Abs(got-want) > .002 {
			t.Errorf("cache of %d tokens: %.4f, want %.3f", r.Prefix.Curve[i].Tokens, got, want)
		}
		if got := *r.Prefix.Curve[i].Model; math.Abs(got-want) > .05 {
			t.Errorf("the model's cache of %d tokens: %.4f, the log's %.3f", r.Prefix.Curve[i].Tokens, got, want)
		}
	}
	if r.Stamps.Tick != 3 || !r.Stamps.Jittered || !strings.Contains(strings.Join(m.Findings, "\n"), "steps of 3 s") {
		t.Errorf("stamps: %+v", r.Stamps)
	}
	if math.Abs(r.Prefix.UsedOnce-.75) > .02 || r.Sessions == nil || r.Sessions.By != sessionBlocks {
		t.Errorf("%+v %+v", r.Prefix, r.Sessions)
	}
}

// Sessions of the Mooncake conversation trace go on less often after a long text, and
// their answers are alike: samples have its tokens, where turns drawn apart have 7 %
// more, and nearly the history of its prompts.
func TestMooncakeSessions(t *testing.T) {
	m, r := fitTrace(t, "mooncake_fast25_conversation.jsonl", Options{})
	for what, k := range map[string]*Total{"requests": &r.Totals.Requests, "input": &r.Totals.Input, "output": &r.Totals.Output} {
		if math.Abs(*k.Off) > .04 {
			t.Errorf("%s: %+.3f", what, *k.Off)
		}
	}
	s := m.Clients[0].Sessions
	if n := len(s.GoesOn); n < 3 || s.GoesOn[n-1]*3 > s.GoesOn[0] || len(s.GoesOnFirst) < 3 {
		t.Errorf("goes on %v after first prompts, %v after later ones", s.GoesOnFirst, s.GoesOn)
	}
	if math.Abs(s.OutputAlike-.56) > .05 || math.Abs(s.InputAlike-.37) > .1 {
		t.Errorf("alike: texts %v, answers %v", s.InputAlike, s.OutputAlike)
	}
	if r.Sessions.TurnsUncut < 1.5 || r.Sessions.TurnsUncut > 1.7 {
		t.Errorf("%v turns uncut", r.Sessions.TurnsUncut)
	}
	if last := r.Prefix.Curve[len(r.Prefix.Curve)-1]; math.Abs(*last.Model-last.Hit) > .035 {
		t.Errorf("an unlimited cache finds %.3f of the log and %.3f of the model", last.Hit, *last.Model)
	}
}

// Rate and CV of each window of ServeGen's clients, sampled: within 10 % in the
// median.
func TestServeGenWindows(t *testing.T) {
	for _, name := range []string{"servegen_deepseek-r1_client_windows.csv", "servegen_m-large_client_windows_first24h.csv"} {
		f, err := os.Open(publicTrace(t, name))
		if err != nil {
			t.Fatal(err)
		}
		m, err := Windows(name, f, "", nil)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		rates, cvs := windowErrors(t, m)
		slices.Sort(rates)
		slices.Sort(cvs)
		rate, cv := stat.Quantile(rates, .5), stat.Quantile(cvs, .5)
		t.Logf("%s: %d clients, %d windows, median error of rate %.1f %%, of CV %.1f %%", name, len(m.Clients), len(rates), 100*rate, 100*cv)
		if rate > .10 || cv > .10 {
			t.Errorf("%s: median error of rate %.1f %%, of CV %.1f %%", name, 100*rate, 100*cv)
		}
	}
}

// windowErrors samples a model's clients and compares each window that has
// some arrivals with what was asked for.
func windowErrors(t *testing.T, m *traffic.Model) (rates, cvs []float64) {
	t.Helper()
	for i := range m.Clients {
		sum := 0.0
		for _, r := range m.Clients[i].Rate.Rate {
			sum += r * m.Clients[i].Rate.Window.Seconds()
		}
		if sum > 300_000 { // a test's time
			continue
		}
		one := *m
		one.Clients = m.Clients[i : i+1]
		at, err := moments(&one, uint64(i), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		c := &m.Clients[i]
		span, window := m.Duration.Seconds(), c.Rate.Window.Seconds()
		sampled := newCurve(at, span, window)
		cv := windowCVs(at, span, window)
		for w, want := range c.Rate.Rate {
			if want*window < 10 {
				continue
			}
			rates = append(rates, math.Abs(sampled.rate[w]/want-1))
			if cv[w] != nil {
				cvs = append(cvs, math.Abs(*cv[w]/c.Arrival.CV[w]-1))
			}
		}
	}
	return rates, cvs
}

// With its table of lengths, a client's windows have the lengths of the table.
func TestServeGenLengths(t *testing.T) {
	windows, err := os.ReadFile(publicTrace(t, "servegen_deepseek-r1_client_windows.csv"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(publicTrace(t, "servegen_deepseek-r1_length_quantiles.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Windows("w", bytes.NewReader(windows), "l", z)
	if err != nil {
		t.Fatal(err)
	}
	c := m.Clients[0]
	if got := c.Lengths[0].Input.Quantile(.5); math.Abs(got-143) > 1e-9 || c.Reasoning == nil || len(c.Lengths) != 2 {
		t.Errorf("p50 %v, want 143; %d stretches", got, len(c.Lengths))
	}
}
