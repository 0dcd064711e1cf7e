package face

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Ten tokens 40 ns late, 89 at 1 ms and one at 9 ms: by nearest rank of 100
// p50, p90 and p99 are 1 ms, p99.9 is the largest.
func TestLatenessByHand(t *testing.T) {
	var l lateness
	l.reset(time.Unix(10, 0))
	if got := l.read(time.Unix(12, 0)); got.Late != nil || got.Tokens != 0 || got.Seconds != 2 {
		t.Errorf("%+v", got)
	}
	l.add(10, 40)
	for range 89 {
		l.add(1, 1_000_000)
	}
	l.add(1, 9_000_000)
	l.held.Add(3)
	// 1,000,000 >> 14 is 61: the bucket of 1 ms ends at 62 << 14 less one.
	const ms = (62<<14 - 1) / 1e6
	want := Lateness{Seconds: 2, Tokens: 100, Writes: 91, Held: 3, Late: &Spread{P50: ms, P90: ms, P99: ms, P999: 9, Max: 9}}
	if d := cmp.Diff(want, l.read(time.Unix(12, 0))); d != "" {
		t.Error(d)
	}
	l.reset(time.Unix(20, 0))
	if got := l.read(time.Unix(21, 0)); got.Late != nil || got.Tokens+got.Writes+got.Held != 0 || got.Seconds != 1 {
		t.Errorf("after a reset: %+v", got)
	}
	l.add(2, -5) // before its moment: a clock's rounding
	if got := l.read(time.Unix(21, 0)); got.Tokens != 2 || got.Late.Max != 0 {
		t.Errorf("%+v", got)
	}
}

// A bucket's end is at or above each of its values, at most 1/32 above, and
// buckets follow each other without gaps.
func TestBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64Range(0, 1<<62).Draw(t, "ns")
		i := bucket(v)
		if up := upper(i); up < v || float64(up-v) > float64(v)/fine {
			t.Errorf("%d is in bucket %d, which ends at %d", v, i, up)
		}
		if i > 0 && upper(i-1) >= v || bucket(upper(i)+1) != i+1 {
			t.Errorf("bucket %d from %d to %d has a neighbour in it", i, upper(i-1)+1, upper(i))
		}
	})
}
