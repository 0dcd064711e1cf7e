package clock

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestVirtualJumps(t *testing.T) {
	v := NewVirtual(time.Unix(1000, 0))
	if v.Now() != 0 || !v.Epoch().Equal(time.Unix(1000, 0)) {
		t.Errorf("at %d, epoch %v", v.Now(), v.Epoch())
	}
	if v.Wait(int64(time.Hour)) || v.Now() != int64(time.Hour) {
		t.Errorf("at %v", v.Now())
	}
	if v.Wait(5) || v.Now() != int64(time.Hour) {
		t.Error("time goes back")
	}
	if v.Wait(Forever) || v.Now() != int64(time.Hour) {
		t.Error("waiting for ever with nothing to come moves the time")
	}
	v.At(3, func() { // past: now
		if v.Now() != int64(time.Hour) {
			t.Errorf("runs at %v", v.Now())
		}
		v.Wake()
	})
	if !v.Wait(Forever) {
		t.Error("not woken")
	}
	v.Wake()
	if !v.Wait(Forever) || v.Wait(Forever) {
		t.Error("one wake-up ends one wait")
	}
}

// Wait stops at the time of the callback that wakes, before what is later;
// what is due at the awaited moment runs before Wait returns.
func TestVirtualWake(t *testing.T) {
	v := NewVirtual(time.Time{})
	var ran []int64
	for _, at := range []int64{10, 20, 20, 30} {
		v.At(at, func() {
			if ran = append(ran, at); at == 20 {
				v.Wake()
			}
		})
	}
	if !v.Wait(30) || v.Now() != 20 || !slices.Equal(ran, []int64{10, 20}) {
		t.Errorf("at %d after %v", v.Now(), ran)
	}
	if !v.Wait(30) || v.Now() != 20 || len(ran) != 3 {
		t.Errorf("at %d after %v", v.Now(), ran)
	}
	if v.Wait(30) || v.Now() != 30 || len(ran) != 4 {
		t.Errorf("at %d after %v", v.Now(), ran)
	}
}

// Callbacks run in order of their moments, those of one moment in the order in
// which they were given, each at its own time, however the waits are cut.
func TestVirtualOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := NewVirtual(time.Time{})
		type entry struct{ at, order int64 }
		var want, got []entry
		order := int64(0)
		var give func(at int64, depth int)
		give = func(at int64, depth int) {
			e := entry{max(at, v.Now()), order}
			order++
			want = append(want, e)
			v.At(at, func() {
				if v.Now() != e.at {
					t.Fatalf("a callback of %d runs at %d", e.at, v.Now())
				}
				got = append(got, e)
				if depth > 0 {
					give(e.at+rapid.Int64Range(-5, 10).Draw(t, "more"), depth-1)
				}
			})
		}
		for range rapid.IntRange(1, 20).Draw(t, "n") {
			give(rapid.Int64Range(0, 20).Draw(t, "at"), rapid.IntRange(0, 3).Draw(t, "depth"))
		}
		for v.Now() < 100 {
			before := v.Now()
			until := before + rapid.Int64Range(1, 40).Draw(t, "wait")
			if v.Wait(until) || v.Now() != until {
				t.Fatalf("waited from %d to %d, want %d", before, v.Now(), until)
			}
			for _, e := range want {
				if e.at <= until && !slices.Contains(got, e) {
					t.Fatalf("%+v has not run at %d", e, until)
				}
			}
		}
		slices.SortStableFunc(want, func(a, b entry) int {
			if a.at != b.at {
				return int(a.at - b.at)
			}
			return int(a.order - b.order)
		})
		if !slices.Equal(got, want) {
			t.Fatalf("ran %v, want %v", got, want)
		}
	})
}
