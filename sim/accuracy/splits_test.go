package accuracy

import (
	"math"
	"testing"
)

// The stored scores are what the fit gives, here for one pool made again; and
// every target is met under every draw.
func TestOtherSplits(t *testing.T) {
	stored, err := OtherSplits()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]Split{}
	for _, s := range stored {
		by[s.order()] = s
		r := Result{Fitted: Fitted{Set: Set{GPU: s.GPU, Engine: s.Engine}, Family: s.Family}}
		if mape, mid := target(&r); mape > 0 && (s.MAPE > mape || s.Median > mid) {
			t.Errorf("%s: %.2f %%, median %.2f %%, the target is %v and %v", s.order(), s.MAPE, s.Median, mape, mid)
		}
	}
	rows, err := Sample()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Splits(keep(rows, Set{"h200", "sglang", "llama3.1-8b", "fp8"}), 2)
	if err != nil || len(again) != 1 {
		t.Fatal(len(again), err)
	}
	for _, s := range again {
		if w := by[s.order()]; s.Rows != w.Rows || math.Abs(s.MAPE-w.MAPE) > 0.05 || math.Abs(s.Median-w.Median) > 0.1 {
			t.Errorf("%s: %+v, stored is %+v", s.order(), s.Score, w.Score)
		}
	}
}
