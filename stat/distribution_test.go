package stat

import (
	"errors"
	"hash/fnv"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func parsed(t *testing.T, s string) Distribution {
	t.Helper()
	d, err := ParseDistribution(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// bits returns a digest of the exact bits of n draws.
func bits(d Distribution, n int) uint64 {
	h := fnv.New64a()
	r := Random(7, "golden", 0)
	for range n {
		b := math.Float64bits(d.Sample(r))
		for i := range 8 {
			_, _ = h.Write([]byte{byte(b >> (8 * i))})
		}
	}
	return h.Sum64()
}

// The digests hold on every architecture: a change of one bit of one draw, by
// a fused multiply-add or by assembly, changes them.
func TestGoldenBits(t *testing.T) {
	want := map[string]uint64{
		"512":                                        0x0d07af2229b07425,
		"uniform:128..512":                           0xd8cfc9368d65cc7a,
		"uniform:0.5..2.25":                          0xf8defe7bbdf3114b,
		"normal:mean=100,sd=15":                      0x70b33f4fae414dca,
		"lognormal:mean=512,cv=0.8":                  0x6bdcc2d3dc18d74e,
		"exp:mean=3":                                 0x3c8b6277e751f3aa,
		"gamma:mean=512,cv=2":                        0xb394af308b03de6c,
		"gamma:mean=512,cv=0.3":                      0x645b180d4d10f650,
		"weibull:shape=0.42,scale=0.063":             0xbbff15a3d329fed2,
		"pareto:mean=600,cv=1.2,from=2000,alpha=2.5": 0x26e177f6c8b555b7,
		"empirical:0=1,0.5=120,0.99=4000,1=8192":     0xeabe9ac3ab930138,
		"lognormal:mean=512,cv=0.8@16..1024":         0x8092427ea0f1f462,
	}
	for s, digest := range want {
		if got := bits(parsed(t, s), 1000); got != digest {
			t.Errorf("%q: 0x%016x,", s, got)
		}
	}
}

func TestRandomGolden(t *testing.T) {
	r := Random(1, "class", 42)
	got := [4]uint64{r.Uint64(), r.Uint64(), Key(1, "class", 42), Key(1, "class", 43)}
	want := [4]uint64{0x51a3bdda506fc435, 0x9b34ac5c576c7a30, 0x1d577e5b9e0f3f63, 0x5bb5bf68e6412114}
	if got != want {
		t.Errorf("%#x", got)
	}
}

func TestMathAgainstPackageMath(t *testing.T) {
	near := func(got, want float64) bool {
		return got == want || math.Abs(got-want) <= 4e-16*math.Abs(want)+1e-320
	}
	rapid.Check(t, func(t *rapid.T) {
		x := math.Exp(rapid.Float64Range(-700, 700).Draw(t, "exponent"))
		if got, want := logarithm(x), math.Log(x); !near(got, want) && math.Abs(got-want) > 3e-16 {
			t.Fatalf("logarithm(%v) = %v, want %v", x, got, want)
		}
		y := rapid.Float64Range(-740, 709).Draw(t, "y")
		if got, want := exponential(y), math.Exp(y); math.Abs(got-want) > 1e-15*want+1e-320 {
			t.Fatalf("exponential(%v) = %v, want %v", y, got, want)
		}
	})
	if !math.IsInf(exponential(1000), 1) || exponential(-1000) != 0 || exponential(0) != 1 || logarithm(1) != 0 {
		t.Error("wrong at the ends")
	}
}

// Moments of 200,000 draws against theory, within five standard errors.
func TestMoments(t *testing.T) {
	for _, c := range []struct {
		form     string
		mean, sd float64
	}{
		{"512", 512, 0},
		{"uniform:128..512", 320, math.Sqrt((385*385 - 1) / 12.0)},
		{"normal:mean=100,sd=15", 100, 15},
		{"lognormal:mean=512,cv=0.8", 512, 0.8 * 512},
		{"exp:mean=3", 3, 3},
		{"gamma:mean=512,cv=2", 512, 1024},
		{"gamma:mean=512,cv=0.3", 512, 0.3 * 512},
		{"weibull:shape=1,scale=5", 5, 5},
		{"weibull:shape=2,scale=5", 5 * math.Sqrt(math.Pi) / 2, 5 * math.Sqrt(1-math.Pi/4)},
		{"empirical:0=0,0.5=100,1=300", 125, math.Sqrt(0.5*10000/3 + 0.5*(10000+200*100+200*200/3.0) - 125*125)},
	} {
		const n = 200_000
		d := parsed(t, c.form)
		r := Random(3, "moments", 0)
		sum, square := 0.0, 0.0
		for range n {
			x := d.Sample(r)
			sum += x
			square += (x - c.mean) * (x - c.mean)
		}
		mean, sd := sum/n, math.Sqrt(square/n)
		if math.Abs(mean-c.mean) > 5*c.sd/math.Sqrt(n) {
			t.Errorf("%s: mean %v, want %v", c.form, mean, c.mean)
		}
		if math.Abs(sd-c.sd) > 0.05*c.sd {
			t.Errorf("%s: sd %v, want %v", c.form, sd, c.sd)
		}
		if got := d.Mean(); math.Abs(got-c.mean) > 1e-9*c.mean {
			t.Errorf("%s: Mean() = %v, want %v", c.form, got, c.mean)
		}
	}
}

// Above its threshold the spliced tail follows its exponent, below it the body
// is untouched.
func TestParetoTail(t *testing.T) {
	d := parsed(t, "pareto:mean=600,cv=1.2,from=2000,alpha=2.5")
	body := parsed(t, "lognormal:mean=600,cv=1.2")
	const n = 200_000
	r, q := Random(1, "a", 0), Random(2, "b", 0)
	above, twice, bodyAbove, sum := 0.0, 0.0, 0.0, 0.0
	for range n {
		x := d.Sample(r)
		sum += x
		if x > 2000 {
			above++
		}
		if x > 4000 {
			twice++
		}
		if body.Sample(q) > 2000 {
			bodyAbove++
		}
	}
	if math.Abs(above-bodyAbove) > 6*math.Sqrt(above) {
		t.Errorf("%v draws above the threshold, the body has %v", above, bodyAbove)
	}
	if got, want := twice/above, math.Pow(2, -2.5); math.Abs(got-want) > 0.02 {
		t.Errorf("share above twice the threshold %v, want %v", got, want)
	}
	if got, want := sum/n, d.Mean(); math.Abs(got-want) > 0.02*want {
		t.Errorf("mean %v, Mean() %v", got, want)
	}
	if m := parsed(t, "pareto:mean=600,cv=1.2,from=2000,alpha=1").Mean(); !math.IsInf(m, 1) {
		t.Errorf("mean of a tail of exponent 1 = %v", m)
	}
}

func TestClamp(t *testing.T) {
	for form, bounds := range map[string][2]float64{
		"normal:mean=0,sd=10@0..5":  {0, 5},
		"normal:mean=0,sd=10@..5":   {math.Inf(-1), 5},
		"normal:mean=0,sd=10@-1..":  {-1, math.Inf(1)},
		"empirical:0=1,1=9@2..3":    {2, 3},
		"lognormal:mean=9,cv=3@9..": {9, math.Inf(1)},
	} {
		d, r := parsed(t, form), Random(1, "clamp", 0)
		for range 1000 {
			if x := d.Sample(r); x < bounds[0] || x > bounds[1] {
				t.Errorf("%s: drew %v", form, x)
			}
		}
	}
	if got := parsed(t, "uniform:0..1000@0..500").Mean(); math.Abs(got-375) > 5 {
		t.Errorf("mean %v, want about 375", got)
	}
}

func TestEmpiricalFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lengths.txt")
	if err := os.WriteFile(name, []byte("# lengths\n10\n\n 20 \n30\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := parsed(t, "empirical:"+name)
	if d.Mean() != 20 {
		t.Errorf("mean %v", d.Mean())
	}
	seen := map[float64]bool{}
	for r := Random(1, "e", 0); len(seen) < 3; {
		seen[d.Sample(r)] = true
	}
	if !seen[10] || !seen[20] || !seen[30] {
		t.Errorf("drew %v", seen)
	}
	if err := os.WriteFile(name, []byte("1\nx\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ParseDistribution("empirical:" + name); err == nil || !strings.Contains(err.Error(), ":2: expected a number") {
		t.Errorf("error %v", err)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		input  string
		column int
		says   string
	}{
		{"", 1, "expected a distribution"},
		{"abc", 1, "expected a number or a distribution"},
		{"0x10", 1, "expected a number"},
		{"NaN", 1, "expected a number"},
		{"gauss:mean=1", 1, `unknown distribution "gauss"`},
		{"uniform:5", 9, "expected LOW..HIGH"},
		{"uniform:5..x", 12, "expected a number"},
		{"uniform:5..2", 9, "LOW at most HIGH"},
		{"uniform:..2", 9, "expected a number"},
		{"lognormal:mean=512", 19, "cv= is missing"},
		{"lognormal:mean=512,sd=3", 20, "with the names mean, cv"},
		{"lognormal:mean=512,mean=3", 20, "given twice"},
		{"lognormal:mean=-1,cv=1", 16, "above 0"},
		{"lognormal:mean=5,cv=x", 21, "expected a number"},
		{"gamma:mean=5,cv=2000", 17, "at most 1000"},
		{"weibull:shape=0,scale=1", 15, "above 0"},
		{"512@", 1, "expected a number"},
		{"512@..", 5, "at least one bound"},
		{"512@5..1", 5, "LOW at most HIGH"},
		{"empirical:", 11, "expected a file"},
		{"empirical:0=1,0.5=0", 15, "at least 1"},
		{"empirical:0=1,0.5=2", 20, "last share to be 1"},
		{"empirical:0.1=1,1=2", 11, "first share to be 0"},
		{"empirical:0=1,2=2", 15, "at most 1"},
		{"empirical:/nowhere/at/all", 11, "cannot read the file"},
		{"  gamma:mean=x,cv=1", 14, "expected a number"},
	} {
		_, err := ParseDistribution(c.input)
		var e *SyntaxError
		if !errors.As(err, &e) {
			t.Errorf("%q: %v is no syntax error", c.input, err)
			continue
		}
		if e.Column != c.column || !strings.Contains(e.Message, c.says) {
			t.Errorf("%q: column %d, %q; want column %d, %q", c.input, e.Column, e.Message, c.column, c.says)
		}
	}
}

func TestDurations(t *testing.T) {
	d, err := ParseDurations("exp:mean=500ms@..2s")
	if err != nil {
		t.Fatal(err)
	}
	if d.String() != "exp:mean=500ms@..2s" {
		t.Errorf("String() = %q", d)
	}
	r := Random(1, "d", 0)
	for range 100 {
		if x := d.Sample(r); x < 0 || x > 2 {
			t.Errorf("drew %v s", x)
		}
	}
	for _, bad := range []string{"2", "exp:mean=2", "uniform:1..2"} {
		if _, err := ParseDurations(bad); err == nil || !strings.Contains(err.Error(), "a duration with a unit") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := ParseDurations("gamma:mean=2s,cv=1.5"); err != nil {
		t.Error(err)
	}
}

// What String writes means the same when it is read again.
func FuzzParseDistribution(f *testing.F) {
	for s := range strings.SplitSeq(Forms, ", ") {
		f.Add(strings.TrimSpace(s))
	}
	f.Add("lognormal:mean=512,cv=0.8@16..8192")
	f.Add("empirical:0=1,0.5=512,1=8192@2..")
	nowhere := func(string) (io.ReadCloser, error) { return nil, os.ErrNotExist }
	f.Fuzz(func(t *testing.T, s string) {
		d, err := parseDistribution(s, plainNumber, nowhere)
		if err != nil {
			var e *SyntaxError
			if !errors.As(err, &e) || e.Column < 1 || e.Column > len(s)+1 {
				t.Fatalf("%q: %#v", s, err)
			}
			return
		}
		again, err := parseDistribution(d.String(), plainNumber, nowhere)
		if err != nil {
			t.Fatalf("%q became %q: %v", s, d, err)
		}
		a, b := d.Sample(Random(1, "f", 0)), again.Sample(Random(1, "f", 0))
		if a != b || a != a {
			t.Fatalf("%q: %v and %v", s, a, b)
		}
	})
}
