package portrait

import (
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/measure"
)

// TestReasonsOfArrivals: what is not known of arrivals says why, also within
// a figure that is known in part.
func TestReasonsOfArrivals(t *testing.T) {
	f := &Facts{Arrivals: 300, Requests: 300, Span: measure.Some(0)}
	if got := f.page().First[2]; got.Value != "" || got.Meaning != "not known: all 300 requests are at one moment" {
		t.Errorf("%+v", got)
	}
	if p := gapFigure(make([]int64, 300), f); p.Empty != "all 300 requests are at one moment" {
		t.Errorf("%q", p.Empty)
	}
	if got := (&Facts{Arrivals: 2, Span: measure.Some(5)}).fewMoments(); got != "fewer than three moments" {
		t.Errorf("%q", got)
	}
	f = &Facts{Span: measure.Some(660), Dispersion1: measure.Some(2.33), Dispersion10: measure.Some(11.8)}
	if got := f.dispersion(); got.Value != "2.33 · 11.8 · –" || !strings.HasSuffix(got.Meaning, "; not known at 60 s: fewer than 20 windows") {
		t.Errorf("%+v", got)
	}
	f.Dispersion60 = measure.Some(3)
	if got := f.dispersion(); strings.Contains(got.Meaning, "not known") {
		t.Errorf("%+v", got)
	}
}
