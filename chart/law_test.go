package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/chart"
)

// TestAnyPlot: whatever numbers and texts come, both pictures are whole: the
// SVG is XML without NaN, and no line of cells is wider than asked or steers the
// terminal.
func TestAnyPlot(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-10, 10), rapid.SampledFrom([]float64{0, 1, 1e18, 1e18 + 256, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}))
	rapid.Check(t, func(t *rapid.T) {
		axis := func(name string) chart.Axis {
			return chart.Axis{Label: rapid.String().Draw(t, name), Unit: chart.Unit(rapid.IntRange(0, 2).Draw(t, "unit")), Log: rapid.Bool().Draw(t, "log"),
				From: rapid.SampledFrom([]float64{0, 0, 1}).Draw(t, "from"), To: rapid.SampledFrom([]float64{0, 0, 5}).Draw(t, "to")}
		}
		p := &chart.Plot{Title: rapid.String().Draw(t, "title"), Note: rapid.String().Draw(t, "note"), X: axis("x"), Y: axis("y")}
		for range rapid.IntRange(0, 3).Draw(t, "series") {
			s := chart.Series{Name: rapid.String().Draw(t, "name"), Shape: chart.Shape(rapid.IntRange(0, 3).Draw(t, "shape")), Role: chart.Role(rapid.IntRange(0, 3).Draw(t, "role"))}
			s.Y = rapid.SliceOfN(number, 0, 6).Draw(t, "values")
			n := len(s.Y)
			if s.Shape == chart.Steps || s.Shape == chart.Filled {
				n++
			}
			s.X = rapid.SliceOfN(number, n, n).Draw(t, "at")
			p.Series = append(p.Series, s)
		}
		for range rapid.IntRange(0, 3).Draw(t, "marks") {
			p.Marks = append(p.Marks, chart.Mark{X: number.Draw(t, "mark"), Y: number.Draw(t, "height"), Label: rapid.String().Draw(t, "label")})
		}
		whole(t, p)
	})
}

// TestSmallestNumber: half of the least number above 0 is 0, of which there is
// no logarithm.
func TestSmallestNumber(t *testing.T) {
	p := &chart.Plot{X: chart.Axis{Log: true}, Y: chart.Axis{Log: true}, Series: []chart.Series{{X: []float64{5e-324}, Y: []float64{5e-324}}}}
	if svg := string(p.SVG(chart.SVGOptions{})); strings.Contains(svg, "NaN") || len(svg) > 1<<16 {
		t.Errorf("%d bytes: %.2000s", len(svg), svg)
	}
}

// TestAnyBars is TestAnyPlot for bars.
func TestAnyBars(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &chart.Bars{Title: rapid.String().Draw(t, "title"), Label: rapid.String().Draw(t, "axis")}
		for range rapid.IntRange(0, 4).Draw(t, "bars") {
			b.Bars = append(b.Bars, chart.Bar{Name: rapid.String().Draw(t, "name"), Value: rapid.Float64Range(0, 1e9).Draw(t, "value"), Text: rapid.String().Draw(t, "text")})
		}
		whole(t, b)
	})
}

func whole(t *rapid.T, f chart.Figure) {
	svg := f.SVG(chart.SVGOptions{ID: "x"})
	if strings.Contains(string(svg), "NaN") || strings.Contains(string(svg), "Inf\"") {
		t.Fatalf("a number that is none: %s", svg)
	}
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
	o := chart.CellOptions{Width: rapid.IntRange(1, 130).Draw(t, "width"), Height: rapid.IntRange(0, 12).Draw(t, "rows"), ASCII: rapid.Bool().Draw(t, "ascii")}
	var b bytes.Buffer
	if err := f.Cells(o).Write(&b, chart.WriteOptions{ASCII: o.ASCII}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(b.String(), "\n") {
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || o.ASCII && r > 0x7e }) {
			t.Fatalf("%q steers a terminal", line)
		}
		if n := chart.Columns(line); n > max(o.Width, 24) {
			t.Fatalf("%d columns of %d: %q", n, o.Width, line)
		}
	}
}
