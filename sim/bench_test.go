package sim_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim"
)

type traced struct{ at, input, output int64 }

// conversation reads the public Azure 2023 conversation trace, which is not
// part of the repository.
func conversation(tb testing.TB) []traced {
	tb.Helper()
	f, err := os.Open(filepath.Join("..", "..", "shared", "traces", "azure2023_conv.csv"))
	if err != nil {
		tb.Skip("the Azure 2023 conversation trace is not there: ", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	var list []traced
	var start time.Time
	for _, r := range rows[1:] {
		at, err := time.Parse("2006-01-02 15:04:05.9999999", r[0])
		if err != nil {
			tb.Fatal(err)
		}
		if start.IsZero() {
			start = at
		}
		in, err1 := strconv.ParseInt(r[1], 10, 64)
		out, err2 := strconv.ParseInt(r[2], 10, 64)
		if err1 != nil || err2 != nil {
			tb.Fatal(r)
		}
		list = append(list, traced{int64(at.Sub(start)), in, out})
	}
	return list
}

type tally struct {
	tokens, ended int64
	hash          uint64
}

func (t *tally) Tokens(n, at int64) { t.tokens += n; t.hash = t.hash*1099511628211 ^ uint64(at) }
func (t *tally) Finished(_ sim.Finish, u sim.Usage, at int64) {
	t.ended++
	t.hash = t.hash*1099511628211 ^ uint64(at)
}

func replay(tb testing.TB, list []traced, o sim.Options) (tally, int64, sim.State) {
	tb.Helper()
	v := clock.NewVirtual(time.Unix(0, 0))
	e, err := sim.NewEngine(o, v)
	if err != nil {
		tb.Fatal(err)
	}
	var t tally
	refused := int64(0)
	for i, r := range list {
		v.Wait(r.at)
		q := &sim.Request{Prompt: []sim.Span{{ID: uint64(i) + 1, Tokens: r.input}}, MaxTokens: r.output, Listener: &t}
		if e.Submit(q) != nil {
			refused++
		}
	}
	v.Wait(clock.Forever)
	if t.ended+refused != int64(len(list)) {
		tb.Fatalf("%d ended, %d refused, of %d", t.ended, refused, len(list))
	}
	return t, v.Now(), e.State()
}

// BenchmarkConversationHour replays an hour of real traffic (19,366 requests) in
// virtual time.
func BenchmarkConversationHour(b *testing.B) {
	list := conversation(b)
	o, err := sim.ParseTarget("sim://llama3-8b@a100-80g")
	if err != nil {
		b.Fatal(err)
	}
	var last tally
	for b.Loop() {
		t, end, s := replay(b, list, o)
		if last.ended > 0 && last != t {
			b.Fatal("two runs differ")
		}
		last = t
		b.ReportMetric(float64(t.tokens), "tokens")
		b.ReportMetric(float64(s.Counts.Steps), "steps")
		b.ReportMetric(float64(end)/1e9, "virtual-s")
	}
}
