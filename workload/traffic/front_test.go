package traffic

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// Prefixes that stand out have their share and length, the others Zipf's law
// behind them; both survive the file.
func TestFrontsThatStandOut(t *testing.T) {
	m := &Model{Duration: time.Hour, Clients: []Client{{Name: "c", Rate: Curve{Rate: []float64{10}}, Arrival: Arrival{Process: Poisson},
		Lengths: []Lengths{{Input: stat.Constant(5), Output: stat.Constant(5)}},
		Prefix:  &Prefix{Share: .5, Top: []Front{{Share: .6, Tokens: 512}, {Share: .2, Tokens: 64}}, Count: 4, Exponent: 0, Tokens: stat.Constant(100)}}}}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	m, err := Read("traffic.yaml", &file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sampler(SampleOptions{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	counts, all := map[int64]float64{}, 0.0
	for d, ok := s.Next(); ok; d, ok = s.Next() {
		all++
		counts[d.Prefix]++
		if want := map[int64]int64{0: 0, 1: 512, 2: 64}[d.Prefix]; d.Prefix <= 2 && d.PrefixTokens != want || d.Prefix > 2 && d.PrefixTokens != 100 {
			t.Fatalf("prefix %d has %d tokens", d.Prefix, d.PrefixTokens)
		}
	}
	for rank, want := range map[int64]float64{0: .5, 1: .3, 2: .1, 3: .025, 4: .025, 5: .025, 6: .025} {
		if got := counts[rank] / all; math.Abs(got-want) > 4*math.Sqrt(want/all) {
			t.Errorf("prefix %d has a share of %.4f, want %.3f", rank, got, want)
		}
	}
	m.Clients[0].Prefix.Top[0].Share = .9
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "prefix.top") {
		t.Errorf("shares of 1.1: %v", err)
	}
}
