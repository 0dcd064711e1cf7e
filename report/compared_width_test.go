package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/measure"
)

// The table fits the terminal, and nothing of it is lost on a narrow one.
func TestCompareFitsTheTerminal(t *testing.T) {
	c := compared(t, "", comparedSide("base", 1, 0), comparedSide("slow", 1.1, 0.01))
	for _, width := range []int{70, 80, 90, 100, 120} {
		var out bytes.Buffer
		must(t, CompareText(&out, c, TextOptions{Width: width}))
		for line := range strings.Lines(out.String()) {
			if n := visible(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("%d columns wide on %d: %s", n, width, line)
			}
		}
		for _, d := range c.Contrasts[0].Figures {
			for _, text := range []string{d.Figure, figure(d.Baseline, d.Unit), change(d.Change, d.Relative, d.Unit), interval(d.Low, d.High, d.Relative, d.Unit), string(d.Word)} {
				if !strings.Contains(out.String(), text) {
					t.Errorf("%s: %q is not there at a width of %d", d.Figure, text, width)
				}
			}
		}
	}
}

// A change near zero stays in its column, and no zero has a sign.
func TestSmallChanges(t *testing.T) {
	for x, want := range map[float64]string{-0.00015: "-<0.001%", 0.00015: "+<0.001%", 0: "0%", -5: "-5%", 5: "+5%", -99.97: "->99.9%"} {
		if got := change(measure.Some(x), true, "ms"); got != want || visible(got) >= changeWidth {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
	for x, want := range map[float64]string{-0.04: "0", 0.04: "0", -0.06: "-0.1", 1.25: "+1.2", -3: "-3.0"} {
		if got := effect(measure.Some(x)); got != want {
			t.Errorf("effect %v: %q, want %q", x, got, want)
		}
	}
	if got := effect(measure.Value{}); got != "-" {
		t.Errorf("no effect: %q", got)
	}
}
