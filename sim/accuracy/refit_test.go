package accuracy

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var refit = flag.Bool("refit", false, "read the measured tables, fit everything again and write the data files")

// traces is where the public tables lie when they are there.
const traces = "../../../shared/traces"

func silicon(tb testing.TB) []Row {
	tb.Helper()
	f, err := os.Open(filepath.Join(traces, "aiconfigurator_silicon_sample.csv"))
	if err != nil {
		tb.Skip("the measured table is not there: ", err)
	}
	defer f.Close()
	rows, _, err := ReadSilicon(f)
	if err != nil {
		tb.Fatal(err)
	}
	return rows
}

// TestRefit makes the data files anew: go test ./sim/accuracy -run Refit -refit
func TestRefit(t *testing.T) {
	if !*refit {
		t.Skip("only with -refit")
	}
	rows := silicon(t)
	var b bytes.Buffer
	if err := WriteRows(&b, rows); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("data/closed.csv", b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	rows, err := ReadRows(&b)
	if err != nil {
		t.Fatal(err)
	}
	splits, err := Splits(rows, 2, 3, 4, 5, 6)
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := WriteSplits(&b, splits); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("data/splits.csv", b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	fits, err := Refit(rows)
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := WriteFits(&b, fits); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("data/fits.csv", b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	fits, err = ReadFits(&b)
	if err != nil {
		t.Fatal(err)
	}
	st, err := NewStudy(rows, rows, fits)
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := WritePresets(&b, st.Presets(rows)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("../../catalog/presets.yaml", b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
