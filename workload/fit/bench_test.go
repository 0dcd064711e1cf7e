package fit

import (
	"io"
	"math"
	"runtime"
	"strconv"
	"testing"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// synthetic is a log of gamma arrivals with lognormal lengths, of a number of
// tenants.
type synthetic struct {
	n, i, tenants int
	at            float64
	row           trace.Row
	names         []string
	popular       stat.Zipf
}

func newSynthetic(n, tenants int) *synthetic {
	s := &synthetic{n: n, tenants: tenants, popular: stat.NewZipf(1, int64(tenants), 1)}
	for i := range tenants {
		s.names = append(s.names, "tenant-"+string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	return s
}

func (s *synthetic) Next() (*trace.Row, error) {
	if s.i == s.n {
		return nil, io.EOF
	}
	r := stat.Random(7, "synthetic", uint64(s.i))
	day := float64(s.n) / 12
	rate := 12 * (1 + .6*math.Sin(2*math.Pi*s.at/day))
	s.at += stat.Gamma{Average: 1, CV: 1.6}.Sample(r) / rate
	in := stat.Lognormal{Average: 900, CV: 1.2}.Sample(r)
	s.row = trace.Row{Format: "synthetic", Timed: true, At: int64(s.at * 1e9), Input: int64(in) + 1,
		Output: int64(stat.Gamma{Average: 200, CV: .9}.Sample(r)) + 1}
	if s.tenants > 0 {
		s.row.Tenant = s.names[int(s.popular.Sample(r))-1]
	}
	s.i++
	return &s.row, nil
}

// BenchmarkFit fits a million rows of one client and of twenty tenants. Peak
// memory is what the runtime took from the system.
func BenchmarkFit(b *testing.B) {
	for name, tenants := range map[string]int{"one": 0, "tenants": 20} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := Fit(b.Context(), newSynthetic(1_000_000, tenants), Options{}); err != nil {
					b.Fatal(err)
				}
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/1e6, "MB")
		})
	}
}

// spoken is synthetic with texts instead of lengths: one of three system
// prompts of about a thousand tokens, and 1,200 bytes of its own.
type spoken struct {
	*synthetic
	text  string
	turns [1]trace.Turn
}

func newSpoken(n int) *spoken {
	return &spoken{synthetic: newSynthetic(n, 0), text: wording(1, 200_000)}
}

func (s *spoken) Next() (*trace.Row, error) {
	r, err := s.synthetic.Next()
	if err != nil {
		return nil, err
	}
	k := s.i % 10
	system := s.text[:4000]
	if k > 5 {
		system = s.text[4000:8000]
	}
	at := 10_000 + s.i*97%900_000
	s.turns[0].Messages = append(s.turns[0].Messages[:0], trace.Message{Role: "system", Text: system},
		trace.Message{Role: "user", Text: strconv.Itoa(s.i) + s.text[at:at+1200]})
	r.Input, r.Turns = 1000+300+8, s.turns[:]
	return r, nil
}

// BenchmarkFitTexts fits a million rows of texts, 5 KB each.
func BenchmarkFitTexts(b *testing.B) {
	for b.Loop() {
		if _, _, err := Fit(b.Context(), newSpoken(1_000_000), Options{}); err != nil {
			b.Fatal(err)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "MB")
}
