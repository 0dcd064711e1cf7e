package compare_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/compare"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/stat"
)

// lone is a side of one run of n requests, one a second, whose TTFT varies with
// its requests and is factor times as long.
func lone(name string, n int, factor float64) compare.Side {
	a := measure.New(measure.Options{})
	r := stat.Random(1, "lone", 0)
	for i := range n {
		at := int64(i) * 1e9
		var row record.Attempt
		row.RequestID, row.Attempt, row.Outcome = int64(i), 1, record.OK
		row.Intended = record.Some(at)
		row.FirstToken = record.Some(at + int64(factor*1e8*math.Exp(0.2*r.NormFloat64())))
		row.LastToken, row.Ended = row.FirstToken, row.FirstToken
		a.Add(&row)
	}
	run := run(name, 1, 1, 0)
	run.Metrics = a.All().Metrics()
	run.View = func() (*measure.View, error) { return a.All(), nil }
	return compare.Side{Name: name, Runs: []compare.Run{run}}
}

func virtual(s compare.Side) compare.Side {
	s.Runs[0].Manifest.Virtual = true
	return s
}

// The same requests, each 10 % slower: drawn together, their ratio does not
// vary at all. Drawn apart, as other requests would be, it does.
func TestOneRunASide(t *testing.T) {
	c, d := one(t, compare.Options{}, virtual(lone("a", 900, 1)), virtual(lone("b", 900, 1.1)))
	if c.Contrasts[0].Method != compare.Blocks || d.Word != compare.Worse {
		t.Fatalf("%s, %q: %s", c.Contrasts[0].Method, d.Word, d.Reason)
	}
	near(t, "low", d.Low, 10)
	near(t, "high", d.High, 10)
	b := virtual(lone("b", 900, 1.1))
	b.Runs[0].Manifest.Seed = 2
	_, apart := one(t, compare.Options{Anyway: true}, virtual(lone("a", 900, 1)), b)
	// A median of 900 lognormal values with σ = 0.2 has a standard error of
	// 1.2533·0.2/√900 = 0.0084, and two of them 0.0118.
	low, _ := apart.Low.Get()
	high, _ := apart.High.Get()
	if se := math.Log((100+high)/(100+low)) / 2 / stat.StudentQuantile(29, 0.975); se < 0.7*0.0118 || se > 1.4*0.0118 {
		t.Errorf("standard error %v, want about 0.0118", se)
	}
}

// On a real machine one run a side says nothing, however far apart they are,
// until the noise between runs is known; then it counts twice.
func TestOneRunASideTakesTheNoise(t *testing.T) {
	a, b := lone("a", 900, 1), lone("b", 900, 1.1)
	_, d := one(t, compare.Options{}, a, b)
	if d.Word != compare.CannotTell || !strings.Contains(d.Reason, "the noise between runs is not known") || d.Low.Valid() {
		t.Errorf("%q: %s", d.Word, d.Reason)
	}
	if _, _, ok := d.Test(5, true); ok {
		t.Error("a gate finds something")
	}
	noise := noiseOf(t, 100, 102, 98, 100) // sd of the logarithm 0.016333
	_, d = one(t, compare.Options{Noise: noise}, a, b)
	sd := noise.Figures["ttft.p50"].SD
	if math.Abs(sd-0.016333) > 1e-5 {
		t.Fatalf("noise %v", sd)
	}
	near(t, "low", d.Low, 100*math.Expm1(math.Log(1.1)-3.18245*math.Sqrt2*sd)) // t(0.975) with 3 degrees of freedom
	if d.Word != compare.Worse {
		t.Errorf("%q: %s", d.Word, d.Reason)
	}
	// 10 % is hidden by noise of twice that size, and no longer run would help.
	_, d = one(t, compare.Options{Noise: noiseOf(t, 100, 104, 96, 100)}, a, b)
	if d.Word != compare.CannotTell || d.NeededPairs == nil || d.NeededRequests != nil {
		t.Errorf("%q: %s", d.Word, d.Reason)
	}
}

// A run whose rows cannot be read is no run of which nothing can be told.
func TestRowsThatCannotBeRead(t *testing.T) {
	a, b := virtual(lone("a", 400, 1)), virtual(lone("b", 400, 3))
	b.Runs[0].View = func() (*measure.View, error) { return nil, errors.New("requests.parquet is damaged") }
	_, err := compare.Compare([]compare.Side{a, b}, compare.Options{Primary: []compare.Figure{p50}})
	if err == nil || !strings.Contains(err.Error(), "requests.parquet is damaged") {
		t.Errorf("%v", err)
	}
}

func TestTooFewRequests(t *testing.T) {
	_, d := one(t, compare.Options{}, virtual(lone("a", 40, 1)), virtual(lone("b", 40, 3)))
	if d.Word != compare.CannotTell || !strings.Contains(d.Reason, "40 requests are too few to see their spread: it takes 64") {
		t.Errorf("%q: %s", d.Word, d.Reason)
	}
}

func noiseOf(t *testing.T, ttfts ...float64) *compare.Noise {
	t.Helper()
	n, err := compare.MeasureNoise(side("n", ttfts...), true)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Logs of 100, 102 and 98: sd 0.02; t(0.975) with 2 degrees of freedom 4.30265.
func TestNoiseByHand(t *testing.T) {
	l := noiseOf(t, 100, 102, 98).Figures["ttft.p50"]
	want := 100 * math.Expm1(4.30265*math.Sqrt2*l.SD)
	if math.Abs(l.SD-0.0200027) > 1e-6 || math.Abs(l.Floor-want) > 1e-3 || l.Low != 98 || l.High != 102 || !l.Relative || l.Runs != 3 {
		t.Errorf("%+v, want a floor of %v", l, want)
	}
	if _, err := compare.MeasureNoise(side("n", 1, 2), false); err == nil {
		t.Error("two runs make a noise floor")
	}
	void := side("n", 100, 102, 98, 500)
	void.Runs[3].Validity = map[string]measure.Validity{"ttft": {Trust: measure.Invalid}}
	if n, err := compare.MeasureNoise(void, false); err != nil || n.Figures["ttft.p50"].Runs != 3 || n.Figures["ttft.p50"].High != 102 {
		t.Errorf("a run that the client made: %+v, %v", n.Figures["ttft.p50"], err)
	}
	odd := side("n", 1, 1, 1)
	odd.Runs[2].Model = "other"
	if _, err := compare.MeasureNoise(odd, false); err == nil || !strings.Contains(err.Error(), "model") {
		t.Errorf("another model: %v", err)
	}
}

// What differs between two targets is no noise of either.
func TestNoiseOfTwoTargets(t *testing.T) {
	mixed := side("n", 100, 102, 98)
	other := side("m", 150)
	mixed.Runs = append(mixed.Runs, other.Runs...)
	_, err := compare.MeasureNoise(mixed, false)
	if want := "not comparable: target: http://n in n0, http://m in m0"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	n, err := compare.MeasureNoise(mixed, true)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"http://n", "http://m"}, n.Targets); d != "" || len(n.Unlike) != 1 {
		t.Error(d, n.Unlike)
	}
}

// Noise of something else is refused; noise asked for widens pairs too, and no
// number of them brings it down.
func TestNoiseOfWhat(t *testing.T) {
	noise := noiseOf(t, 100, 102, 98)
	a, b := side("a", 100, 100, 100, 100), side("b", 103, 106, 109, 106)
	_, bare := one(t, compare.Options{}, a, b)
	_, wide := one(t, compare.Options{Noise: noise}, a, b)
	if bare.Word != compare.Worse || wide.Word != compare.CannotTell || wide.NeededPairs != nil {
		t.Errorf("%q without the noise, %q with it (%s)", bare.Word, wide.Word, wide.Reason)
	}
	noise.Model = "other"
	if _, err := compare.Compare([]compare.Side{a, b}, compare.Options{Noise: noise}); err == nil || !strings.Contains(err.Error(), "noise model: other in the noise file") {
		t.Errorf("noise of another model: %v", err)
	}
}

func FuzzReadNoise(f *testing.F) {
	f.Add([]byte(`{"schema":"tokamak.noise/1","figures":{"ttft.p50":{"runs":3,"sd":0.02,"relative":true}}}`))
	f.Add([]byte(`{"schema":"tokamak.noise/1","figures":{"ttft.p50":{"runs":-3,"sd":-1}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := compare.ReadNoise("n.json", b)
		if err != nil {
			return
		}
		_, _ = compare.Compare([]compare.Side{side("a", 1, 2, 3), side("b", 2, 3, 4)}, compare.Options{Noise: n, Anyway: true})
	})
}
