package stat

import (
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func TestNormalQuantileAgainstGonum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := rapid.Float64Range(-8, 8).Draw(t, "z")
		p := distuv.UnitNormal.CDF(z)
		if p <= 0 || p >= 1 {
			return
		}
		got, want := normalQuantile(p), distuv.UnitNormal.Quantile(p)
		if math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
			t.Fatalf("normalQuantile(%v) = %v, want %v", p, got, want)
		}
		if below, above := normalShares(z); math.Abs(below-p) > 1e-13*p || math.Abs(above-distuv.UnitNormal.CDF(-z)) > 1e-13*above {
			t.Fatalf("normalShares(%v) = %v, %v, want %v", z, below, above, p)
		}
	})
	if !math.IsInf(normalQuantile(0), -1) || !math.IsInf(normalQuantile(1), 1) || normalQuantile(0.5) != 0 {
		t.Error("wrong at the ends or in the middle")
	}
}

func TestGammaAgainstGonum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := math.Exp(rapid.Float64Range(-4, 11).Draw(t, "log shape"))
		p := rapid.Float64Range(1e-6, 1-1e-6).Draw(t, "p")
		lg, _ := math.Lgamma(shape)
		if got := logGamma(shape); math.Abs(got-lg) > 1e-13*(1+math.Abs(lg)) {
			t.Fatalf("logGamma(%v) = %v, want %v", shape, got, lg)
		}
		x := gammaQuantile(shape, p)
		if x < 1e-300 {
			return // below every float64, or where they have fewer digits
		}
		if got := mathext.GammaIncReg(shape, x); math.Abs(got-p) > 1e-5*p {
			t.Fatalf("P(X <= %v) = %v of shape %v, want %v", x, got, shape, p)
		}
	})
}

// The quantile function and the draws of each family are of one distribution:
// the share of 20,000 draws at or below the p-quantile is p.
func TestQuantilesAgreeWithDraws(t *testing.T) {
	const n = 20_000
	for _, form := range []string{"512", "uniform:128..512", "uniform:0.5..2.25", "normal:mean=100,sd=15", "lognormal:mean=512,cv=0.8", "exp:mean=3",
		"gamma:mean=512,cv=2", "gamma:mean=512,cv=0.3", "weibull:shape=0.42,scale=0.063", "pareto:mean=600,cv=1.2,from=2000,alpha=2.5",
		"zipf:exponent=1.1,buckets=64,width=128", "zipf:exponent=0,buckets=10,width=0.5", "empirical:0=1,0.5=120,0.99=4000,1=8192",
		"lognormal:mean=512,cv=0.8@16..1024"} {
		d := parsed(t, form)
		draws, r := make([]float64, n), Random(5, "agree", 0)
		for i := range draws {
			draws[i] = d.Sample(r)
		}
		slices.Sort(draws)
		before := math.Inf(-1)
		for _, p := range []float64{0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999} {
			q := d.Quantile(p)
			if q < before {
				t.Errorf("%s: quantile %v is %v, below %v", form, p, q, before)
			}
			before = q
			at, _ := slices.BinarySearch(draws, q)
			upTo, _ := slices.BinarySearch(draws, math.Nextafter(q, math.Inf(1)))
			slack := 5*math.Sqrt(p*(1-p)/n) + 1e-9
			if float64(at)/n > p+slack || float64(upTo)/n < p-slack {
				t.Errorf("%s: %v of the draws are below, %v up to the quantile %v of %v", form, float64(at)/n, float64(upTo)/n, q, p)
			}
		}
	}
}

// By hand: the exponential's median is its mean times ln 2; a tail of exponent
// 2 has its end at twice From where a fourth of what is above From is left.
// The share up to a quantile is its own share; by tables 0.975 lies at 1.959964
// standard deviations.
func TestNormalShare(t *testing.T) {
	n := Normal{Average: 10, SD: 2}
	for _, p := range []float64{1e-9, .1, .5, .9, 1 - 1e-9} {
		if got := n.Share(n.Quantile(p)); math.Abs(got-p) > 1e-12 {
			t.Errorf("%v: %v", p, got)
		}
	}
	if got := (Normal{SD: 1}).Share(1.959963985); math.Abs(got-.975) > 1e-9 {
		t.Errorf("%v, want 0.975", got)
	}
	if one := (Normal{Average: 3}); one.Share(2.9) != 0 || one.Share(3) != 1 {
		t.Error("of one value")
	}
}

func TestQuantilesByHand(t *testing.T) {
	for _, c := range []struct {
		form    string
		p, want float64
	}{
		{"exp:mean=10", 0.5, 10 * math.Ln2},
		{"weibull:shape=2,scale=3", 1 - math.Exp(-4), 6},
		{"lognormal:mean=100,cv=1", 0.5, 100 / math.Sqrt2},
		{"uniform:1..4", 0.5, 2}, {"uniform:1..4", 0.51, 3}, {"uniform:1..4", 1, 4}, {"uniform:1..4", 0, 1},
		{"pareto:mean=100,cv=1,from=70.71067811865476,alpha=2", 0.875, 2 * 100 / math.Sqrt2},
		{"gamma:mean=6,cv=1", 0.5, 6 * math.Ln2},
		{"zipf:exponent=1,buckets=3,width=1", 0.54, 1}, {"zipf:exponent=1,buckets=3,width=1", 0.55, 2}, {"zipf:exponent=1,buckets=3,width=1", 0.82, 3},
		{"empirical:0=0,0.5=100,1=300", 0.75, 200},
		{"512", 0.3, 512},
	} {
		if got := parsed(t, c.form).Quantile(c.p); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%s: quantile %v = %v, want %v", c.form, c.p, got, c.want)
		}
	}
	if got, want := parsed(t, "zipf:exponent=1,buckets=3,width=10").Mean(), (5.5+15.5/2+25.5/3)/(11.0/6); math.Abs(got-want) > 1e-12 {
		t.Errorf("mean %v, want %v", got, want)
	}
	if got := (Values{Observed: []float64{1, 2, 3, 4}}).Quantile(0.5); got != 2 {
		t.Errorf("median of four values %v, want the second", got)
	}
}

// Quantiles have the same bits on every architecture, as draws have.
func TestQuantileGoldenBits(t *testing.T) {
	want := map[string]uint64{
		"uniform:128..512":                           0x53c296bf9ccd38fc,
		"normal:mean=100,sd=15":                      0x008f5cff0d9a4772,
		"lognormal:mean=512,cv=0.8":                  0x73903202420e3c8d,
		"exp:mean=3":                                 0x33d7887491c98368,
		"gamma:mean=512,cv=2":                        0x4ed6174f4a3b0bfe,
		"gamma:mean=512,cv=0.3":                      0x83e3820244236f41,
		"gamma:mean=512,cv=0.005":                    0xbaa95be13e7f1a7b,
		"weibull:shape=0.42,scale=0.063":             0x077da4b765c6c0c4,
		"pareto:mean=600,cv=1.2,from=2000,alpha=2.5": 0x4e1b425265cf8e4a,
		"zipf:exponent=1.1,buckets=64,width=128":     0xc6a8c0638ab4ff6c,
		"empirical:0=1,0.5=120,0.99=4000,1=8192":     0x8e924a314061139c,
	}
	for s, digest := range want {
		h := fnv.New64a()
		d := parsed(t, s)
		for i := range 1000 {
			bits := math.Float64bits(d.Quantile((float64(i) + 0.5) / 1000))
			for k := range 8 {
				_, _ = h.Write([]byte{byte(bits >> (8 * k))})
			}
		}
		if got := h.Sum64(); got != digest {
			t.Errorf("%q: 0x%016x,", s, got)
		}
	}
}

func TestWeibullOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cv := math.Exp(rapid.Float64Range(math.Log(0.01), math.Log(100)).Draw(t, "log cv"))
		w := WeibullOf(3, cv)
		d := distuv.Weibull{K: w.Shape, Lambda: w.Scale}
		if math.Abs(d.Mean()-3) > 1e-9 || math.Abs(d.StdDev()/3-cv) > 1e-6*cv {
			t.Fatalf("mean %v, cv %v, want 3, %v", d.Mean(), d.StdDev()/3, cv)
		}
	})
	if w := WeibullOf(5, 1); math.Abs(w.Shape-1) > 1e-12 || math.Abs(w.Scale-5) > 1e-11 {
		t.Errorf("cv 1 is the exponential: %+v", w)
	}
}

// The mean of the rest of a gap is (1 + CV²)/2 of the mean gap.
func TestResiduals(t *testing.T) {
	const n = 200_000
	for _, cv := range []float64{0, 0.5, 1, 2} {
		sums := [2]float64{}
		r := Random(9, "residual", 0)
		weibull := WeibullOf(2, max(cv, 0.01))
		for range n {
			sums[0] += Gamma{Average: 2, CV: cv}.Residual(r) / n
			sums[1] += weibull.Residual(r) / n
		}
		for i, got := range sums {
			if want := 1 + cv*cv; math.Abs(got-want) > 0.05*want {
				t.Errorf("family %d, cv %v: mean rest %v, want %v", i, cv, got, want)
			}
		}
	}
}

func TestKeyedIsRandom(t *testing.T) {
	k := NewKeyed(3, "stream")
	for _, i := range []uint64{5, 0, 5, 1 << 40} {
		if got, want := k.At(i).Uint64(), Random(3, "stream", i).Uint64(); got != want {
			t.Errorf("item %d: %x, want %x", i, got, want)
		}
	}
}

func TestFormatDurations(t *testing.T) {
	for form, want := range map[string]string{
		"exp:mean=0.5": "exp:mean=0.5s", "2": "2s", "lognormal:mean=1e-9,cv=2@..100": "lognormal:mean=0.000000001s,cv=2@..100s",
		"empirical:0=0,1=0.25": "empirical:0=0s,1=0.25s", "zipf:exponent=1,buckets=3,width=2": "zipf:exponent=1,buckets=3,width=2s",
	} {
		got := FormatDurations(parsed(t, form))
		if got != want {
			t.Errorf("%s became %s, want %s", form, got, want)
		}
		d, err := ParseDurations(got)
		if err != nil {
			t.Fatal(err)
		}
		if again := FormatDurations(d); again != got {
			t.Errorf("%s became %s", got, again)
		}
	}
}

// What is prepared draws and has quantiles as before.
func TestPrepared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		average, cv := math.Exp(rapid.Float64Range(-3, 9).Draw(t, "log mean")), math.Exp(rapid.Float64Range(-5, 2).Draw(t, "log cv"))
		d := rapid.SampledFrom([]Distribution{Lognormal{average, cv}, Gamma{average, cv}, Pareto{Lognormal{average, cv}, 2 * average, 1.5},
			Clamped{Gamma{average, cv}, average / 2, 3 * average}, Weibull{cv, average}, NewZipf(cv, 10, average)}).Draw(t, "distribution")
		fast := Prepared(d)
		if fast.String() != d.String() || fast.Mean() != d.Mean() || fast.Sample(Random(1, "p", 0)) != d.Sample(Random(1, "p", 0)) {
			t.Fatalf("%v became %v", d, fast)
		}
		p := rapid.OneOf(rapid.Float64Range(1.2e-16, 1), rapid.Float64Range(1.2e-16, 1e-9), rapid.Float64Range(1-1e-9, 1), rapid.Just(0.0), rapid.Just(1.0)).Draw(t, "p")
		got, want := fast.Quantile(p), d.Quantile(p)
		if got != want && math.Abs(got-want) > 1e-5*want+1e-200 {
			t.Fatalf("%v: quantile %v = %v, want %v", d, p, got, want)
		}
	})
}

func BenchmarkQuantile(b *testing.B) {
	for _, form := range []string{"lognormal:mean=512,cv=0.8", "weibull:shape=0.5,scale=512", "pareto:mean=600,cv=1.2,from=2000,alpha=2.5", "gamma:mean=512,cv=0.5", "gamma:mean=512,cv=2", "gamma:mean=512,cv=0.05"} {
		d, err := ParseDistribution(form)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(form, func(b *testing.B) {
			p := 0.0
			for b.Loop() {
				if p += 0.00137; p >= 1 {
					p -= 1
				}
				_ = d.Quantile(p)
			}
		})
		b.Run("prepared "+form, func(b *testing.B) {
			p, d := 0.0, Prepared(d)
			for b.Loop() {
				if p += 0.00137; p >= 1 {
					p -= 1
				}
				_ = d.Quantile(p)
			}
		})
	}
}
