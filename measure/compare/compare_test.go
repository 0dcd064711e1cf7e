package compare_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/compare"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/stat"
)

const scenario = `{"name": "x", "load": {"rate": 8, "seed": 1, "stages": [1, 2]}, "workload": {"input-tokens": "512"}, "target": {"url": ["http://a"]}, "slo": ["error_rate<1%"]}`

// run is a run with one TTFT p50 and one error rate.
func run(name string, seed uint64, ttft, errors float64) compare.Run {
	return compare.Run{Name: name, Window: compare.All, API: "openai-chat", Model: "m",
		Manifest: &record.Manifest{Seed: seed, Scenario: json.RawMessage(scenario), Versions: map[string]string{"tokenizer": "t"},
			Targets: []record.TargetFacts{{Name: "http://" + name}}},
		Metrics: map[string]measure.Metric{
			"ttft":       {Unit: "ms", Count: 10, P50: measure.Some(ttft), P99: measure.Some(2 * ttft)},
			"error_rate": {Unit: "%", Value: measure.Some(errors), Rate: true},
		}}
}

func side(name string, ttfts ...float64) compare.Side {
	s := compare.Side{Name: name}
	for i, x := range ttfts {
		s.Runs = append(s.Runs, run(fmt.Sprintf("%s%d", name, i), uint64(i), x, 0))
		s.Runs[i].Manifest.Targets = []record.TargetFacts{{Name: "http://" + name}}
	}
	return s
}

var p50 = compare.Figure{Metric: "ttft", Stat: "p50"}

func one(t testing.TB, o compare.Options, a, b compare.Side) (*compare.Comparison, *compare.Figured) {
	t.Helper()
	if o.Primary == nil {
		o.Primary = []compare.Figure{p50}
	}
	c, err := compare.Compare([]compare.Side{a, b}, o)
	if err != nil {
		t.Fatal(err)
	}
	d := c.Contrasts[0].Find(p50)
	if d == nil {
		t.Fatal("no ttft.p50")
	}
	return c, d
}

func near(t *testing.T, what string, got measure.Value, want float64) {
	t.Helper()
	if x, ok := got.Get(); !ok || math.Abs(x-want) > 1e-3*math.Max(1, math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Log ratios of 0.10, 0.12 and 0.08: mean 0.1, sd 0.02, standard error
// 0.011547; t with 2 degrees of freedom is 4.30265 at 97.5 %.
func TestPairsByHand(t *testing.T) {
	b := side("b", 100*math.Exp(0.10), 200*math.Exp(0.12), 400*math.Exp(0.08))
	c, d := one(t, compare.Options{}, side("a", 100, 200, 400), b)
	if m := c.Contrasts[0].Method; m != compare.Pairs || c.Contrasts[0].Pairs != 3 {
		t.Fatalf("method %s of %d", m, c.Contrasts[0].Pairs)
	}
	near(t, "baseline", d.Baseline, 200)
	near(t, "change", d.Change, 10.517)
	near(t, "low", d.Low, 100*math.Expm1(0.1-4.30265*0.011547))
	near(t, "high", d.High, 100*math.Expm1(0.1+4.30265*0.011547))
	near(t, "effect", d.Effect, 5)
	near(t, "p", d.P, 2*0.006557) // t = 8.66 with 2 degrees of freedom
	near(t, "detectable", d.Detectable, 100*math.Expm1((4.30265+1.88562)*0.011547))
	if d.Word != compare.Worse || c.Contrasts[0].Word != compare.Worse {
		t.Errorf("the words are %q and %q", d.Word, c.Contrasts[0].Word)
	}
	// The difference in ms: 10.517, 25.499, 33.315.
	change, low, _, ok := d.Interval(0.95, false)
	if !ok || math.Abs(change-23.110) > 1e-3 || math.Abs(low-(23.110-4.30265*11.586/math.Sqrt(3))) > 0.01 {
		t.Errorf("in ms %v from %v", change, low)
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		name string
		b    []float64
		want compare.Word
	}{
		{"equal to the bit", []float64{100, 100, 100, 100}, compare.Same},
		{"within the margin", []float64{101, 100, 99.5, 100.5}, compare.Same},
		{"worse, but by less than the margin", []float64{103, 103.1, 102.9, 103}, compare.Same},
		{"slower", []float64{110, 111, 109, 110}, compare.Worse},
		{"faster", []float64{90, 91, 89, 90}, compare.Better},
		{"a wide spread", []float64{80, 120, 95, 110}, compare.CannotTell},
		{"always by the same factor", []float64{110, 110, 110, 110}, compare.Worse},
	} {
		_, d := one(t, compare.Options{}, side("a", 100, 100, 100, 100), side("b", c.b...))
		if d.Word != c.want {
			t.Errorf("%s: %q (%s), want %q", c.name, d.Word, d.Reason, c.want)
		}
	}
}

// A spread that hides 5 % says how many pairs would show it: with so many, the
// smallest change that is seen is 5 % or a little less.
func TestCannotTellSaysWhatItTakes(t *testing.T) {
	_, d := one(t, compare.Options{}, side("a", 100, 100, 100, 100), side("b", 104, 96, 108, 100))
	if d.Word != compare.CannotTell || d.NeededPairs == nil {
		t.Fatalf("%q, needed %v", d.Word, d.NeededPairs)
	}
	x, _ := d.Effect.Get()
	change, _ := d.Change.Get()
	sd := math.Log1p(change/100) / x
	sees := func(n int) float64 {
		df := float64(n - 1)
		return (stat.StudentQuantile(df, 0.975) + stat.StudentQuantile(df, 0.9)) * sd / math.Sqrt(float64(n))
	}
	n := *d.NeededPairs
	if sees(n) > math.Log(1.05) || sees(n-1) <= math.Log(1.05) {
		t.Errorf("%d pairs see %v, %d see %v", n, sees(n), n-1, sees(n-1))
	}
	if !strings.Contains(d.Reason, fmt.Sprintf("5%% takes about %d pairs", n)) {
		t.Error(d.Reason)
	}
}

// Of runs with other seeds the spreads of both sides count: Welch's t.
func TestRunsThatAreNoPairs(t *testing.T) {
	a, b := side("a", 100, 110, 90), side("b", 120, 130, 110, 125)
	for i := range b.Runs {
		b.Runs[i].Manifest.Seed = uint64(100 + i)
	}
	_, err := compare.Compare([]compare.Side{a, b}, compare.Options{})
	var unlike *compare.NotAlike
	if !errors.As(err, &unlike) || !strings.Contains(err.Error(), "seed: 0 1 2 in a, 100 101 102 103 in b") {
		t.Fatalf("other seeds: %v", err)
	}
	c, d := one(t, compare.Options{Anyway: true}, a, b)
	if c.Contrasts[0].Method != compare.Runs || len(c.Unlike) != 1 {
		t.Errorf("method %s, unlike %q", c.Contrasts[0].Method, c.Unlike)
	}
	// Logs: a has mean 4.601820 and sd 0.100378; b mean 4.795955 and sd 0.071549.
	va, vb := 0.100378*0.100378/3, 0.071549*0.071549/4
	df := (va + vb) * (va + vb) / (va*va/2 + vb*vb/3)
	near(t, "low", d.Low, 100*math.Expm1(4.795955-4.601820-stat.StudentQuantile(df, 0.975)*math.Sqrt(va+vb)))
}

// Failures in percent have no ratio: they are compared by points.
func TestSharesAreComparedByPoints(t *testing.T) {
	a, b := side("a", 1, 1, 1), side("b", 1, 1, 1)
	for i, e := range []float64{2, 3, 4} {
		b.Runs[i].Metrics["error_rate"] = measure.Metric{Unit: "%", Value: measure.Some(e), Rate: true}
	}
	rate := compare.Figure{Metric: "error_rate", Stat: compare.Value}
	c, _ := one(t, compare.Options{Primary: []compare.Figure{rate}}, a, b)
	d := c.Contrasts[0].Find(rate)
	near(t, "change", d.Change, 3)
	near(t, "low", d.Low, 3-4.30265/math.Sqrt(3))
	near(t, "margin", d.Margin, 1)
	if d.Relative || d.Word != compare.Worse {
		t.Errorf("relative %v, %q", d.Relative, d.Word)
	}
}

func TestWhatIsMissingInfiniteOrInvalidTellsNothing(t *testing.T) {
	for name, spoil := range map[string]func(*compare.Run){
		"missing":  func(r *compare.Run) { r.Metrics["ttft"] = measure.Metric{Unit: "ms"} },
		"infinite": func(r *compare.Run) { r.Metrics["ttft"] = measure.Metric{Unit: "ms", P50: measure.Some(math.Inf(1))} },
		"the client": func(r *compare.Run) {
			r.Validity = map[string]measure.Validity{"ttft": {Trust: measure.Invalid, Reason: "stood still"}}
		},
	} {
		b := side("b", 200, 201, 202)
		spoil(&b.Runs[1])
		_, d := one(t, compare.Options{}, side("a", 100, 100, 100), b)
		if d.Word != compare.CannotTell || !strings.Contains(d.Reason, name) || d.Invalid != (name == "the client") {
			t.Errorf("%s: %q, %q, invalid %v", name, d.Word, d.Reason, d.Invalid)
		}
		if _, _, ok := d.Test(5, true); ok {
			t.Errorf("%s: a gate finds something", name)
		}
	}
	// Of a metric whose p99 alone is the client's the median stands.
	b := side("b", 200, 201, 202)
	b.Runs[1].Validity = map[string]measure.Validity{"ttft": {Trust: measure.Invalid, ByStat: map[string]measure.Trust{"p99": measure.Invalid}}}
	c, d := one(t, compare.Options{}, side("a", 100, 100, 100), b)
	if p99 := c.Contrasts[0].Find(compare.Figure{Metric: "ttft", Stat: "p99"}); d.Word != compare.Worse || !p99.Invalid {
		t.Errorf("p50 %q, p99 invalid %v", d.Word, p99.Invalid)
	}
}

// Each of these alone is named, and makes a comparison an error.
func TestNotAlike(t *testing.T) {
	for want, change := range map[string]func(*compare.Run){
		"model: m in a0, n in b0":                      func(r *compare.Run) { r.Model = "n" },
		"API: openai-chat in a0, tgi in b0":            func(r *compare.Run) { r.API = "tgi" },
		"time: real in a0, virtual in b0":              func(r *compare.Run) { r.Manifest.Virtual = true },
		"dialect: tokamak in a0, guidellm in b0":       func(r *compare.Run) { r.Dialect = "guidellm" },
		"window: all in a0, steady in b0":              func(r *compare.Run) { r.Window = compare.Steady },
		"tokens counted by: t in a0, none in b0":       func(r *compare.Run) { r.Manifest.Versions = nil },
		"end: b0 was interrupted":                      func(r *compare.Run) { r.Unfinished = "interrupted" },
		"workload.input-tokens: 512 in a0, 1024 in b0": with("512", "1024"),
		"load.stages[1]: 2 in a0, 3 in b0":             with("2]", "3]"),
		"lengths: 100 output tokens a request in a0, 98.0 in b0": func(r *compare.Run) {
			r.Metrics["output_tokens"] = measure.Metric{Unit: "tok", Mean: measure.Some(98)}
		},
	} {
		a, b := side("a", 1, 1), side("b", 1, 1)
		a.Runs[0].Metrics["output_tokens"] = measure.Metric{Unit: "tok", Mean: measure.Some(100)}
		change(&b.Runs[0])
		_, err := compare.Compare([]compare.Side{a, b}, compare.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
		if c, err := compare.Compare([]compare.Side{a, b}, compare.Options{Anyway: true}); err != nil || len(c.Unlike) != 1 {
			t.Errorf("%s: anyway: %v", want, err)
		}
	}
	// Another version of ours is only noted.
	newer := side("b", 1, 1)
	newer.Runs[1].Manifest.Versions["tokamak"] = "9"
	if c, err := compare.Compare([]compare.Side{side("a", 1, 1), newer}, compare.Options{}); err != nil || len(c.Notes) != 1 {
		t.Errorf("another version: %v", err)
	}
	// Another address, name or objective makes no other workload.
	b := side("b", 1, 1)
	with("http://a", "http://b")(&b.Runs[0])
	with(`"x"`, `"y"`)(&b.Runs[0])
	with("<1%", "<2%")(&b.Runs[0])
	if _, err := compare.Compare([]compare.Side{side("a", 1, 1), b}, compare.Options{}); err != nil {
		t.Error(err)
	}
}

func with(before, after string) func(*compare.Run) {
	return func(r *compare.Run) {
		r.Manifest.Scenario = json.RawMessage(strings.Replace(string(r.Manifest.Scenario), before, after, 1))
	}
}

// What is better seen from one side is worse from the other, by the same factor.
func TestSidesMirror(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 9).Draw(t, "n")
		values := rapid.SliceOfN(rapid.Float64Range(50, 200), n, n)
		a, b := side("a", values.Draw(t, "a")...), side("b", values.Draw(t, "b")...)
		x := func(v measure.Value) float64 { return math.Log1p(v.Or(math.NaN()) / 100) }
		_, ab := mirror(t, a, b)
		_, ba := mirror(t, b, a)
		if math.Abs(x(ab.Low)+x(ba.High)) > 1e-9 || math.Abs(ab.P.Or(9)-ba.P.Or(9)) > 1e-9 {
			t.Errorf("from %v and to %v, p %v and %v", ab.Low, ba.High, ab.P, ba.P)
		}
		words := map[compare.Word]compare.Word{compare.Better: compare.Worse, compare.Worse: compare.Better, compare.Same: compare.Same, compare.CannotTell: compare.CannotTell}
		if ba.Word != words[ab.Word] {
			t.Errorf("%q and %q", ab.Word, ba.Word)
		}
	})
}

func mirror(t *rapid.T, a, b compare.Side) (*compare.Comparison, *compare.Figured) {
	c, err := compare.Compare([]compare.Side{a, b}, compare.Options{Primary: []compare.Figure{p50}})
	if err != nil {
		t.Fatal(err)
	}
	return c, c.Contrasts[0].Find(p50)
}

// Of comparisons without a difference at most 5 % say that there is one, and
// of those with a difference of the margin at most 5 % call it the same.
func TestRisksAreKept(t *testing.T) {
	const comparisons = 1000
	alarms, wronglySame := 0, 0
	r := stat.Random(1, "compare-test", 0)
	for range comparisons {
		var a, b, slow []float64
		for range 8 {
			a = append(a, 100*math.Exp(0.03*r.NormFloat64()))
			b = append(b, 100*math.Exp(0.03*r.NormFloat64()))
			slow = append(slow, 105*math.Exp(0.03*r.NormFloat64()))
		}
		if _, d := one(t, compare.Options{}, side("a", a...), side("b", b...)); d.Word == compare.Better || d.Word == compare.Worse {
			alarms++
		}
		if _, d := one(t, compare.Options{}, side("a", a...), side("b", slow...)); d.Word == compare.Same {
			wronglySame++
		}
	}
	most := comparisons * (0.05 + 2*math.Sqrt(0.05*0.95/comparisons))
	if float64(alarms) > most || alarms == 0 {
		t.Errorf("%d of %d comparisons without a difference raise an alarm, at most %.0f may", alarms, comparisons, most)
	}
	if float64(wronglySame) > most || wronglySame == 0 {
		t.Errorf("%d of %d differences of the margin count as the same, at most %.0f may", wronglySame, comparisons, most)
	}
}
