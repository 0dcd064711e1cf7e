package fit

import (
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// By hand, as in docs/metrics.md: of client a 2 of 4 requests tell 20 tokens, of b
// all 4 tell 400, of c none of 2. Compared are 40 + 400 of 8 requests with what the
// model has of a and b, 550, whatever it makes up of c: +25 %.
func TestTotalsAreExtrapolatedByClient(t *testing.T) {
	l := newLog(Options{})
	l.clients = make([]client, 3)
	l.client = []int32{0, 0, 0, 0, 1, 1, 1, 1, 2, 2}
	l.whole = make([]int32, 10)
	l.output = []int32{8, 0, 12, 0, 100, 100, 100, 100, 0, 0}
	sum, told := l.sums()
	var k Total
	k.logged(2, sum, told)
	k.sampled(2, [][]sums{{{0, 0, 50}, {0, 0, 500}, {0, 0, 7000}}}, told)
	if k.Known != 6 || *k.Log != 420 || *k.LogCompared != 440 || k.ComparedRequests != 8 {
		t.Errorf("%+v: %v, %v compared", k, *k.Log, *k.LogCompared)
	}
	if k.Model != 7550 || k.ModelCompared != 550 || *k.Off != .25 || k.Low != 550 {
		t.Errorf("%+v: off by %v", k, *k.Off)
	}
	if got, want := k.extrapolated(10), "6 requests of the log tell theirs, 420 in all; what is compared is of the 8 requests of clients that tell some, the others count as their client's mean"; got != want {
		t.Errorf("%q", got)
	}
}

// By the second both are ÷ the span; of made-up arrivals there is no such rate.
func TestTotalsPerSecond(t *testing.T) {
	tokens := 1000.0
	k := Total{Model: 1562.5, Log: &tokens}
	k.perSecond(&log{span: 50})
	if *k.LogPerSecond != 20 || *k.ModelPerSecond != 31.25 {
		t.Errorf("%v and %v a second", *k.LogPerSecond, *k.ModelPerSecond)
	}
	k = Total{Model: 1562.5}
	k.perSecond(&log{madeUp: true})
	if k.sampled(1, [][]sums{{{1, 5, 5}}}, make([]sums, 1)); k.Off != nil || k.ModelPerSecond != nil || k.Model != 5 || k.High != 5 {
		t.Errorf("%+v", k)
	}
}

// Figures of three samples are the middle one, the least and the greatest, of all
// clients and of those that are compared apart. By hand: client a tells 100 tokens,
// b none, and samples have 30, 10 and 20 of a.
func TestTotalsOfSamples(t *testing.T) {
	told := []sums{{2, 0, 2}, {2, 0, 0}}
	var k Total
	k.logged(2, []sums{{2, 0, 100}, {2, 0, 0}}, told)
	k.sampled(2, [][]sums{{{0, 0, 30}, {0, 0, 1}}, {{0, 0, 10}, {0, 0, 2}}, {{0, 0, 20}, {0, 0, 900}}}, told)
	if k.Model != 31 || k.ModelCompared != 20 || k.Low != 10 || k.High != 30 || *k.Off != -.8 {
		t.Errorf("%+v: off by %v", k, *k.Off)
	}
	// What no request tells is no total of 0.
	k = Total{}
	if k.logged(1, []sums{{2, 0, 100}}, told[:1]); k.Log != nil || k.LogCompared != nil || k.Known != 0 {
		t.Errorf("%+v", k)
	}
}

// Samples have at most 200,000 requests in all, are nine at most and one at least.
func TestSeedsOfTotals(t *testing.T) {
	rows := []trace.Row{}
	for i := range 40 {
		rows = append(rows, trace.Row{Format: "test", Timed: true, At: int64(i*i) * 1e9, Input: 5, Output: 5})
	}
	m, r, err := Fit(t.Context(), &listed{rows}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Totals.Seeds != 9 {
		t.Errorf("%d samples of 40 requests", r.Totals.Seeds)
	}
	for n, seeds := range map[int]int{22_222: 9, 22_223: 8, 100_000: 2, 100_001: 1, 300_000: 1} {
		l := newLog(Options{})
		l.at, l.madeUp = make([]int64, n), true
		l.clients = []client{{place: 1}}
		l.client, l.whole, l.output = make([]int32, n), make([]int32, n), make([]int32, n)
		got, err := l.totals(m)
		if err != nil || got.Seeds != seeds {
			t.Errorf("%d requests: %+v, want %d samples; %v", n, got, seeds, err)
		}
	}
}

// Findings of totals, beyond a tenth alone, by hand: none is extrapolated where
// all requests tell, one sample has no spread, and of five or more the log's may
// lie within it, ends included.
func TestFindingsOfTotals(t *testing.T) {
	const far = "totals: a sample of the model has 20 % "
	for _, c := range []struct {
		log, compared, model, low, high float64
		known                           int64
		seeds                           int
		want                            string
	}{
		{1000, 1000, 1099, 900, 1200, 100, 3, ""},
		{1000, 1000, 1200, 1100, 1300, 100, 1, far + "more output tokens than the log (1,200 against 1,000)"},
		{1000, 1000, 800, 700, 900, 100, 3, far + "fewer output tokens than the log (800 against 1,000, samples from 700 to 900)"},
		{1000, 1000, 800, 700, 1000, 100, 5, far + "fewer output tokens than the log (800 against 1,000, samples from 700 to 1,000, within the spread of the samples)"},
		{1000, 1000, 800, 700, 1000, 100, 4, far + "fewer output tokens than the log (800 against 1,000, samples from 700 to 1,000)"},
		{1000, 1000, 1200, 1000, 1300, 100, 5, far + "more output tokens than the log (1,200 against 1,000, samples from 1,000 to 1,300, within the spread of the samples)"},
		{1000, 1000, 1200, 1001, 1300, 100, 5, far + "more output tokens than the log (1,200 against 1,000, samples from 1,001 to 1,300)"},
		{1000, 1000, 800, 700, 999, 100, 5, far + "fewer output tokens than the log (800 against 1,000, samples from 700 to 999)"},
		{500, 1000, 800, 700, 900, 50, 5, far + "fewer output tokens than the log (800 against 1,000 of 100 requests, extrapolated from the 50 that tell them, samples from 700 to 900)"},
		{750, 1000, 800, 700, 900, 75, 5, far + "fewer output tokens than the log (800 against 1,000 of 100 requests, extrapolated from the 75 that tell them, samples from 700 to 900)"},
	} {
		l := newLog(Options{})
		l.at = make([]int64, 100)
		off := c.model/c.compared - 1
		l.findTotals(&Totals{Seeds: c.seeds, Output: Total{Known: c.known, Log: &c.log, LogCompared: &c.compared, ComparedRequests: 100, Model: 5, ModelCompared: c.model, Low: c.low, High: c.high, Off: &off}})
		if got := strings.Join(l.findings, "\n"); got != c.want {
			t.Errorf("%+v:\n%s\n%s", c, got, c.want)
		}
	}
}

// By hand, as it is printed: two of three requests tell 20 tokens, so that 30 are
// compared with the model's 33; prompts are not told, and the model's are made up.
func TestTotalsAreShown(t *testing.T) {
	log, compared, second, off, three, none := 20.0, 30.0, 1234.5, .1, 3.0, 0.0
	r := &Report{Totals: &Totals{Seeds: 1,
		Requests: Total{Known: 3, Log: &three, LogCompared: &three, ComparedRequests: 3, Model: 3, ModelCompared: 3, Off: &none},
		Input:    Total{Model: 77, ModelCompared: 5},
		Output:   Total{Known: 2, Log: &log, LogCompared: &compared, ComparedRequests: 3, Model: 99, ModelCompared: 33, LogPerSecond: &second, Off: &off}}}
	text := func() string {
		var b strings.Builder
		w := &writer{tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)}
		w.totals(r)
		_ = w.Flush()
		return strings.Join(strings.Fields(b.String()), " ")
	}
	const want = "totals of the log, and one sample of the model log model log per s model per s requests 3 3 0% – – input tokens not told 77 made up – – output tokens ~30 33 +10% 1,235 – " +
		"output tokens: 2 requests of the log tell theirs, 20 in all; the others count as their client's mean"
	if got := text(); got != want {
		t.Errorf("%s\n%s", got, want)
	}
	r.Totals.Seeds, r.Totals.Output.Known = 2, 3
	if got := text(); !strings.Contains(got, "and the median of 2 samples of the model") || !strings.HasSuffix(got, "output tokens 30 33 +10% 1,235 –") {
		t.Error(got)
	}
}
