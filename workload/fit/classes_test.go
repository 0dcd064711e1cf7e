package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// By hand: eight windows of 4 s with eight requests each, four in either half; those
// of the class are the four of the first half. A half has 2 of the class by its
// share and 4 or none in truth. Drawing 4 of 8 of which 4 are of the class has a
// variance of 4 · ½ · ½ · 4/7 = 4/7, so that D = 4/(4/7) = 7 and √(6/7) = 0.925820 of
// the deviation is kept, with (7 − 1)/√(2/16) = 16.97 standard errors.
func TestMixLevel(t *testing.T) {
	var at, mine []float64
	for w := range 8 {
		for i := range 4 {
			at = append(at, float64(4*w)+float64(i)/4, float64(4*w+2)+float64(i)/4)
			mine = append(mine, float64(4*w)+float64(i)/4)
		}
	}
	slices.Sort(at)
	all, own := newCurve(at, 32, 1), newCurve(mine, 32, 1)
	l, errors := mixScatter(all, own, 4, 2).level(2, 0)
	// p = 1/2 leaves no excess: the variance of the 16 squares is 16 · 2 · (4/7)² and
	// their sum by chance 16 · 4/7, so that one standard error is √(2/16).
	if l.Window != 2 || math.Abs(l.Dispersion-7) > 1e-12 || math.Abs(l.Kept-0.925820) > 1e-6 || math.Abs(errors-16.97) > 0.01 {
		t.Errorf("%+v, %v errors", l, errors)
	}
	share := slices.Repeat([]float64{0.4}, 32)
	addShares(share, all, own, 4, 2, 0.5)
	for i, want := range []float64{0.65, 0.65, 0.15, 0.15} { // 0.4 ± 0.5 · 1/2
		if math.Abs(share[i]-want) > 1e-12 {
			t.Errorf("share %d is %v, expected %v", i, share[i], want)
		}
	}
	// A window of which all are of the class says nothing of the mix.
	if l, errors = mixScatter(own, own, 4, 2).level(2, 0); l.Kept != 0 || l.Dispersion != 1 || errors != 0 {
		t.Errorf("%+v of requests that are all of the class", l)
	}
}

func TestLadder(t *testing.T) {
	for window, want := range map[int][]int{60: {60, 30, 15, 5, 1}, 7: {7, 1}, 1: {1}} {
		if d := cmp.Diff(want, ladder(window)); d != "" {
			t.Errorf("%d: %s", window, d)
		}
	}
}

// TestBurstsOfShortLogs: a log shorter than the window of its rates goes down the
// same steps. By hand: 59 s of which the first ten have three arrivals a second and
// the others one.
func TestBurstsOfShortLogs(t *testing.T) {
	var at []float64
	for s := range 59 {
		at = append(at, float64(s))
		if s < 10 {
			at = append(at, float64(s)+.1, float64(s)+.2)
		}
	}
	b := &bursts{window: 60, fine: 1, factor: slices.Repeat([]float64{1}, 59)}
	l := b.level(newCurve(at, 59, 1), 60, 30)
	// Expected 79 · 30/59 = 40.169 and 38.831; 50 and 29 came: squares of 96.64 each,
	// and a variance of 79 · 30/59 · 29/59 = 19.744 each.
	if math.Abs(l.Dispersion-4.8948) > 1e-3 || l.Window != 30 {
		t.Errorf("%+v", l)
	}
}

// By hand: eight windows of 4 s with 40 short prompts of 20 tokens in the second
// half and 40 of 100 in the first, and answers of 2. Windows of 4 s all have the same
// share. In one of 2 s 20 long ones are expected and 40 or none come, 16 times 400
// squares; chance alone has 16 · 40 · ¼ · 40/79 = 81.01. A long one has (100 − 20)/60 of
// the mean input more, and holds (100 + 1) · 2 tokens instead of (20 + 1) · 2, 160/122 of
// the mean: (6400 − 81.01) · ((4/3)² + (160/122)²) = 22,102.2.
func TestWorthOfACut(t *testing.T) {
	var at []float64
	var input, output []int32
	for w := range 8 {
		for half, tokens := range []int32{100, 20} {
			for i := range 40 {
				at = append(at, float64(4*w+2*half)+float64(i)/20)
				input, output = append(input, tokens), append(output, 2)
			}
		}
	}
	y := newTree(at, input, output, 32, 4, 2)
	if d := cmp.Diff([]int{2, 1}, y.ladder); d != "" {
		t.Fatal(d)
	}
	all := y.divide()
	if len(y.classes) != 2 || y.classes[0].name() != "input-1-20-output-1-2" || y.classes[1].name() != "input-21-100-output-1-2" {
		t.Fatalf("%d classes", len(y.classes))
	}
	if len(y.classes[0].rows) != 320 || len(y.classes[1].rows) != 320 || len(all) != 1 || all[0].Kept != 0 {
		t.Errorf("%d and %d requests, %+v of all", len(y.classes[0].rows), len(y.classes[1].rows), all)
	}
	c := class{rows: allRows(len(at)), curve: newCurve(at, 32, 2)}
	y.look(&c)
	if !c.cut.input || c.cut.at != 20 || math.Abs(c.cut.worth-22102.2) > 0.5 {
		t.Errorf("cut at %d (input: %v), worth %v", c.cut.at, c.cut.input, c.cut.worth)
	}
	// √(1 − 81.01/6400) = 0.993652 of the deviation of ½ is kept.
	for i, want := range []float64{0.996826, 0.003174} {
		if got := y.classes[1].factor[i] / 20; math.Abs(got-want) > 1e-6 { // of 20/s
			t.Errorf("share of the long ones in window %d: %v, expected %v", i, got, want)
		}
	}
	// A hundred of each are too few for a class, of short ones as of long ones.
	var short, long []int32
	for i, tokens := range input {
		if tokens == 20 && len(short) < classRows-1 {
			short = append(short, int32(i))
		} else if tokens == 100 && len(long) < classRows-1 {
			long = append(long, int32(i))
		}
	}
	for _, few := range [][]int32{short, long} {
		of := "short"
		var rows []int32
		for i := range input {
			if (input[i] == 20) == (input[few[0]] == 20) && !slices.Contains(few, int32(i)) {
				continue
			}
			rows = append(rows, int32(i))
		}
		if input[few[0]] == 100 {
			of = "long"
		}
		if y := newTree(y.moments(rows), taken(input, rows), taken(output, rows), 32, 4, 2); len(y.divide()) == 0 || len(y.classes) != 1 {
			t.Errorf("%d classes of %d %s requests among %d", len(y.classes), len(few), of, len(rows))
		}
	}
	few := newTree(at[:200], input[:200], output[:200], 10, 4, 2)
	if few.divide(); len(few.classes) != 1 {
		t.Errorf("%d classes of 200 requests", len(few.classes))
	}
}

// longTogether is a log at an even rate whose long prompts come in half of all
// half minutes alone, where they are every second request; or anywhere.
func longTogether(seconds int, together bool) *listed {
	l := &listed{}
	r := stat.Random(5, "long together", 0)
	for s := range seconds {
		for range 4 {
			row := trace.Row{Format: "x", Timed: true, At: int64((float64(s) + r.Float64()) * 1e9), Input: 100 + r.Int64N(50), Output: 10 + r.Int64N(10)}
			share := 0.25
			if together {
				share = 0.5 * float64(stat.Random(6, "busy", uint64(s/30)).IntN(2))
			}
			if r.Float64() < share {
				row.Input = 4000 + r.Int64N(500)
			}
			l.rows = append(l.rows, row)
		}
	}
	return l
}

// TestMixIsKept: where long prompts come together though requests do not, samples
// have the log's dispersion of tokens, each window its own; without bursts they
// have not.
func TestMixIsKept(t *testing.T) {
	m, r, err := Fit(t.Context(), longTogether(3600, true), Options{Bursts: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Clients) < 2 || !strings.Contains(strings.Join(m.Findings, "\n"), "of its mix of lengths") {
		t.Fatalf("%d clients: %q", len(m.Clients), m.Findings)
	}
	for _, d := range r.Work {
		if d.Scale != 10 && d.Scale != 60 {
			continue
		}
		if e := d.Input.Model/d.Input.Log - 1; d.Input.Log < 3 || math.Abs(e) > dispersionLimit {
			t.Errorf("at %v s the input tokens' dispersion is %.2f, the log's %.2f", d.Scale, d.Input.Model, d.Input.Log)
		}
	}
	_, r, err = Fit(t.Context(), longTogether(3600, true), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Work {
		if d.Scale == 10 && d.Input.Model > 0.7*d.Input.Log {
			t.Errorf("without bursts the dispersion at 10 s is %.2f, the log's %.2f: the test tells nothing", d.Input.Model, d.Input.Log)
		}
	}
}

// TestNoMixByChance: a log whose lengths do not come together is not divided.
func TestNoMixByChance(t *testing.T) {
	m, _, err := Fit(t.Context(), longTogether(3600, false), Options{Bursts: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Clients) != 1 {
		t.Errorf("%d clients", len(m.Clients))
	}
}

// TestClassesComeToAll: in each window the rates of classes are that of all.
func TestClassesComeToAll(t *testing.T) {
	l := newLog(Options{Bursts: time.Second})
	m, _, err := Fit(t.Context(), longTogether(3600, true), l.options)
	if err != nil {
		t.Fatal(err)
	}
	n := len(m.Clients[0].Rate.Rate)
	for i := range n {
		sum := 0.0
		for _, c := range m.Clients {
			sum += c.Rate.Rate[i]
		}
		if math.Abs(sum-4) > 0.2 {
			t.Errorf("window %d of %d: classes come to %.3f/s, all to 4", i, n, sum)
		}
	}
}

// TestScatter by hand: a deviation of 3 whose variance by chance is 2, twice, of
// requests that count with a chance of 0.1. D = 18/4 = 4.5; squares vary by
// 2 · 2² + (1 − 6 · 0.1 · 0.9) · 2 = 8.92 each, and as one of two is given the
// standard error is √(2 · 8.92 · 2/1)/4 = 1.4933: 3.5/1.4933 = 2.344.
func TestScatter(t *testing.T) {
	var s scatter
	s.add(3, 2, 0.1)
	s.add(-3, 2, 0.1)
	l, errors := s.level(5, 1)
	if math.Abs(errors-2.344) > 0.001 || l.Window != 5 || l.Dispersion != 4.5 || math.Abs(l.Kept-0.881917) > 1e-6 {
		t.Errorf("%+v, %v errors", l, errors)
	}
	if l, errors = s.level(5, 2); l.Kept != 0 || errors != 0 {
		t.Errorf("%+v, %v errors of what is given", l, errors)
	}
}

// TestBurstsOfWholeLogs: a log that ends within a window has that window too.
func TestBurstsOfWholeLogs(t *testing.T) {
	at := []float64{0, 1, 2, 3, 4.2}
	c := newCurve(at, 4.4, 4.4).with(at, &bursts{window: 4.4, fine: 1, factor: []float64{1, 1, 1, 1, 2}})
	// 5 in (4 · 1 + 0.4 · 2) windows of factor 1: 5/4.8 each.
	for i, want := range []float64{5 / 4.8, 5 / 4.8, 5 / 4.8, 5 / 4.8, 10 / 4.8} {
		if math.Abs(c.rate[i]-want) > 1e-9 {
			t.Errorf("rate %d is %v, expected %v", i, c.rate[i], want)
		}
	}
}

// TestClassesOfSessions: later turns do not shift which requests are of a class.
func TestClassesOfSessions(t *testing.T) {
	l := longTogether(3600, true)
	var rows []trace.Row
	for i, r := range l.rows {
		rows = append(rows, r)
		if i%5 == 0 {
			rows[len(rows)-1].Session = "s" + string(rune('a'+i%7)) + r.Format + time.Duration(r.At).String()
			later := rows[len(rows)-1]
			later.At += 1000
			later.Input += 3000
			rows = append(rows, later)
		}
	}
	slices.SortStableFunc(rows, func(a, b trace.Row) int { return int(min(max(a.At-b.At, -1), 1)) })
	m, _, err := Fit(t.Context(), &listed{rows: rows}, Options{Bursts: time.Second, Turns: trace.CumulativeTurns})
	if err != nil || len(m.Clients) < 2 {
		t.Fatalf("%d clients, %v", len(m.Clients), err)
	}
	for _, c := range m.Clients {
		var least, most float64
		if _, err := fmt.Sscanf(c.Name, "input-%f-%f-", &least, &most); err != nil {
			t.Fatal(err)
		}
		for i := range uint64(300) {
			if x := c.Lengths[0].Input.Sample(stat.Random(1, "class", i)); x < least-1 || x > most+1 {
				t.Fatalf("%s has a prompt of %v tokens", c.Name, x)
			}
		}
	}
}

// TestCoarsened: where nothing is kept below 15 s, windows are of 15 s.
func TestCoarsened(t *testing.T) {
	b := &bursts{window: 30, fine: 5, factor: []float64{2, 2, 2, 1, 1, 1, 3, 3}}
	b.coarsen(30, []BurstLevel{{15, 4, 0.5}, {5, 1, 0}})
	if d := cmp.Diff([]float64{2, 1, 3}, b.factor); d != "" || b.fine != 15 {
		t.Errorf("windows of %v s: %s", b.fine, d)
	}
	b.coarsen(30, []BurstLevel{{15, 1, 0}, {5, 1, 0}}) // only windows of the rates differ
	if d := cmp.Diff([]float64{2, 3}, b.factor); d != "" || b.fine != 30 {
		t.Errorf("windows of %v s: %s", b.fine, d)
	}
}
