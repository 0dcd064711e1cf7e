package fit

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// twoSenders is a log that names nobody: one sends short prompts at 2/s in the
// first ten of every fifteen minutes, another long prompts with long answers at
// 2/s in the last ten, so that each is alone at times.
func twoSenders(seconds int, second bool) *listed {
	l := &listed{}
	r := stat.Random(3, "two senders", 0)
	for s := range seconds {
		for range 2 {
			at := int64((float64(s) + r.Float64()) * 1e9)
			if s%900 < 600 {
				l.rows = append(l.rows, trace.Row{Format: "x", Timed: true, At: at, Input: 50 + r.Int64N(100), Output: 10 + r.Int64N(20)})
			}
			if second && s%900 >= 300 {
				l.rows = append(l.rows, trace.Row{Format: "x", Timed: true, At: at + 1000, Input: 2000 + r.Int64N(500), Output: 300 + r.Int64N(100)})
			}
		}
	}
	return l
}

// TestHiddenClients: senders whom no one names are told apart by their lengths
// over time, and one sender is not divided.
func TestHiddenClients(t *testing.T) {
	m, r, err := Fit(t.Context(), twoSenders(5400, true), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Clients) != 2 {
		t.Fatalf("%d clients, want 2: %+v", len(m.Clients), r.Hidden)
	}
	for i, c := range r.Clients {
		// 3,600 s × 2/s.
		if math.Abs(float64(c.Rows)-7200) > 7200*.01 {
			t.Errorf("client %d has %d requests, want 7,200", i, c.Rows)
		}
		long := 0
		for n := range uint64(1000) {
			if m.Clients[i].Lengths[0].Input.Sample(stat.Random(1, "hidden", n)) > 1000 {
				long++
			}
		}
		if long > 5 && long < 995 {
			t.Errorf("client %d has %d long prompts of 1000: two senders in one", i, long)
		}
	}
	if !strings.Contains(strings.Join(m.Findings, "\n"), "names no clients") {
		t.Errorf("not said: %q", m.Findings)
	}
	if m, r, err = Fit(t.Context(), twoSenders(5400, false), Options{}); err != nil || len(m.Clients) != 1 {
		t.Errorf("one sender became %d (%v): %+v", len(m.Clients), err, r.Hidden)
	}
	if m, _, err = Fit(t.Context(), twoSenders(5400, true), Options{By: ByNone}); err != nil || len(m.Clients) != 1 {
		t.Errorf("asked for one client, got %d (%v)", len(m.Clients), err)
	}
}

// TestMixtureByHand: two windows of 10 s, two cells. Requests: 3 and 1 in the
// first window, 0 and 4 in the second. One client: window rates 4 and 4, shares
// 3/8 and 5/8; its log-likelihood is Σ n·ln(rate·share/10 s) − 8 =
// 3 ln(.15) + 5 ln(.25) − 8 = −20.6228.
func TestMixtureByHand(t *testing.T) {
	at := []float64{1, 2, 3, 4, 11, 12, 13, 14}
	cell := []int32{0, 0, 0, 1, 1, 1, 1, 1}
	y := newTallied(at, cell, 2, 20, 10)
	one := y.one()
	if d := cmp.Diff([][]float64{{4, 4}}, one.rate); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([][]float64{{3. / 8, 5. / 8}}, one.share); d != "" {
		t.Error(d)
	}
	if want := 3*math.Log(.15) + 5*math.Log(.25) - 8; math.Abs(one.likelihood-want) > 1e-9 || one.parameters != 2+1 {
		t.Errorf("log-likelihood %.4f of %d parameters, want %.4f of 3", one.likelihood, one.parameters, want)
	}
	// Two clients can give each window its own shares: 3 ln(.3) + ln(.1) + 4 ln(.4) − 8.
	two := y.several(2, 1, math.Inf(1))
	if want := 3*math.Log(.3) + math.Log(.1) + 4*math.Log(.4) - 8; math.Abs(two.likelihood-want) > 0.5 {
		t.Errorf("two clients: log-likelihood %.4f, want %.4f", two.likelihood, want)
	}
	if rows := two.rows(); math.Abs(rows[0]+rows[1]-8) > 1e-9 || rows[0] < rows[1] {
		t.Errorf("requests %v, want 8 in all, the larger first", rows)
	}
}

// TestWorkByHand: windows with 10, 30 and 20 tokens of three requests have a
// mean of 20 and a variance of 100: 5 tokens, a quarter of a request of 20.
func TestWorkByHand(t *testing.T) {
	w := newWork(3, 1)
	w.add(0.5, 10, 0)
	w.add(1.5, 30, 0)
	w.add(2.5, 20, 0)
	w.add(9, 1000, 0) // beyond the whole windows, but a request all the same
	got := w.indices(1)
	if want := 5. / (1060. / 4); math.Abs(got[0]-want) > 1e-12 || !math.IsNaN(got[1]) {
		t.Errorf("%v, want %v and none", got, want)
	}
}
