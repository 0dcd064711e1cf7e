package chart_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/chart"
)

var update = flag.Bool("update", false, "write the goldens anew")

// figures are fixed inputs of every form.
func figures() map[string]chart.Figure {
	nan := math.NaN()
	rate := &chart.Plot{Title: "Requests over time", Note: "Each step is the mean of 60 s.",
		X: chart.Axis{Label: "time since the first request", Unit: chart.Seconds}, Y: chart.Axis{Label: "requests/s"},
		Series: []chart.Series{{Name: "mean", Shape: chart.Filled}, {Name: "busiest", Shape: chart.Steps, Role: chart.Model}}}
	for k := range 60 {
		x := float64(k)
		rate.Series[0].X = append(rate.Series[0].X, 60*x)
		rate.Series[0].Y = append(rate.Series[0].Y, 5+3*math.Sin(x/9))
		rate.Series[1].X = append(rate.Series[1].X, 60*x)
		rate.Series[1].Y = append(rate.Series[1].Y, 6+3*math.Sin(x/9))
	}
	rate.Series[0].X = append(rate.Series[0].X, 3600)
	rate.Series[1].X = append(rate.Series[1].X, 3600)
	rate.Series[0].Y[20] = nan
	rate.Marks = []chart.Mark{{X: 870, Y: 8, Label: "peak 8.00 req/s"}}

	length := &chart.Plot{Title: "Input length", X: chart.Axis{Label: "input length (tokens)", Log: true},
		Y:     chart.Axis{Label: "requests per tenfold of the length", Unit: chart.Share},
		Marks: []chart.Mark{chart.At(1000, "p50 1,000"), chart.At(4000, "p95 4,000"), chart.At(4300, "p99 4,300"), chart.At(9900, "max 9,900")}}
	length.Series = []chart.Series{{Name: "input", Shape: chart.Filled}}
	for e := 1.0; e <= 4; e += 0.1 {
		length.Series[0].X = append(length.Series[0].X, math.Pow(10, e))
		if n := len(length.Series[0].X); n > 1 {
			length.Series[0].Y = append(length.Series[0].Y, math.Exp(-3*(e-3)*(e-3)))
		}
	}

	curve := &chart.Plot{Title: "Burstiness", X: chart.Axis{Label: "window", Unit: chart.Seconds, Log: true}, Y: chart.Axis{Label: "index of dispersion", Log: true},
		Series: []chart.Series{
			{Name: "log", X: []float64{0.01, 0.1, 1, 10, 100, 1000}, Y: []float64{1, 1.1, 2, nan, 30, 200}},
			{Name: "Poisson", Role: chart.Reference, X: []float64{0.01, 1000}, Y: []float64{1, 1}},
			{Name: "seeds", Role: chart.Other, Shape: chart.Dots, X: []float64{0.1, 10}, Y: []float64{3, 9}}}}

	grid := &chart.Plot{Title: "Pairs", X: chart.Axis{Label: "input (tokens)", Log: true}, Y: chart.Axis{Label: "output (tokens)", Log: true},
		Grid: &chart.Grid{X: []float64{1, 10, 100, 1000}, Y: []float64{1, 10, 100}, Count: [][]float64{{1, 0}, {20, 300}, {4, 5000}}}}
	return map[string]chart.Figure{"rate": rate, "length": length, "curve": curve, "grid": grid,
		"bars": &chart.Bars{Title: "Tenants", Label: "share of the requests", Bars: []chart.Bar{
			{Name: "tenant 1", Value: 0.6, Text: "60%"}, {Name: "租户 2 <b>&\x1b[31m", Value: 0.39, Text: "39%"}, {Name: "rest", Value: 0.001, Text: "0.1%"}}},
		"empty": &chart.Plot{Title: "Turns", Empty: "the log does not say which requests belong together"}}
}

// TestGoldens holds every form of every figure against the files in testdata.
func TestGoldens(t *testing.T) {
	for name, f := range figures() {
		golden(t, name+".svg", f.SVG(chart.SVGOptions{ID: "g"}))
		for form, o := range map[string]chart.CellOptions{"80": {Width: 80}, "50ascii": {Width: 50, ASCII: true}} {
			var b bytes.Buffer
			if err := f.Cells(o).Write(&b, chart.WriteOptions{ASCII: o.ASCII}); err != nil {
				t.Fatal(err)
			}
			golden(t, name+"."+form+".txt", b.Bytes())
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got; go test ./chart -update writes it anew):\n%s", name, d)
	}
}
