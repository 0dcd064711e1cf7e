package sim_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"sync"
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
	e, err := sim.NewFaultyEngine(o, v, o.FaultSet(v), nil)
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

// The same seed gives every token of an hour of real traffic at the same
// nanosecond, with drafts and faults that are drawn too; another seed does not.
func TestTheSameSeedGivesTheSameBits(t *testing.T) {
	list := conversation(t)
	if testing.Short() {
		list = list[:2000]
	}
	plain := "sim://llama3-8b@a100-80g"
	drawn := plain + "?speculative_tokens=3&fault=neighbour:at%3D10s"
	var wg sync.WaitGroup
	hashes := make([]uint64, 5)
	for i, x := range []struct {
		target string
		list   []traced
	}{{plain, list}, {plain, list}, {drawn, list[:1500]}, {drawn, list[:1500]}, {drawn + "&seed=2", list[:1500]}} {
		wg.Go(func() {
			o, err := sim.ParseTarget(x.target)
			if err != nil {
				t.Error(err)
				return
			}
			h, _, _ := replay(t, x.list, o)
			hashes[i] = h.hash
		})
	}
	wg.Wait()
	if hashes[0] != hashes[1] || hashes[2] != hashes[3] || hashes[2] == hashes[4] {
		t.Errorf("hashes of all token times: %x", hashes)
	}
}
