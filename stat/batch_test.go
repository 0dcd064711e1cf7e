package stat

import (
	"math"
	"slices"
	"testing"
)

func close6(got, want float64) bool { return math.Abs(got-want) < 5e-7*max(1, math.Abs(want)) }

// 1 to 4 deviate by −1.5 … 1.5: squares 5, neighbours' products 1.25, so ρ is a
// quarter, and (1 + 4/4)/4 of bias.
func TestAutocorrelation(t *testing.T) {
	if got := Autocorrelation([]float64{1, 2, 3, 4}); !close6(got, .75) {
		t.Errorf("%v", got)
	}
	for _, series := range [][]float64{nil, {1, 9}, {3, 3, 3, 3}} {
		if got := Autocorrelation(series); got != 0 {
			t.Errorf("%v: %v", series, got)
		}
	}
}

// Worked by hand: of blocks that take each other back ρ is taken for 0; of
// pairs of alike ones it is 1/16 + (1 + 4/16)/16 = 0.140625, and variance and
// freedom are those of 16 · 0.859375/1.140625 blocks.
func TestBatchError(t *testing.T) {
	se, df, ok := BatchError(slices.Repeat([]float64{1, -1}, 4))
	if !ok || !close6(se, math.Sqrt(1./7)) || df != 7 {
		t.Errorf("alternating: %v, %v, %v", se, df, ok)
	}
	se, df, ok = BatchError(slices.Repeat([]float64{1, 1, -1, -1}, 4))
	if !ok || !close6(se, 0.2974640) || !close6(df, 11.0547945) {
		t.Errorf("pairs: %v, %v, %v", se, df, ok)
	}
	for name, series := range map[string][]float64{
		"seven blocks":     {1, -1, 1, -1, 1, -1, 1},
		"bound neighbours": slices.Repeat([]float64{1, 1, 1, -1, -1, -1}, 2), // ρ is 5/12 + 2/9
	} {
		if se, df, ok := BatchError(series); ok {
			t.Errorf("%s: %v, %v", name, se, df)
		}
	}
}

// With a known error the interval is Clopper and Pearson's for the sample that
// has it; ten degrees of freedom make of it (1.959964/2.228139)² as much.
func TestShareInterval(t *testing.T) {
	sure := math.Inf(1)
	low, high := ShareInterval(.1, .03, sure, 1000, .95)
	if !close6(low, 0.0490047) || !close6(high, 0.1762226) { // 10 of 100
		t.Errorf("%v to %v", low, high)
	}
	if l, h := ShareInterval(.1, .001, sure, 100, .95); !close6(l, low) || !close6(h, high) {
		t.Errorf("more than n: %v to %v", l, h)
	}
	l, h := ShareInterval(.1, .03, 10, 1000, .95)
	low, high = ShareInterval(.1, .03*2.2281389/1.9599640, sure, 1000, .95)
	if !close6(l, low) || !close6(h, high) {
		t.Errorf("ten degrees: %v to %v, want %v to %v", l, h, low, high)
	}
	if l, h := ShareInterval(0, 0, sure, 100, .95); l != 0 || !close6(h, 0.0362167) { // 1 − 0.025^(1/100)
		t.Errorf("none: %v to %v", l, h)
	}
	if l, h := ShareInterval(1, 0, sure, 100, .95); !close6(l, 1-0.0362167) || h != 1 {
		t.Errorf("all: %v to %v", l, h)
	}
}

// By tables of Student's t: 2.228139 (0.975, 10), 0.879058 (0.8, 10), 1.959964,
// 2.326348 and 0.841621 of the normal distribution.
func TestWhatErrorsTell(t *testing.T) {
	low, high := MeanInterval(5, 2, 10, .95)
	for name, x := range map[string][2]float64{
		"interval, low":      {low, 5 - 4.4562778},
		"interval, high":     {high, 5 + 4.4562778},
		"shift, sure":        {DetectableShift(1, math.Inf(1), .05, .8), math.Sqrt2 * (1.9599640 + 0.8416212)},
		"shift, 2 × 5":       {DetectableShift(1, 5, .05, .8), math.Sqrt2 * (2.2281389 + 0.8790578)},
		"mean, sure":         {DetectableMean(3, math.Inf(1), .01, .8), 3 * (2.3263479 + 0.8416212)},
		"above zero by t":    {MeanAbove(2*2.2281389, 2, 10), .025},
		"below zero by as t": {MeanAbove(-2*2.2281389, 2, 10), .975},
	} {
		if !close6(x[0], x[1]) {
			t.Errorf("%s: %v, want %v", name, x[0], x[1])
		}
	}
}
