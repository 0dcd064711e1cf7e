package traffic

import (
	"bytes"
	"hash/fnv"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/stat"
)

type sampling interface {
	Helper()
	Fatal(args ...any)
}

func sampler(t sampling, m *Model, o SampleOptions) *Sampler {
	t.Helper()
	s, err := m.Sampler(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// all returns the sessions of a sampler, at most n.
func all(s *Sampler, n int) []Draw {
	var list []Draw
	for len(list) < n {
		d, ok := s.Next()
		if !ok {
			break
		}
		list = append(list, d)
	}
	return list
}

var sameDraw = cmpopts.IgnoreUnexported(Draw{})

// one returns a model of one client of lengths 100 and 10.
func one(d time.Duration, c Client) *Model {
	c.Name = "a"
	c.Lengths = []Lengths{{Input: stat.Constant(100), Output: stat.Constant(10)}}
	return &Model{Duration: d, Clients: []Client{c}}
}

// By hand: even gaps at 2/s for 10 s, then nothing for 10 s, then 1/s. The
// phase u stands for all: session k is at (k+u)/2 s, until 20 of them are over.
func TestEvenGapsByHand(t *testing.T) {
	m := one(30*time.Second, Client{Rate: Curve{10 * time.Second, []float64{2, 0, 1}}, Arrival: Arrival{Process: Constant}})
	list := all(sampler(t, m, SampleOptions{Seed: 4}), 1000)
	if len(list) != 30 {
		t.Fatalf("%d sessions, want 30", len(list))
	}
	u := float64(list[0].At) / 0.5e9
	if u < 0 || u >= 1 {
		t.Fatalf("the first is at %v", time.Duration(list[0].At))
	}
	for k, d := range list {
		want := (float64(k) + u) / 2
		if k >= 20 {
			want = 20 + float64(k-20) + u
		}
		if math.Abs(float64(d.At)-want*1e9) > 2 {
			t.Errorf("session %d is at %v, want %.9fs", k, time.Duration(d.At), want)
		}
		if d.Input != 100 || d.Output != 10 || d.Turns != 1 || d.Index != int64(k) {
			t.Errorf("session %d is %+v", k, d)
		}
	}
}

// Operational time reaches a window's border exactly at the border, wherever
// windows lie and however often the curve has begun again.
func TestInversionAtBorders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		window := time.Duration(rapid.Int64Range(1, 1e12).Draw(t, "window"))
		n := rapid.IntRange(1, 20).Draw(t, "windows")
		cut := time.Duration(rapid.Int64Range(0, int64(window)-1).Draw(t, "cut"))
		c := Curve{Window: window}
		for range n {
			c.Rate = append(c.Rate, rapid.Float64Range(0.001, 1000).Draw(t, "rate"))
		}
		w := newWalk(c, time.Duration(n)*window-cut, rapid.Float64Range(0.01, 100).Draw(t, "factor"))
		for range 3*n + 1 {
			if w.width > 0 {
				if got := w.moment(w.base); got != w.start {
					t.Fatalf("base of window %d is at %d, want %d", w.number, got, w.start)
				}
				if got := w.moment(w.base + w.width); got != w.end {
					t.Fatalf("end of window %d is at %d, want %d", w.number, got, w.end)
				}
			}
			end := w.end
			w.next()
			if w.start != end {
				t.Fatalf("window %d begins at %d, the one before ended at %d", w.number, w.start, end)
			}
		}
	})
}

// A model's sessions come in order, within its time, and the same ones for the
// same seed, whatever is asked of them in between.
func TestSameSeedSameSessions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		for i := range m.Clients { // at most some hundreds of sessions
			r := m.Clients[i].Rate.Rate
			for j := range r {
				r[j] *= 300 / m.Duration.Seconds() / 10
			}
		}
		o := SampleOptions{Seed: rapid.Uint64().Draw(t, "seed"), Scale: rapid.Float64Range(0.2, 3).Draw(t, "scale"),
			ScaleBy: rapid.SampledFrom([]Scaling{ByRate, ByClients}).Draw(t, "by")}
		list := all(sampler(t, m, o), 2000)
		s := sampler(t, m, o)
		for i, want := range list {
			d, ok := s.Next()
			if !ok || !cmp.Equal(d, want, sameDraw) {
				t.Fatalf("session %d: %+v, want %+v", i, d, want)
			}
			turns := s.Turns(&d, nil)
			if int64(len(turns)) != d.Turns || turns[0].Input != d.Input || turns[0].Output != d.Output {
				t.Fatalf("session %d: %+v has the turns %+v", i, d, turns)
			}
			if d.At < 0 || d.At >= int64(m.Duration) || i > 0 && d.At < list[i-1].At {
				t.Fatalf("session %d is at %v", i, time.Duration(d.At))
			}
		}
		moments := sampler(t, m, o)
		for i := range list {
			if at, ok := moments.NextMoment(); !ok || at != list[i].At {
				t.Fatalf("moment %d: %v", i, time.Duration(at))
			}
		}
	})
}

// Session i of a client does not change with other clients, nor with the rate.
func TestDrawsAreIndependent(t *testing.T) {
	m := example()
	alone := *m
	alone.Clients = m.Clients[:1]
	pick := func(m *Model, o SampleOptions) map[int64]Draw {
		got := map[int64]Draw{}
		for _, d := range all(sampler(t, m, o), 5000) {
			if d.Client == 0 && d.Replica == 0 {
				got[d.Index] = d
			}
		}
		return got
	}
	o := SampleOptions{Seed: 3, Duration: 10 * time.Minute}
	with, without := pick(m, o), pick(&alone, o)
	if diff := cmp.Diff(with, without, sameDraw); diff != "" {
		t.Error(diff)
	}
	if len(with) < 200 {
		t.Fatalf("only %d sessions", len(with))
	}
	swapped := *m
	swapped.Clients = []Client{m.Clients[1], m.Clients[0]}
	for _, d := range all(sampler(t, &swapped, o), 5000) {
		if want := with[d.Index]; d.Client == 1 && !cmp.Equal(d, want, sameDraw, cmpopts.IgnoreFields(Draw{}, "Client")) {
			t.Fatalf("%+v, want %+v", d, want)
		}
	}
	o.Scale = 2
	for i, d := range pick(m, o) {
		if want, ok := with[i]; ok && !cmp.Equal(d, want, sameDraw, cmpopts.IgnoreFields(Draw{}, "At")) {
			t.Fatalf("at twice the rate %+v, want %+v", d, want)
		}
	}
	o.ScaleBy = ByClients
	if diff := cmp.Diff(with, pick(m, o), sameDraw); diff != "" {
		t.Errorf("with clients added: %s", diff)
	}
}

// At scale s by rate, session i comes at 1/s of its time where the rate is
// constant: gaps keep their shape.
func TestScaleByRateKeepsShape(t *testing.T) {
	for _, a := range []Arrival{{Process: Gamma, CV: []float64{3}}, {Process: Weibull, CV: []float64{2}}, {Process: MarkovGaps, Markov: example().Clients[1].Arrival.Markov}} {
		m := one(time.Hour, Client{Rate: Curve{Rate: []float64{1}}, Arrival: a})
		slow := all(sampler(t, m, SampleOptions{Seed: 1}), 1000)
		fast := all(sampler(t, m, SampleOptions{Seed: 1, Scale: 4}), 1000)
		for i := range slow {
			if diff := slow[i].At/4 - fast[i].At; diff < -1 || diff > 1 {
				t.Fatalf("%s: session %d is at %d and %d", a.Process, i, slow[i].At, fast[i].At)
			}
		}
	}
}

// counts returns how many sessions fall into each stretch of a time.
func counts(list []Draw, length, whole time.Duration) []float64 {
	n := make([]float64, whole/length)
	for _, d := range list {
		if i := d.At / int64(length); i < int64(len(n)) {
			n[i]++
		}
	}
	return n
}

func dispersion(n []float64) float64 {
	mean, sd := stat.MeanSD(n)
	return sd * sd / mean
}

// Over many seeds the mean count of each window is what the rate says, within
// five standard errors, for every process and for a CV that changes: the
// process is in its equilibrium everywhere.
func TestWindowsHoldTheirRate(t *testing.T) {
	rates := []float64{2, 0.5, 0, 4}
	for _, a := range []Arrival{{Process: Constant}, {Process: Poisson}, {Process: Gamma, CV: []float64{4}}, {Process: Gamma, CV: []float64{0.5, 5, 1, 3}},
		{Process: Weibull, CV: []float64{3}}, {Process: MarkovGaps, Markov: example().Clients[1].Arrival.Markov}} {
		m := one(40*time.Second, Client{Rate: Curve{10 * time.Second, rates}, Arrival: a})
		const seeds = 3000
		windows := make([][]float64, len(rates))
		for seed := range uint64(seeds) {
			for i, n := range counts(all(sampler(t, m, SampleOptions{Seed: seed}), 10000), 10*time.Second, 40*time.Second) {
				windows[i] = append(windows[i], n)
			}
		}
		for i, n := range windows {
			mean, sd := stat.MeanSD(n)
			if math.Abs(mean-10*rates[i]) > 5*sd/math.Sqrt(seeds)+1e-9 {
				t.Errorf("%s cv %v: window %d has %.3f sessions on average, want %v", a.Process, a.CV, i, mean, 10*rates[i])
			}
		}
	}
}

// A long stretch has its CV of gaps and, over long times, an index of
// dispersion of CV². Scaling by clients leaves the index of dispersion at a
// time as it is, scaling by rate that at a time divided by the scale.
func TestScaleAndDispersion(t *testing.T) {
	const long = 40 * time.Hour
	m := one(long, Client{Rate: Curve{Rate: []float64{1}}, Arrival: Arrival{Process: Gamma, CV: []float64{2}}})
	measure := func(o SampleOptions, at time.Duration) (cv, index float64) {
		list := all(sampler(t, m, o), 10_000_000)
		gaps := make([]float64, len(list)-1)
		for i := range gaps {
			gaps[i] = float64(list[i+1].At - list[i].At)
		}
		mean, sd := stat.MeanSD(gaps)
		return sd / mean, dispersion(counts(list, at, long))
	}
	near := func(what string, got, want, share float64) {
		if math.Abs(got-want) > share*want {
			t.Errorf("%s: %.3f, want %.3f", what, got, want)
		}
	}
	cv, index := measure(SampleOptions{Seed: 1}, 20*time.Second)
	near("cv", cv, 2, 0.03)
	_, far := measure(SampleOptions{Seed: 1}, 5*time.Minute)
	near("dispersion over a long time", far, 4, 0.15)
	cvFast, fast := measure(SampleOptions{Seed: 2, Scale: 4}, 5*time.Second)
	near("cv at four times the rate", cvFast, 2, 0.03)
	near("dispersion at four times the rate, over a fourth of the time", fast, index, 0.1)
	cvMany, many := measure(SampleOptions{Seed: 3, Scale: 4, ScaleBy: ByClients}, 20*time.Second)
	near("dispersion of four clients", many, index, 0.1)
	if cvMany > 1.8 {
		t.Errorf("gaps of four clients together have a cv of %.2f: expected them smoother", cvMany)
	}
	list := all(sampler(t, m, SampleOptions{Seed: 3, Scale: 2.5, ScaleBy: ByClients}), 10_000_000)
	near("sessions of 2.5 clients", float64(len(list)), 2.5*long.Seconds(), 0.02)
}

// The time line begins again: a window has the same rate in each round, and a
// notice says so.
func TestLongerAndShorter(t *testing.T) {
	m := one(25*time.Second, Client{Rate: Curve{10 * time.Second, []float64{4, 0, 2}}, Arrival: Arrival{Process: Constant}})
	s := sampler(t, m, SampleOptions{Duration: 75 * time.Second})
	if n := s.Notices(); len(n) != 1 || !strings.Contains(n[0], "covers 25s: its rates begin again every 25s") {
		t.Errorf("notices %q", n)
	}
	n := counts(all(s, 1000), 5*time.Second, 75*time.Second)
	want := []float64{20, 20, 0, 0, 10, 20, 20, 0, 0, 10, 20, 20, 0, 0, 10}
	for i := range want {
		if math.Abs(n[i]-want[i]) > 1 {
			t.Errorf("stretch %d has %v, want %v", i, n[i], want[i])
		}
	}
	if e := m.Expect(SampleOptions{Duration: 75 * time.Second, Scale: 2}); e.Sessions != 300 || e.PeakRate != 8 {
		t.Errorf("expected %+v", e)
	}
	short := all(sampler(t, m, SampleOptions{Duration: 3 * time.Second}), 1000)
	if len(short) < 11 || len(short) > 13 || short[len(short)-1].At >= 3e9 {
		t.Errorf("%d sessions in 3 s", len(short))
	}
	if e := m.Expect(SampleOptions{Duration: 15 * time.Second}); e.Sessions != 40 || e.PeakRate != 4 {
		t.Errorf("expected %+v", e)
	}
}

// The grid of ranks holds, and each length keeps its own distribution, also
// where the grid's columns do not add up.
func TestRanks(t *testing.T) {
	m := one(time.Hour, Client{Rate: Curve{Rate: []float64{20}}})
	m.Clients[0].Lengths = []Lengths{{Input: stat.Uniform{Low: 1, High: 1000}, Output: stat.Uniform{Low: 1, High: 1000}, Ranks: [][]float64{{0.5, 0}, {0.25, 0.25}}}}
	list := all(sampler(t, m, SampleOptions{Seed: 1}), 1_000_000)
	cells := [2][2]float64{}
	for _, d := range list {
		cells[(d.Input-1)/500][(d.Output-1)/500] += 1 / float64(len(list))
	}
	// Balanced: the first row has nothing in the second column, so all of the
	// second column is in the second row, and nothing is left for its first.
	for i, want := range [][]float64{{0.5, 0}, {0, 0.5}} {
		for j := range want {
			if math.Abs(cells[i][j]-want[j]) > 0.02 {
				t.Errorf("cell %d,%d has %.3f, want %v", i, j, cells[i][j], want[j])
			}
		}
	}
	m.Clients[0].Lengths[0].Ranks = [][]float64{{0.4, 0.1}, {0.1, 0.4}}
	same := 0.0
	for _, d := range all(sampler(t, m, SampleOptions{Seed: 1}), 1_000_000) {
		if (d.Input > 500) == (d.Output > 500) {
			same += 1 / float64(len(list))
		}
	}
	if math.Abs(same-0.8) > 0.02 {
		t.Errorf("%.3f of the pairs are in the same half, want 0.8", same)
	}
}

// Turns: their number, that a length stays where it does not jump, and think
// times.
func TestTurns(t *testing.T) {
	m := one(time.Hour, Client{Rate: Curve{Rate: []float64{2}}, Sessions: &Sessions{Turns: stat.Constant(5), Think: stat.Constant(1.5), Jump: 0.25}})
	m.Clients[0].Lengths[0].Input = stat.Uniform{Low: 1, High: 1_000_000}
	s := sampler(t, m, SampleOptions{Seed: 1})
	stayed, n := 0.0, 0.0
	for {
		d, ok := s.Next()
		if !ok {
			break
		}
		turns := s.Turns(&d, nil)
		if len(turns) != 5 || turns[0].Think != 0 || turns[4].Think != 1500*time.Millisecond {
			t.Fatalf("%+v", turns)
		}
		for i := 1; i < 5; i++ {
			n++
			if turns[i].Input == turns[i-1].Input {
				stayed++
			}
		}
	}
	if math.Abs(stayed/n-0.75) > 0.02 {
		t.Errorf("%.3f of the turns keep their length, want 0.75", stayed/n)
	}
}

// Prefixes: the share that has one, their popularity by Zipf's law, and that a
// prefix always has the same length.
func TestPrefixes(t *testing.T) {
	m := one(time.Hour, Client{Rate: Curve{Rate: []float64{10}}, Prefix: &Prefix{Share: 0.6, Count: 3, Exponent: 1, Tokens: stat.Uniform{Low: 1, High: 1000}}})
	seen, tokens, n := [4]float64{}, [4]int64{}, 0.0
	for _, d := range all(sampler(t, m, SampleOptions{Seed: 2}), 1_000_000) {
		n++
		seen[d.Prefix]++
		if tokens[d.Prefix] == 0 {
			tokens[d.Prefix] = d.PrefixTokens
		}
		if d.PrefixTokens != tokens[d.Prefix] || (d.Prefix == 0) != (d.PrefixTokens == 0) {
			t.Fatalf("%+v, before %v", d, tokens)
		}
	}
	for rank, want := range []float64{0.4, 0.6 * 6 / 11, 0.6 * 3 / 11, 0.6 * 2 / 11} {
		if math.Abs(seen[rank]/n-want) > 0.015 {
			t.Errorf("rank %d has %.3f of the sessions, want %.3f", rank, seen[rank]/n, want)
		}
	}
}

func TestBadOptions(t *testing.T) {
	m := one(time.Hour, Client{Rate: Curve{Rate: []float64{1000}}})
	for want, o := range map[string]SampleOptions{
		"expected a scale above 0":                         {Scale: -1},
		"expected a scale by rate or clients":              {ScaleBy: "size"},
		"expected a duration above 0":                      {Duration: -time.Second},
		`client "a" has 3.6e+09 sessions in 1h, more than`: {Scale: 1000},
		"expected at most 100000 clients, got a scale of":  {Scale: 200_000, ScaleBy: ByClients},
		`client "a" has 3.15e+10 sessions in 8760h, more`:  {Duration: 365 * 24 * time.Hour},
	} {
		if _, err := m.Sampler(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	m.Clients[0].Name = ""
	if _, err := m.Sampler(SampleOptions{}); err == nil || !strings.Contains(err.Error(), "clients[0].name: expected a name") {
		t.Error(err)
	}
}

// A sampler without an end goes on.
func TestEndless(t *testing.T) {
	m := one(time.Second, Client{Rate: Curve{Rate: []float64{3}}})
	if n := len(all(sampler(t, m, SampleOptions{Duration: endless}), 10_000)); n != 10_000 {
		t.Errorf("%d sessions", n)
	}
}

// The same bits on every architecture, also of a file that says nothing of how the
// turns of a session go together.
func TestGoldenSessions(t *testing.T) {
	apart := example()
	for i := range apart.Clients {
		if c := apart.Clients[i].Sessions; c != nil {
			apart.Clients[i].Sessions = &Sessions{Turns: c.Turns, Think: c.Think, Input: c.Input, Jump: c.Jump}
		}
	}
	for want, m := range map[uint64]*Model{0x7b586ffdbbb45703: example(), 0x76c0d5b56d1ebf2d: apart} {
		if got := bitsOf(sampler(t, m, SampleOptions{Seed: 7, Scale: 2.5, ScaleBy: ByClients})); got != want {
			t.Errorf("0x%016x, want 0x%016x", got, want)
		}
	}
}

// bitsOf hashes the first 5000 sessions.
func bitsOf(s *Sampler) uint64 {
	h := fnv.New64a()
	for range 5000 {
		d, _ := s.Next()
		list := []int64{d.At, int64(d.Client), d.Index, d.Input, d.Output, d.Reasoning, d.Images, d.Prefix, d.PrefixTokens}
		for _, n := range s.Turns(&d, nil) {
			list = append(list, n.Input, n.Output, int64(n.Think), n.Reasoning)
		}
		var b bytes.Buffer
		for _, x := range list {
			for i := range 8 {
				b.WriteByte(byte(x >> (8 * i)))
			}
		}
		_, _ = h.Write(b.Bytes())
	}
	return h.Sum64()
}

// benchmarked is a mixture of 40 clients of the usual families.
func benchmarked() *Model {
	m := &Model{Duration: time.Hour}
	for i := range 40 {
		rates := make([]float64, 60)
		for j := range rates {
			rates[j] = 8 * (1 + 0.5*math.Sin(float64(i+j)/7))
		}
		c := Client{Name: "client-" + strings.Repeat("i", i+1), Rate: Curve{time.Minute, rates}, Arrival: Arrival{Process: Gamma, CV: []float64{1.4}},
			Lengths: []Lengths{{Input: stat.Pareto{Body: stat.Lognormal{Average: 1000, CV: 1.2}, From: 4000, Alpha: 2.4}, Output: stat.Lognormal{Average: 200, CV: 0.9},
				Ranks: [][]float64{{0.1, 0.08, 0.07}, {0.08, 0.1, 0.07}, {0.07, 0.07, 0.36}}}}}
		if i%2 == 1 {
			c.Arrival.Process = Weibull
			c.Prefix = &Prefix{Share: 0.7, Count: 50, Exponent: 1.1, Tokens: stat.Uniform{Low: 100, High: 1000}}
		}
		m.Clients = append(m.Clients, c)
	}
	return m
}

// BenchmarkMillion samples a million sessions, moments and lengths, on one
// core: one operation is all of them.
func BenchmarkMillion(b *testing.B) {
	m := benchmarked()
	for b.Loop() {
		s, err := m.Sampler(SampleOptions{Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for n < 1_000_000 {
			if _, ok := s.Next(); !ok {
				break
			}
			n++
		}
		if n < 1_000_000 {
			b.Fatalf("only %d sessions", n)
		}
	}
}
