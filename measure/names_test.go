package measure

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestEveryMetricIsDocumented: each has a row in docs/metrics.md with its unit
// and, for a latency, the mark of its _adj form; and each row has a metric.
func TestEveryMetricIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	type row struct{ unit, mark string }
	rows := map[string]row{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| ([^|]+) \\| *([^|]*?) *\\| [^|]+ \\| [^|]+ \\| [^|]+ \\|$").FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = row{m[2], m[3]}
	}
	for _, k := range Kinds() {
		name := strings.TrimSuffix(base(k.Name), perGPU)
		r, ok := rows[name]
		switch {
		case !ok:
			t.Errorf("%s has no row", name)
		case r.unit != k.Unit:
			t.Errorf("%s: unit %q in the document, %q in the code", name, r.unit, k.Unit)
		case k.Latency && r.mark != "adj", strings.HasSuffix(k.Name, perGPU) && r.mark != "GPU":
			t.Errorf("%s: the row is not marked", name)
		}
	}
	for name := range rows {
		if _, ok := Find(name); !ok {
			t.Errorf("the document has a row for %s, which does not exist", name)
		}
	}
	if len(rows) < 25 {
		t.Errorf("only %d rows were read", len(rows))
	}
}

// TestKindsAreWhatMetricsYields: an SLO can name exactly what the summary has.
func TestKindsAreWhatMetricsYields(t *testing.T) {
	got := New(Options{GPUs: 2}).All().Metrics()
	for _, k := range Kinds() {
		m, ok := got[k.Name]
		if !ok || m.Unit != k.Unit || m.Rate != (k.Form == Rate) {
			t.Errorf("%s: %+v in the code, %+v among the metrics", k.Name, k, m)
		}
		delete(got, k.Name)
	}
	for name := range got {
		t.Errorf("%s cannot be named in an SLO", name)
	}
	if _, ok := New(Options{}).All().Metrics()["goodput"+perGPU]; ok {
		t.Error("rates per GPU without a number of GPUs")
	}
}
