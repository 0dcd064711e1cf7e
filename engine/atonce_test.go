package engine

import "testing"

func TestAtOnce(t *testing.T) {
	series := func(n int, gap int64) []int64 {
		at := make([]int64, n)
		for i := range at {
			at[i] = 1e9 + int64(i)*gap
		}
		return at
	}
	for name, tt := range map[string]struct {
		sent int64
		at   []int64
		want bool
	}{
		"one stamp for all":               {0, series(8, 0), true},
		"too few":                         {0, series(7, 0), false},
		"at the bound of the gap":         {0, series(101, 50_000), true}, // 5 ms after 1 s
		"slower":                          {0, series(101, 50_001), false},
		"as fast, but it answers at once": {1e9 - 99e6, series(101, 50_000), false}, // 5 ms after 99 ms
		"paced":                           {0, series(64, 10e6), false},
		"never sent":                      {-1 << 63, series(64, 0), false},
		"nothing":                         {0, nil, false},
	} {
		if got := AtOnce(tt.sent, tt.at); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
