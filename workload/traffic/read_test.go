package traffic

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/stat"
)

var update = flag.Bool("update", false, "write the golden files")

func read(t *testing.T, text string) *Model {
	t.Helper()
	m, err := Read("traffic.yaml", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const small = `schema: tokamak.traffic/1
duration: 1h
clients:
  - name: chat
    rate: 2
    lengths:
      input-tokens: 100
      output-tokens: lognormal:mean=200,cv=0.5
`

func TestReadSmall(t *testing.T) {
	m := read(t, small)
	want := &Model{Duration: time.Hour, Clients: []Client{{Name: "chat", Rate: Curve{Rate: []float64{2}}, Arrival: Arrival{Process: Poisson},
		Lengths: []Lengths{{Input: stat.Constant(100), Output: stat.Lognormal{Average: 200, CV: 0.5}}}}}}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("%+v", m)
	}
}

// distributions of the model in a rapid test.
func drawDistribution(t *rapid.T, label string) stat.Distribution {
	positive := rapid.Float64Range(0.5, 5000)
	a, b := positive.Draw(t, label), rapid.Float64Range(0.1, 5).Draw(t, label)
	switch rapid.IntRange(0, 7).Draw(t, label) {
	case 0:
		return stat.Constant(a)
	case 1:
		return stat.Lognormal{Average: a, CV: b}
	case 2:
		return stat.Gamma{Average: a, CV: b}
	case 3:
		return stat.Weibull{Shape: b, Scale: a}
	case 4:
		return stat.Pareto{Body: stat.Lognormal{Average: a, CV: b}, From: 2 * a, Alpha: 1 + b}
	case 5:
		return stat.NewZipf(b, int64(a)+1, 16)
	case 6:
		return stat.Quantiles{Share: []float64{0, 0.5, 1}, Value: []float64{0.25, a, a + b}}
	}
	return stat.Clamped{Of: stat.Exponential{Average: a}, Low: 1, High: 10 * a}
}

func drawTable(t *rapid.T, n int, sum float64) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		total := 0.0
		for range n {
			x := rapid.Float64Range(0.01, 1).Draw(t, "chance")
			rows[i] = append(rows[i], x)
			total += x
		}
		for j := range rows[i] {
			rows[i][j] *= sum / total
		}
	}
	return rows
}

func drawClient(t *rapid.T, name string, duration time.Duration) Client {
	c := Client{Name: name, Lengths: []Lengths{{Input: drawDistribution(t, "input"), Output: drawDistribution(t, "output")}}}
	windows := rapid.IntRange(1, 30).Draw(t, "windows")
	for range windows {
		c.Rate.Rate = append(c.Rate.Rate, rapid.Float64Range(0.001, 10).Draw(t, "rate"))
	}
	if windows > 1 {
		c.Rate.Window = (duration-1)/time.Duration(windows) + 1
		if (duration-1)/c.Rate.Window+1 != time.Duration(windows) {
			c.Rate.Window, c.Rate.Rate = 0, c.Rate.Rate[:1]
		}
	}
	c.Arrival.Process = rapid.SampledFrom([]Process{Constant, Poisson, Gamma, Weibull, MarkovGaps}).Draw(t, "process")
	switch c.Arrival.Process {
	case Gamma, Weibull:
		c.Arrival.CV = []float64{1.5}
		if rapid.Bool().Draw(t, "cv a window") {
			c.Arrival.CV = nil
			for range c.Rate.Rate {
				c.Arrival.CV = append(c.Arrival.CV, rapid.Float64Range(0.1, 4).Draw(t, "cv"))
			}
		}
	case MarkovGaps:
		n := rapid.IntRange(1, 4).Draw(t, "states")
		c.Arrival.Markov = &Markov{Next: drawTable(t, n, 1)}
		for range n {
			c.Arrival.Markov.Gaps = append(c.Arrival.Markov.Gaps, drawDistribution(t, "gap"))
		}
	}
	if rapid.Bool().Draw(t, "ranks") {
		n := rapid.IntRange(2, 5).Draw(t, "bins")
		c.Lengths[0].Ranks = drawTable(t, n, 1/float64(n))
	}
	if rapid.Bool().Draw(t, "change") {
		c.Lengths = append(c.Lengths, Lengths{From: duration / 2, Input: drawDistribution(t, "input")})
	}
	if rapid.Bool().Draw(t, "sessions") {
		c.Sessions = &Sessions{Turns: stat.Uniform{Low: 1, High: 5}, Think: stat.Exponential{Average: 2.5}, Input: drawDistribution(t, "later"),
			Jump: rapid.Float64Range(0, 1).Draw(t, "jump"), InputAlike: rapid.Float64Range(0, MaxAlike).Draw(t, "input alike"),
			OutputAlike: rapid.SampledFrom([]float64{0, .5}).Draw(t, "output alike")}
		if rapid.Bool().Draw(t, "goes on") {
			odds := rapid.SliceOfN(rapid.Float64Range(1e-3, 1e3), 2, 9)
			c.Sessions.GoesOnFirst, c.Sessions.GoesOn = odds.Draw(t, "first"), odds.Draw(t, "later")
		}
	}
	if rapid.Bool().Draw(t, "prefix") {
		c.Prefix = &Prefix{Share: rapid.Float64Range(0, 1).Draw(t, "share"), Count: rapid.Int64Range(1, 50).Draw(t, "count"),
			Exponent: rapid.Float64Range(0, 3).Draw(t, "exponent"), Tokens: drawDistribution(t, "tokens")}
	}
	if rapid.Bool().Draw(t, "more") {
		c.Reasoning, c.Images, c.Errors = stat.Quantiles{Share: []float64{0, 1}, Value: []float64{0, 1}}, stat.Constant(2), 0.25
	}
	return c
}

func drawModel(t *rapid.T) *Model {
	m := &Model{Duration: time.Duration(rapid.Int64Range(1e9, 1e14).Draw(t, "duration"))}
	for i := range rapid.IntRange(1, 3).Draw(t, "clients") {
		m.Clients = append(m.Clients, drawClient(t, fmt.Sprintf("client-%d", i+1), m.Duration))
	}
	return m
}

// What Write writes, Read reads as the same model, and writes the same again.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		m.Source = Source{Format: "azure", Rows: 7, Skipped: 1, Begin: time.Unix(1700000000, 123).UTC()}
		m.Text = rapid.String().Draw(t, "text")
		m.Findings = rapid.SliceOf(rapid.String()).Draw(t, "findings")
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		var once, twice bytes.Buffer
		if err := m.Write(&once); err != nil {
			t.Fatal(err)
		}
		got, err := Read("traffic.yaml", bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatalf("%v\n%s", err, &once)
		}
		if err := got.Write(&twice); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(once.String(), twice.String()); diff != "" {
			t.Fatal(diff)
		}
		if !reflect.DeepEqual(stripped(got), stripped(m)) {
			t.Fatalf("read %+v\nwrote %+v", got, m)
		}
	})
}

// stripped is a model without what may be spelt in another way: think, which
// has units, and empty lists.
func stripped(m *Model) *Model {
	n := *m
	n.Clients = nil
	for _, c := range m.Clients {
		if c.Sessions != nil {
			s := *c.Sessions
			s.Think = nil
			c.Sessions = &s
		}
		n.Clients = append(n.Clients, c)
	}
	if len(n.Findings) == 0 {
		n.Findings = nil
	}
	return &n
}

func TestGoldenFile(t *testing.T) {
	m := example()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	const name = "testdata/example.yaml"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
	if _, err := Read(name, bytes.NewReader(want)); err != nil {
		t.Error(err)
	}
}

// example is a model that has everything.
func example() *Model {
	rates := make([]float64, 24)
	for i := range rates {
		rates[i] = 0.5 + float64(i%12)/4
	}
	return &Model{
		Source:   Source{Format: "azure-csv", Rows: 19366, Skipped: 2, Begin: time.Date(2023, 11, 16, 18, 15, 46, 680590000, time.UTC)},
		Duration: 24 * time.Hour, Text: "traffic.words",
		Findings: []string{"stamps are quantised to 3s: moments were spread", "the last third has 20 % fewer requests"},
		Clients: []Client{
			{Name: "chat", Rate: Curve{time.Hour, rates}, Arrival: Arrival{Process: Gamma, CV: []float64{2.1}},
				Lengths: []Lengths{{Input: stat.Lognormal{Average: 512, CV: 0.8}, Output: stat.Clamped{Of: stat.Gamma{Average: 200, CV: 1.2}, Low: 1, High: 4096},
					Ranks: [][]float64{{0.3, 0.2}, {0.2, 0.3}}}, {From: 12 * time.Hour, Input: stat.Constant(900), Output: stat.Uniform{Low: 10, High: 20}}},
				Sessions: &Sessions{Turns: stat.Quantiles{Share: []float64{0, 0.6, 1}, Value: []float64{1, 1, 8}}, Think: stat.Exponential{Average: 20}, Input: stat.Lognormal{Average: 80, CV: 1}, Jump: 0.7,
					GoesOnFirst: []float64{0.5, 1, 2}, GoesOn: []float64{3, 1, 0.2}, InputAlike: 0.3, OutputAlike: 0.6},
				Prefix: &Prefix{Share: 0.6, Count: 40, Exponent: 1.1, Tokens: stat.Uniform{Low: 100, High: 900}},
				Errors: 0.004},
			{Name: "agents", Rate: Curve{Rate: []float64{0.75}}, Arrival: Arrival{Process: MarkovGaps, Markov: &Markov{
				Gaps: []stat.Distribution{stat.Exponential{Average: 0.05}, stat.Lognormal{Average: 4, CV: 1.5}}, Next: [][]float64{{0.9, 0.1}, {0.4, 0.6}}}},
				Lengths:   []Lengths{{Input: stat.Pareto{Body: stat.Lognormal{Average: 3000, CV: 1}, From: 8000, Alpha: 2.2}, Output: stat.NewZipf(1.1, 64, 16)}},
				Reasoning: stat.Quantiles{Share: []float64{0, 1}, Value: []float64{0.2, 0.9}}, Images: stat.Constant(1), Limit: stat.Constant(900)},
		},
	}
}

func TestErrorsNameTheirPlace(t *testing.T) {
	lines := func(replace ...string) string { return strings.NewReplacer(replace...).Replace(small) }
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":     {lines("    rate: 2", "    rte: 2\n    rate: 2"), `traffic.yaml:5:5: unknown key "rte" in a client; it has name, window, rate`},
		"no schema":       {lines("schema: tokamak.traffic/1\n", ""), `traffic.yaml:1:1: expected schema: tokamak.traffic/1`},
		"other schema":    {lines("traffic/1", "traffic/9"), `traffic.yaml:1:9: expected schema tokamak.traffic/1, got "tokamak.traffic/9"`},
		"no unit":         {lines("1h", "60"), `traffic.yaml:2:11: expected a duration with its unit, such as 60s or 24h, got 60`},
		"distribution":    {lines("cv=0.5", "cv=x"), `traffic.yaml:8:44: expected a number, found "x"`},
		"of a file":       {lines("input-tokens: 100", "input-tokens: empirical:/etc/passwd"), `traffic.yaml:7:31: cannot read the file: quantiles such as`},
		"rate":            {lines("rate: 2", "rate: -2"), `traffic.yaml:5:11: expected a rate from 0 to 1e+06, got -2`},
		"rate in a list":  {lines("rate: 2", "window: 30m\n    rate: [1, -2]"), `traffic.yaml:6:15: expected a rate from 0 to 1e+06, got -2`},
		"too few rates":   {lines("rate: 2", "window: 10m\n    rate: [1, 2]"), `traffic.yaml:6:11: expected 6 rates, of windows of 10m0s over 1h0m0s, got 2`},
		"no window":       {lines("rate: 2", "rate: [1, 2]"), `traffic.yaml:5:11: expected window beside a list of rates`},
		"quoted number":   {lines("rate: 2", `rate: "2"`), `traffic.yaml:5:11: expected sessions begun a second`},
		"cv of poisson":   {lines("rate: 2", "rate: 2\n    cv: 3"), `traffic.yaml:6:9: a cv needs arrival gamma or weibull`},
		"process":         {lines("rate: 2", "rate: 2\n    arrival: possion"), `traffic.yaml:6:14: expected one of constant poisson gamma weibull markov, got "possion"`},
		"no token":        {lines("input-tokens: 100", "input-tokens: 0"), `traffic.yaml:7:7: expected at least 1, got 0`},
		"no such length":  {lines("input-tokens: 100", "input-tokens: 99999999999"), `traffic.yaml:7:7: expected a median of at most 10000000, got 1e+11`},
		"another file":    {"a private prompt, which nobody must see", `got text of 39 bytes`},
		"no lengths":      {"schema: tokamak.traffic/1\nduration: 1h\nclients:\n  - name: a\n    rate: 1\n", `traffic.yaml:4:5: expected input-tokens and output-tokens`},
		"twice":           {small + small[strings.Index(small, "  - name"):], `traffic.yaml:9:11: client 1 is named "chat" too`},
		"two documents":   {small + "---\na: 1\n", `expected one document, got a second`},
		"anchor":          {lines("rate: 2", "rate: &a 2"), `an anchor, alias or merge key`},
		"empty":           {"", `traffic.yaml: expected a traffic model`},
		"text":            {"hello", `traffic.yaml:1:1: expected a traffic model: a mapping with the keys schema`},
		"nothing at all":  {lines("rate: 2", "rate: 0"), `traffic.yaml:4:3: expected at least one rate above 0`},
		"row":             {lines("rate: 2", "rate: 2\n    arrival: markov\n    markov:\n      gaps:\n        - exp:mean=1\n        - 2\n      next:\n        - [1, 0]\n        - [0.5, 0.4]"), `traffic.yaml:13:11: expected chances that add up to 1, got 0.9`},
		"left for good":   {lines("rate: 2", "rate: 2\n    arrival: markov\n    markov:\n      gaps:\n        - exp:mean=1\n        - 2\n      next:\n        - [0, 1]\n        - [0, 1]"), `traffic.yaml:12:9: expected each state to be reached from every other`},
		"odds of one":     {lines("rate: 2", "rate: 2\n    sessions: {turns: 2, goes-on: [1]}"), `traffic.yaml:6:35: expected the relative odds of 2 to 100 bins, got 1`},
		"no odds":         {lines("rate: 2", "rate: 2\n    sessions: {turns: 2, goes-on-first: [1, 0]}"), `traffic.yaml:6:45: expected relative odds from 1e-06 to 1e+06, got 0`},
		"all alike":       {lines("rate: 2", "rate: 2\n    sessions: {turns: 2, output-alike: 1}"), `traffic.yaml:6:40: expected a correlation from 0 to 0.99, got 1`},
		"opposite":        {lines("rate: 2", "rate: 2\n    sessions: {turns: 2, input-alike: -0.1}"), `traffic.yaml:6:39: expected a correlation from 0 to 0.99, got -0.1`},
		"deep":            {strings.Repeat("[", 100), `traffic.yaml:1:1: expected at most 16 levels of nesting`},
		"deep dashes":     {strings.Repeat("- ", 100), `traffic.yaml:1:1: expected at most 16 levels of nesting`},
		"given twice":     {lines("rate: 2", "rate: 2\n    rate: 3"), `traffic.yaml:6:5:`},
		"value of no key": {lines("rate: 2", "rate:"), `traffic.yaml:5:5: rate has no value`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read("traffic.yaml", strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

// Whatever is read: errors have places in the file, and a model passes its own
// check.
func FuzzRead(f *testing.F) {
	f.Add([]byte(small))
	var b bytes.Buffer
	if err := example().Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read("f", bytes.NewReader(data))
		if err == nil {
			if err := m.Check(); err != nil {
				t.Fatal(err)
			}
			return
		}
		errs, ok := errors.AsType[Errors](err)
		if !ok || len(errs) == 0 || len(errs) > maxErrors {
			t.Fatalf("%#v", err)
		}
	})
}
