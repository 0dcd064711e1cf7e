package accuracy

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim"
)

var update = flag.Bool("update", false, "write the tables of docs/accuracy.md")

const (
	document = "../../docs/accuracy.md"
	marker   = "<!-- tokamak sim accuracy --markdown -->\n"
)

func report(t *testing.T, dir string) string {
	t.Helper()
	src, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	fits, err := Fits()
	if err != nil {
		t.Fatal(err)
	}
	basis, err := Sample()
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReport(src, basis, fits)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The tables of the document are what the command prints.
func TestDocumentIsTheCommandsOutput(t *testing.T) {
	got := report(t, "")
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	prose, table, ok := strings.Cut(string(text), marker)
	if !ok {
		t.Fatalf("%s has no line %q", document, marker)
	}
	if *update {
		if err := os.WriteFile(document, []byte(prose+marker+got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(table, got); d != "" {
		t.Errorf("the document and the command differ (go test ./sim/accuracy -run Document -update):\n%s", d)
	}
}

// The full table, where it is there, gives what the embedded sample gives.
func TestFullTableIsTheSample(t *testing.T) {
	want, err := Sample()
	if err != nil {
		t.Fatal(err)
	}
	if len(silicon(t)) != len(want) {
		t.Errorf("%d rows in the full table, %d in the sample", len(silicon(t)), len(want))
	}
	src, err := Open(traces)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, src.Rows); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(report(t, ""), report(t, traces)); d != "" {
		t.Error(d)
	}
}

// No error on rows that were not fitted is above what the catalogue records, and
// the catalogue's efficiencies are those of the fits.
func TestErrorsOnUnfittedRowsDoNotGrow(t *testing.T) {
	rows, err := Sample()
	if err != nil {
		t.Fatal(err)
	}
	fits, err := Fits()
	if err != nil {
		t.Fatal(err)
	}
	st, err := NewStudy(rows, rows, fits)
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[string]catalog.Preset{}
	key := func(p *catalog.Preset) string {
		return strings.Join([]string{p.GPU, p.Engine, p.Model, p.DType, p.Family}, " ")
	}
	for _, p := range catalog.Presets() {
		recorded[key(&p)] = p
	}
	for _, p := range st.Presets(rows) {
		r, ok := recorded[key(&p)]
		if !ok {
			t.Errorf("%s: no such preset in the catalogue", key(&p))
			continue
		}
		if p.HeldOut != nil && (p.HeldOut.MAPE > r.HeldOut.MAPE+0.05 || p.HeldOut.Rows < r.HeldOut.Rows) {
			t.Errorf("%s: %.2f %% on %d rows not fitted, recorded are %.2f %% on %d", key(&p), p.HeldOut.MAPE, p.HeldOut.Rows, r.HeldOut.MAPE, r.HeldOut.Rows)
		}
		p.HeldOut, r.HeldOut, p.InSample, r.InSample, p.Efficiency.Fitted, r.Efficiency.Fitted = nil, nil, nil, nil, "", ""
		if d := cmp.Diff(p, r); d != "" {
			t.Errorf("%s differs from its fit:\n%s", key(&p), d)
		}
	}
}

// The fits are what the fit gives on the rows: one of each kind, made again.
func TestFitsAreReproduced(t *testing.T) {
	rows, err := Sample()
	if err != nil {
		t.Fatal(err)
	}
	rows = keep(rows, Set{"h100", "vllm", "llama3.1-70b", "fp8"})
	again, err := Refit(rows)
	if err != nil {
		t.Fatal(err)
	}
	fits, err := Fits()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]*Fitted{}
	for i := range fits {
		by[fits[i].key()] = &fits[i]
	}
	for i := range again {
		f := &again[i]
		if f.Model == "" {
			continue // a pool: of more than these rows
		}
		want := by[f.key()]
		if want == nil {
			t.Errorf("%s is not among the fits", f.key())
			continue
		}
		for _, k := range knobs(true, true) {
			if a, b := *k.at(&f.Efficiency), *k.at(&want.Efficiency); off(a, b) > 2e-3 || off(b, a) > 2e-3 {
				t.Errorf("%s: %s is %.4g, stored is %.4g", f.key(), k.name, a, b)
			}
		}
	}
}

func keep(rows []Row, s Set) []Row {
	var out []Row
	for _, r := range rows {
		if r.Set() == s {
			out = append(out, r)
		}
	}
	return out
}

// Every length regime of a set with two rows or more is in several folds.
func TestFoldsHoldEveryRegimeOnBothSides(t *testing.T) {
	rows, err := Sample()
	if err != nil {
		t.Fatal(err)
	}
	f := folds(rows, 1)
	seen := map[string]map[string]int{}
	once := map[string]string{}
	for i := range rows {
		k := rows[i].Set().String() + " " + rows[i].Regime()
		r := rows[i]
		r.Version = ""
		if was, ok := once[r.key()]; ok {
			if was != f[i] {
				t.Errorf("%s is in two folds", r.key())
			}
			continue
		}
		once[r.key()] = f[i]
		if seen[k] == nil {
			seen[k] = map[string]int{}
		}
		seen[k][f[i]]++
	}
	for k, parts := range seen {
		n := 0
		for _, c := range parts {
			n += c
		}
		if n > 1 && len(parts) < min(n, Folds) {
			t.Errorf("%s: %d rows in %d folds", k, n, len(parts))
		}
	}
}

// A target takes the preset of its model and precision, and says what backs it.
func TestTargetsTakePresets(t *testing.T) {
	for target, want := range map[string]string{
		"sim://llama3.1-70b@h100?dtype=fp8&tp=4": "llama3.1-70b fp8; vllm",
		"sim://llama3.3-70b@h100?dtype=fp8&tp=4": "llama3.1-70b fp8; vllm", // the same layers
		"sim://llama3.1-8b@h100":                 "of other models or precisions",
		"sim://gpt-oss-120b@h200?dtype=fp4":      "gpt-oss-120b fp4",
		"sim://llama3.1-8b@rtx4090":              "in-sample",
		"sim://llama3-8b@a100-80g":               "",
	} {
		o, err := sim.ParseTarget(target)
		if err != nil {
			t.Fatal(err)
		}
		b := o.Backing()
		if !strings.Contains(b.Fitted, want) || (b.Fitted == "") != (want == "") || (want == "") != (len(b.Warnings) == 1) {
			t.Errorf("%s: %+v", target, b)
		}
	}
}
