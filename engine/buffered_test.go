package engine

import "testing"

func TestBuffered(t *testing.T) {
	// bursts of so many chunks, a gap within and a pause before each burst, in ns.
	series := func(bursts, chunks int, gap, pause int64) []int64 {
		var at []int64
		now := int64(0)
		for range bursts {
			now += pause
			for i := range chunks {
				if i > 0 {
					now += gap
				}
				at = append(at, now)
			}
		}
		return at
	}
	for name, tt := range map[string]struct {
		sent int64
		at   []int64
		want bool
	}{
		"one stamp for all":                   {0, series(1, 8, 0, 1e9), true},
		"too few":                             {0, series(1, 7, 0, 1e9), false},
		"too soon":                            {0, series(1, 8, 0, 19e6), false},
		"at the bound of the gap":             {0, series(1, 101, 50_000, 1e9), true}, // 5 ms after 1 s
		"slower":                              {0, series(1, 101, 50_001, 1e9), false},
		"as fast, but it answers at once":     {0, series(1, 101, 50_000, 94e6), false}, // 5 ms of 99 ms
		"the same a little later":             {0, series(1, 101, 50_000, 95e6), true},  // 5 ms of 100 ms
		"three buffers":                       {0, series(3, 8, 0, 100e6), true},
		"three of seven":                      {0, series(3, 7, 0, 100e6), false},
		"a draft of six tokens at a step":     {0, series(30, 6, 0, 30e6), false},
		"a fast engine and a slow tick":       {0, series(30, 8, 0, 10e6), false},
		"paced":                               {0, series(64, 1, 0, 10e6), false},
		"never sent":                          {-1 << 63, series(1, 64, 0, 1e9), false},
		"nothing":                             {0, nil, false},
		"as nginx does with buffers of 4 KiB": {0, append(series(1, 17, 0, 187e6), series(1, 8, 0, 260e6)...), true},
	} {
		if got := Buffered(tt.sent, tt.at); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
