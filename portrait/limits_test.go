package portrait_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/portrait"
)

// TestOutputLimits: what answers were allowed is shown as a limit where their
// lengths are not known, in text, HTML and JSON, and never becomes a length.
func TestOutputLimits(t *testing.T) {
	log := at(0, 1, 2, 3)
	log[0].Limit, log[1].Limit, log[2].Limit = 40, 10, 300
	f, p := show(t, &rows{of: log}, portrait.Options{})
	if l := f.OutputLimits; l == nil || l.Rows != 3 || l.P50 != 40 || l.P90 != 300 || l.Max != 300 || f.Output.Count != 0 {
		t.Errorf("limits %+v, %d lengths", l, f.Output.Count)
	}
	text := page(t, p, portrait.TextOptions{Width: 160})
	for _, want := range []string{"output p50 · p95 · p99", "not known: the log has no output lengths", "output limit p50", "a limit, not a length, of 3 of 4 rows"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	var html bytes.Buffer
	if err := p.HTML(&html); err != nil || !strings.Contains(html.String(), "a limit, not a length, of 3 of 4 rows") {
		t.Errorf("the HTML lacks the limit: %v", err)
	}
	if b, err := json.Marshal(f); err != nil || !strings.Contains(string(b), `"output_limits":{"rows":3,"p50":40,"p90":300,"max":300}`) {
		t.Errorf("%s, %v", b, err)
	}
	for i := range log {
		log[i].Output = 5 // known lengths say it better
	}
	f, p = show(t, &rows{of: log}, portrait.Options{})
	if text := page(t, p, portrait.TextOptions{Width: 160}); f.OutputLimits == nil || strings.Contains(text, "output limit") {
		t.Errorf("limits beside lengths:\n%s", text)
	}
	f, p = show(t, &rows{of: at(0, 1)}, portrait.Options{})
	if text := page(t, p, portrait.TextOptions{Width: 160}); f.OutputLimits != nil || strings.Contains(text, "output limit") {
		t.Errorf("limits where there are none:\n%s", text)
	}
}
