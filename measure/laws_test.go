package measure

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/record"
)

// drawChunks makes the chunks of a response whose stamps may repeat and whose
// token counts may be missing.
func drawChunks(t *rapid.T) record.Chunks {
	var c record.Chunks
	at := int64(1e9)
	known := rapid.Bool().Draw(t, "known")
	for range rapid.IntRange(0, 40).Draw(t, "chunks") {
		at += rapid.SampledFrom([]int64{0, 1, 1000, 20e6, 5e9, 1 << 40}).Draw(t, "gap")
		c.At = append(c.At, at)
		c.Choice = append(c.Choice, rapid.Int32Range(0, 2).Draw(t, "choice"))
		if known {
			c.Tokens = append(c.Tokens, rapid.Int32Range(0, 300).Draw(t, "tokens"))
		}
	}
	return c
}

// naiveGaps does what arrivalGaps does, in the plainest way.
func naiveGaps(c *record.Chunks) []gap {
	var out []gap
	for choice := int32(0); choice <= 2; choice++ {
		var at []int64
		var n []int32
		for i := range c.At {
			if c.Choice[i] != choice {
				continue
			}
			tokens := int32(-1)
			if c.Tokens != nil {
				tokens = c.Tokens[i]
			}
			if k := len(at) - 1; k >= 0 && at[k] == c.At[i] {
				if tokens >= 0 {
					n[k] += tokens
				}
				continue
			}
			at, n = append(at, c.At[i]), append(n, tokens)
		}
		for i := len(at) - 1; i > 0 && n[i] == 0; i-- {
			n[i] = -1
		}
		for i := 1; i < len(at); i++ {
			out = append(out, gap{at[i] - at[i-1], n[i]})
		}
	}
	return out
}

func TestGapsSurviveTheirStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s gapStore
		var refs []gapRef
		var want [][]gap
		for range rapid.IntRange(1, 20).Draw(t, "requests") {
			c := drawChunks(t)
			gaps, _ := arrivalGaps(&c, nil)
			if d := cmp.Diff(naiveGaps(&c), gaps, cmp.AllowUnexported(gap{})); d != "" {
				t.Fatal(d)
			}
			refs, want = append(refs, s.add(gaps)), append(want, gaps)
		}
		for i, r := range refs {
			if got := s.decode(r, nil); !slices.Equal(got, want[i]) {
				t.Fatalf("request %d: %v, want %v", i, got, want[i])
			}
		}
	})
}

// drawAttempts makes requests of one to three attempts each.
func drawAttempts(t *rapid.T) []record.Attempt {
	var out []record.Attempt
	outcomes := []record.Outcome{record.OK, record.Rejected, record.Cut, record.Timeout, record.Unsent}
	for id := range rapid.Int64Range(1, 30).Draw(t, "requests") {
		intended := rapid.Int64Range(0, 1e9).Draw(t, "intended")
		attempts := rapid.Int64Range(1, 3).Draw(t, "attempts")
		for n := int64(1); n <= attempts; n++ {
			var a record.Attempt
			a.RequestID, a.Attempt, a.Intended = id, n, record.Some(intended)
			a.Outcome = record.Rejected
			if n == attempts {
				a.Outcome = rapid.SampledFrom(outcomes).Draw(t, "outcome")
			}
			a.WriteStart = record.Some(intended + n*1e6)
			a.Sent = a.WriteStart
			c := drawChunks(t)
			if k := c.Len(); k > 0 && a.Outcome == record.OK {
				a.Chunks = c
				a.FirstToken, a.LastToken = record.Some(c.At[0]), record.Some(c.At[k-1])
			}
			a.Ended = record.Some(intended + 5e9)
			out = append(out, a)
		}
	}
	return out
}

// TestOrderDoesNotMatter: the same attempts in any order, as workers or a
// recovered file bring them, give the same result.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		attempts := drawAttempts(t)
		a, b := New(Options{}), New(Options{})
		for i := range attempts {
			a.Add(&attempts[i])
		}
		for _, i := range rapid.Permutation(indices(len(attempts))).Draw(t, "order") {
			b.Add(&attempts[i])
		}
		if d := cmp.Diff(a.Result(), b.Result()); d != "" {
			t.Error(d)
		}
		r := a.Result().Requests
		if r.Due != r.OK+r.Failed+r.Cut+r.Unsent || r.Sent != r.Due-r.Unsent {
			t.Errorf("%+v does not add up", r)
		}
	})
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// TestNothingOfAnAttemptIsKept: the caller may use its memory again.
func TestNothingOfAnAttemptIsKept(t *testing.T) {
	a := New(Options{})
	x := record.Attempt{Chunks: record.Chunks{At: []int64{1e6, 2e6, 4e6}, Tokens: []int32{1, 1, 1}}}
	x.Outcome, x.Intended, x.FirstToken, x.LastToken = record.OK, record.Some(0), record.Some(1e6), record.Some(4e6)
	a.Add(&x)
	x.Chunks.At[1], x.Chunks.Tokens[1] = 0, 9
	if m := a.All().Metric("itl"); m.Max.Or(0) != 2 || m.P50.Or(0) != 1 {
		t.Errorf("%+v", m)
	}
}

func TestPercentileAgreesWithMetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := New(Options{GPUs: 2})
		for _, x := range drawAttempts(t) {
			a.Add(&x)
		}
		v := a.All()
		all := v.Metrics()
		for _, k := range Kinds() {
			m, ok := all[k.Name]
			if !ok {
				t.Errorf("%s is missing", k.Name)
			}
			if alone := v.Metric(k.Name); !cmp.Equal(alone, m) {
				t.Errorf("%s: %+v alone, %+v among all", k.Name, alone, m)
			}
			if k.Form != Rate && (v.Percentile(k.Name, .5) != m.P50 || v.Percentile(k.Name, .99) != m.P99) {
				t.Errorf("%s: %v and %v, want %+v", k.Name, v.Percentile(k.Name, .5), v.Percentile(k.Name, .99), m)
			}
		}
	})
}

// TestFewBytesAGap keeps a goal in reach: a million requests of 64 chunks in
// one GiB, rows and gaps together.
func TestFewBytesAGap(t *testing.T) {
	const requests, chunks = 20_000, 64
	before := heap()
	a := New(Options{})
	fill(a, requests, chunks)
	if per := float64(heap()-before) / requests; per > 600 {
		t.Errorf("%.0f bytes a request of %d chunks", per, chunks)
	}
	runtime.KeepAlive(a)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// fill adds successes with gaps of about 20 ms.
func fill(a *Accumulator, requests, chunks int) {
	x := record.Attempt{Chunks: record.Chunks{At: make([]int64, chunks), Tokens: make([]int32, chunks), Choice: make([]int32, chunks)}}
	x.Outcome, x.ConnReused, x.StampSource, x.Attempt = record.OK, true, record.SourceKernel, 1
	h := uint64(1)
	for i := range requests {
		x.RequestID = int64(i)
		at := int64(i) * 1e6
		x.Intended, x.WriteStart, x.Sent = record.Some(at), record.Some(at), record.Some(at)
		for j := range chunks {
			h ^= h << 13
			h ^= h >> 7
			h ^= h << 17
			at += 19e6 + int64(h%2e6)
			x.Chunks.At[j], x.Chunks.Tokens[j] = at, 1
		}
		x.FirstByte, x.FirstToken, x.FirstAnswer = record.Some(x.Chunks.At[0]), record.Some(x.Chunks.At[0]), record.Some(x.Chunks.At[0])
		x.LastToken, x.Ended = record.Some(at), record.Some(at)
		x.OutputUsage = record.Some(int64(chunks))
		a.Add(&x)
	}
}

func BenchmarkAdd(b *testing.B) {
	a := New(Options{})
	b.ReportAllocs()
	fill(a, b.N, 64)
}

func BenchmarkResult(b *testing.B) {
	a := New(Options{})
	fill(a, 100_000, 64)
	for b.Loop() {
		a.all = nil
		if m := a.Result().Metrics["itl"]; math.IsNaN(m.P99.Or(math.NaN())) {
			b.Fatal("no itl")
		}
	}
}
