package fit

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// By hand: windows of 4 s with 2 s and 1 s below. In the first window 6 arrivals
// of 8 come in its first half; in the second window it is 4 of 8; chance divides
// 8 with a variance of 2 in each half, so that D = (2²+2²+0+0)/(4·2) = 1.
func TestBurstLevel(t *testing.T) {
	at := []float64{0, 0, 0, 1, 1, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 7}
	b := &bursts{window: 4, fine: 1, factor: []float64{1, 1, 1, 1, 1, 1, 1, 1}}
	l := b.level(newCurve(at, 8, 1), 4, 2)
	if want := (BurstLevel{Window: 2, Dispersion: 1}); l != want {
		t.Errorf("%+v, expected %+v", l, want)
	}

	// Eight windows of 4 s, in each all 9 arrivals in the first half: each half is
	// 4.5 from the 4.5 expected, the variance by chance is 2.25, D = 20.25/2.25 = 9,
	// and √(1 − 1/9) = 0.942809 of it is kept.
	at = nil
	for w := range 8 {
		for range 9 {
			at = append(at, float64(4*w))
		}
	}
	b.factor = stepsOf(32)
	l = b.level(newCurve(at, 32, 1), 4, 2)
	if l.Window != 2 || math.Abs(l.Dispersion-9) > 1e-12 || math.Abs(l.Kept-0.942809) > 1e-6 {
		t.Errorf("%+v", l)
	}
	for i, want := range []float64{1.942809, 1.942809, 0.057191, 0.057191} {
		if math.Abs(b.factor[i]-want) > 1e-6 {
			t.Errorf("factor %d is %v, expected %v", i, b.factor[i], want)
		}
	}
	c := newCurve(at, 32, 4).with(at, &bursts{window: 4, fine: 1, factor: b.factor})
	if math.Abs(c.rate[0]-9.0/4*1.942809) > 1e-5 || math.Abs(c.upTo[4]-9) > 1e-9 || math.Abs(c.operational(32)-72) > 1e-9 {
		t.Errorf("rates %v up to %v", c.rate[:4], c.upTo[:5])
	}
}

func stepsOf(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// Poisson arrivals have no bursts to keep; a burst in them is kept whole, at its
// moment, and samples have the log's dispersion.
func TestBursts(t *testing.T) {
	at, err := moments(plainPoisson(6000, 1200), 1, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	if b := newBursts(at, 1200, 60, 1); b != nil {
		t.Errorf("chance is kept: %+v", b.levels)
	}
	var with []float64
	for i, x := range at {
		with = append(with, x)
		if next := min(i+1, len(at)-1); x <= 603 && at[next] > 603 {
			for k := range 300 {
				with = append(with, 603+float64(k)/300)
			}
		}
	}
	slices.Sort(with)
	b := newBursts(with, 1200, 60, 1)
	c := newCurve(with, 1200, 60).with(with, b)
	if n := c.operational(604) - c.operational(603); math.Abs(n-300) > 30 {
		t.Errorf("%.0f are expected in the second of the burst, which has 300", n)
	}
	if n := c.operational(660) - c.operational(600); math.Abs(n-newCurve(with, 1200, 60).counts[10]) > 1e-6 {
		t.Errorf("%v are expected in its minute", n)
	}
	f := arrivalFit{curve: c, process: traffic.Arrival{Process: traffic.Poisson}}
	if miss := newCheck(with, 1200, 1).miss(&f); miss > dispersionLimit {
		t.Errorf("the dispersion misses by %.2f", miss)
	}
	f.curve = newCurve(with, 1200, 60)
	if miss := newCheck(with, 1200, 1).miss(&f); miss < 0.5 {
		t.Errorf("without bursts the dispersion misses by %.2f alone", miss)
	}
}

func TestBurstWindows(t *testing.T) {
	for _, c := range []struct {
		bursts, window time.Duration
		want           string
	}{
		{time.Second, 0, ""}, {30 * time.Second, 0, ""}, {7 * time.Second, 70 * time.Second, ""},
		{500 * time.Millisecond, 0, "expected bursts of 1s or longer"}, {-time.Second, 0, "expected bursts of 1s or longer"},
		{time.Minute, 0, "shorter than the rates' window of 1m0s"}, {7 * time.Second, 0, "found 7s"},
	} {
		o := Options{Bursts: c.bursts, Window: c.window}
		err := o.checkBursts()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v in %v: %v", c.bursts, c.window, err)
		}
	}
	l := &log{options: Options{Bursts: time.Second}, span: 400_000}
	if err := l.checkBursts(); err == nil || !strings.Contains(err.Error(), "windows of 2 s or longer") {
		t.Error(err)
	}
	l.span = 200_000
	if err := l.checkBursts(); err != nil {
		t.Error(err)
	}
}

// A miss of the log's bursts names what may be tried, once; one within the spread of
// samples does not.
func TestMissedBurstsNameTheRemedy(t *testing.T) {
	missed := []Dispersion{{Scale: 1, Log: 10, Model: 12, Low: 9, High: 14}, {Scale: 10, Log: 40, Model: 5, Low: 4, High: 6}, {Scale: 60, Log: 90, Model: 5, Low: 4, High: 6}}
	for _, c := range []struct {
		o       Options
		clients int
		want    string
	}{
		{Options{}, 1, "; --bursts 1s keeps the log's own bursts"},
		{Options{}, 2, "; --bursts 1s keeps the log's own bursts; --by none fits all clients as one, where they burst together"},
		{Options{Bursts: MinBursts, By: ByNone}, 2, ""},
	} {
		l := newLog(c.o)
		l.span = 1200
		l.findAll(&Report{Seeds: 20, Totals: &Totals{}, Dispersion: missed, Clients: make([]ClientReport, c.clients)})
		var got []string
		for _, f := range l.findings {
			if strings.HasPrefix(f, "burstiness") {
				got = append(got, f)
			}
		}
		want := []string{"burstiness: at 1 s the model's index of dispersion is 12 against the log's 10 (+20 %, within the spread of the samples)",
			"burstiness: at 10 s the model's index of dispersion is 5 against the log's 40 (-88 %)" + c.want,
			"burstiness: at 60 s the model's index of dispersion is 5 against the log's 90 (-94 %)"}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestClassesShareBursts: what comes together does not ask which class it is of.
// Beside two senders known by their lengths alone 60 requests of both come in one
// second of each 15 minutes.
func TestClassesShareBursts(t *testing.T) {
	l := twoSenders(5400, true)
	for s := int64(450); s < 5400; s += 900 {
		for i := range int64(60) {
			row := trace.Row{Format: "x", Timed: true, At: s*1e9 + i*1e6, Input: 100, Output: 20}
			if i%2 == 0 {
				row.Input, row.Output = 2200, 350
			}
			l.rows = append(l.rows, row)
		}
	}
	slices.SortStableFunc(l.rows, func(a, b trace.Row) int { return cmp.Compare(a.At, b.At) })
	m, r, err := Fit(t.Context(), l, Options{Bursts: time.Second})
	if err != nil || len(m.Clients) < 2 {
		t.Fatalf("%d clients, %v", len(m.Clients), err)
	}
	peak, before := 0.0, 0.0
	for i, c := range r.Clients {
		if len(c.Bursts) == 0 || !slices.Equal(c.Bursts, r.Clients[0].Bursts) {
			t.Errorf("client %d keeps %+v, the first %+v", i, c.Bursts, r.Clients[0].Bursts)
		}
		rate := m.Clients[i].Rate.Rate
		peak, before = peak+max(rate[449], rate[450]), before+rate[440]
	}
	if peak < 4*before || before > 8 {
		t.Errorf("%.2f/s in the second of the burst, which has 64, and %.2f before it, where there are about 4", peak, before)
	}
}

// By hand: 2/s for 10 s, then 5/s; from 5 to 15 s it is (2·5 + 5·5)/10.
func TestMeanRate(t *testing.T) {
	c := traffic.Curve{Window: 10 * time.Second, Rate: []float64{2, 5}}
	for _, k := range []struct{ from, to, want float64 }{{0, 10, 2}, {5, 15, 3.5}, {10, 20, 5}, {0, 20, 3.5}, {15, 30, 5}} {
		if got := meanRate(&c, k.from, k.to); math.Abs(got-k.want) > 1e-12 {
			t.Errorf("from %v to %v s: %v, expected %v", k.from, k.to, got, k.want)
		}
	}
}
