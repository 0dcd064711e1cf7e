package fit

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// rowsAt are requests at moments in ns, with lengths that differ.
func rowsAt(at ...int64) *listed {
	l := &listed{}
	for i, t := range at {
		l.rows = append(l.rows, trace.Row{Format: "test", Timed: true, Absolute: true, At: t, Input: int64(100 + i%37), Output: int64(10 + i%7)})
	}
	return l
}

func fitted(t *testing.T, rows Rows) (*traffic.Model, *Report) {
	t.Helper()
	m, r, err := Fit(t.Context(), rows, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

// One moment, or two, tell no arrivals: the model says that its are made up, and
// what would be of them is absent. Lengths are learnt.
func TestNoArrivalsInOneMoment(t *testing.T) {
	same := make([]int64, 3000)
	two := make([]int64, 3000)
	for i := range two {
		two[i] = int64(i/2000) * int64(time.Millisecond)
	}
	for _, c := range []struct {
		name, says string
		at         []int64
	}{{"one", "all 3,000 rows have the very same moment", same}, {"two", "the 3,000 rows have two moments in all, 1 ms apart", two}} {
		m, r := fitted(t, rowsAt(c.at...))
		told := strings.Join(r.Findings, "\n")
		if !strings.Contains(told, c.says+": nothing is known of arrivals") || strings.Contains(told, "lengths") {
			t.Errorf("%s: %s", c.name, told)
		}
		if !r.MadeUp || r.Gaps != nil || r.Dispersion != nil || r.Rate.Log != nil || r.Drift.Parts != nil || r.Season != nil {
			t.Errorf("%s: %+v", c.name, r)
		}
		k := m.Clients[0]
		if k.Arrival.Process != traffic.Poisson || k.Rate.Rate[0] != 1 || k.Rate.Window != 0 || m.Duration != 3000*time.Second {
			t.Errorf("%s: %+v over %v", c.name, k.Rate, m.Duration)
		}
		if mean := k.Lengths[0].Input.Mean(); mean < 110 || mean > 126 {
			t.Errorf("%s: mean input %v, want about 118", c.name, mean)
		}
		if text := r.Text(); strings.Contains(text, "requests over") {
			t.Error(text)
		}
	}
}

// Two turns in one moment wait no time that the log tells.
func TestNoThinkTimeInOneMoment(t *testing.T) {
	l := rowsAt(make([]int64, 60)...)
	for i := range l.rows {
		l.rows[i].Session = string(rune('a' + i/3))
		l.rows[i].Input += int64(i%3) * 1000
	}
	m, r := fitted(t, l)
	if r.Sessions == nil || r.Sessions.ThinkP50 != nil || m.Clients[0].Sessions.Think != nil {
		t.Errorf("%+v, %+v", r.Sessions, m.Clients[0].Sessions)
	}
}

// A year without a request is said, with where it lies; a weekend is not.
func TestPauses(t *testing.T) {
	day := int64(24 * time.Hour)
	begin := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
	var at []int64
	for _, year := range []int64{0, 365, 730} {
		for i := range int64(100) {
			at = append(at, begin.UnixNano()+year*day+i*int64(time.Second))
		}
	}
	_, r := fitted(t, rowsAt(at...))
	want := []Pause{{99, 365 * 86400, 100}, {365*86400 + 99, 730 * 86400, 200}}
	if d := cmp.Diff(want, r.Pauses); d != "" {
		t.Error(d)
	}
	told := strings.Join(r.Findings, "\n")
	for _, says := range []string{"no request for 365 days, from 2023-01-01 00:01:39 to 2024-01-01 00:00:00 UTC, with 100 of its 300 requests before",
		"from 2024-01-01 00:01:39 to 2024-12-31 00:00:00 UTC, with 200 of"} {
		if !strings.Contains(told, says) {
			t.Errorf("no %q in\n%s", says, told)
		}
	}
	if changes := strings.Count(told, "against all before"); changes > shownChanges+1 {
		t.Errorf("%d sentences on drift", changes)
	}
	for _, none := range [][]int64{nil, {5}, {0, day}, {0, day, 2 * day, 4 * day, 9 * day}, {0, int64(time.Hour)}} {
		if got := Pauses(none); (len(got) > 0) != (len(none) == 5) {
			t.Errorf("%v: %v", none, got)
		}
	}
	if got := (Pause{10, 10 + 2*86400, 3}).Words(nil, 5); !strings.Contains(got, "for 48 h, from 10 s to 48 h after the first") && !strings.Contains(got, "2 days") {
		t.Error(got)
	}
}

// What comes within less than the shortest time of a model is said.
func TestShortLog(t *testing.T) {
	var at []int64
	for i := range int64(40) {
		at = append(at, i*i*1000)
	}
	_, r := fitted(t, rowsAt(at...))
	if told := strings.Join(r.Findings, "\n"); !strings.Contains(told, "came within 1.52 ms, and the model spreads them over 1 s") {
		t.Error(told)
	}
}

// The last window of the rate has the time that the log covers, and is left
// out below a tenth.
func TestLastWindow(t *testing.T) {
	for _, c := range []struct {
		span, window float64
		n            int
		to           float64
	}{{150, 60, 3, 150}, {126, 60, 3, 126}, {125, 60, 2, 120}, {120, 60, 2, 120}, {5, 60, 1, 5}, {1, 3600, 1, 1}} {
		if n, to := covered(c.span, c.window); n != c.n || to != c.to {
			t.Errorf("%v s in windows of %v s: %d up to %v, want %d up to %v", c.span, c.window, n, to, c.n, c.to)
		}
	}
	var at []int64
	for i := range int64(1251) {
		at = append(at, i*int64(100*time.Millisecond))
	}
	_, r := fitted(t, rowsAt(at...))
	if len(r.Rate.Log) != 2 || len(r.Rate.Model) != 2 || len(r.Rate.CV) != 2 || len(r.Rate.Fitted) != 2 || r.Rate.To != 120 {
		t.Errorf("%+v", r.Rate)
	}
}
