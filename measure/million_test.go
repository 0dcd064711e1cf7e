package measure

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/stat"
)

// BenchmarkMillion is the goal's whole arithmetic: a million requests of 64 chunks.
func BenchmarkMillion(b *testing.B) {
	a := New(Options{Start: record.Some(int64(0)), End: record.Some(int64(1_000_000 * 1e6))})
	fill(a, 1_000_000, 64)
	b.ResetTimer()
	for b.Loop() {
		a.all = nil
		a.Result()
	}
}

// oddly adds answers whose gaps come as every kind that is stored: of one
// token, of several, of none and longer than 32 bits of nanoseconds, many of them
// equal.
func oddly(a *Accumulator, requests int, oddShare float64, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range requests {
		at := int64(i) * 1e6
		x := record.Attempt{}
		x.RequestID, x.Attempt, x.ConnReused = int64(i), 1, true
		x.Outcome = record.OK
		if random.IntN(20) == 0 {
			x.Outcome = record.Timeout
		}
		odd := random.Float64() < oddShare
		x.Intended, x.Sent = record.Some(at), record.Some(at)
		for range 20 + random.IntN(60) {
			step := []int64{1, 20e6, 20e6 + 1, 40e6, 1 + random.Int64N(60e6), 1 + random.Int64N(1<<31)}[random.IntN(6)]
			tokens := int32(1)
			if odd {
				tokens = []int32{1, 1, 2, 3, 0, 7}[random.IntN(6)]
				if random.IntN(50) == 0 {
					step = []int64{math.MaxUint32, math.MaxUint32 + 1, 1 << 40, random.Int64N(1 << 50)}[random.IntN(4)]
				}
			}
			at += step
			x.Chunks.At, x.Chunks.Tokens = append(x.Chunks.At, at), append(x.Chunks.Tokens, tokens)
		}
		x.FirstToken, x.LastToken, x.Moments.Ended = record.Some(x.Chunks.At[0]), record.Some(at), record.Some(at)
		a.Add(&x)
	}
}

// TestLargePoolsAreExact holds every percentile of a large pool against sorting
// its values, and its moments against their definition.
func TestLargePoolsAreExact(t *testing.T) {
	for i, share := range []float64{0, .001, .3, 1} {
		a := New(Options{})
		oddly(a, 3000, share, uint64(i))
		v := a.All()
		for _, name := range pooled {
			s := v.pool(name)
			if s.whole == nil {
				t.Fatalf("%s: %d gaps are no large pool", name, s.n)
			}
			var all []float64
			for batch := range s.values {
				all = append(all, batch...)
			}
			slices.SortFunc(all, cmp.Compare[float64])
			ranks := make([]int, 0, s.n)
			for r := 1; r <= s.n; r += 97 {
				ranks = append(ranks, r)
			}
			ranks = append(ranks, s.n)
			for k, x := range s.whole.ranked(ranks) {
				if want := all[ranks[k]-1]; x != want {
					t.Fatalf("%s, share %v, rank %d: %v, want %v", name, share, ranks[k], x, want)
				}
			}
			mean, sd := s.moments()
			wantMean, wantSD := stat.MeanSD(all)
			if math.Abs(mean-wantMean) > 1e-12*wantMean || math.Abs(sd-wantSD) > 1e-12*wantSD {
				t.Errorf("%s, share %v: mean %v, sd %v, want %v and %v", name, share, mean, sd, wantMean, wantSD)
			}
		}
	}
}

// TestPlaceOfAGap holds what [wholeGaps] rests on: a gap's place is its own
// number, and a larger value never has a smaller place.
func TestPlaceOfAGap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1_000_000 {
		ns := random.Uint32()>>random.IntN(20) | 1
		x := float64(ns) / 1e6
		if got := place(x); got != ns {
			t.Fatalf("place of %d ns: %d", ns, got)
		}
		if y := math.Nextafter(x, math.Inf(1)); place(y) < ns || place(math.Nextafter(x, 0)) > ns {
			t.Fatalf("beside %d ns: %d and %d", ns, place(math.Nextafter(x, 0)), place(y))
		}
	}
	if place(1e300) != math.MaxUint32 || place(math.MaxUint32/1e6) != math.MaxUint32 {
		t.Error("a long gap is placed wrongly")
	}
}
