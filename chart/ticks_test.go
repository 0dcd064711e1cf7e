package chart

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTicks: places are 1, 2 or 5 times a power of ten, or where clocks have
// their marks, and written in the unit that reads best.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		axis   Axis
		lo, hi float64
		most   int
		want   string
	}{
		{Axis{}, 0, 100, 5, "0 20 40 60 80 100"},
		{Axis{}, 0, 1600, 4, "0 500 1k 1.5k"},
		{Axis{}, 0.3, 9.4, 4, "2 4 6 8"},
		{Axis{}, -3, 3, 4, "-2 0 2"},
		{Axis{}, 0, 2.5e6, 5, "0 500k 1M 1.5M 2M 2.5M"},
		{Axis{Whole: true}, 0.5, 3.5, 8, "1 2 3"},
		{Axis{Whole: true}, 0.5, 15.5, 4, "5 10 15"},
		{Axis{Unit: Share}, 0, 1, 4, "0% 50% 100%"},
		{Axis{Unit: Share}, 0, 0.06, 4, "0% 2% 4% 6%"},
		{Axis{Unit: Seconds}, 0, 3600, 6, "0 10_min 20_min 30_min 40_min 50_min 60_min"},
		{Axis{Unit: Seconds}, 0, 86400, 4, "0 6_h 12_h 18_h 24_h"},
		{Axis{Unit: Seconds}, 0, 1e6, 6, "0 2_d 4_d 6_d 8_d 10_d"},
		{Axis{Unit: Seconds}, 0, 0.004, 4, "0 1_ms 2_ms 3_ms 4_ms"},
		{Axis{Log: true}, 1, 1e6, 4, "1 100 10k 1M"},
		{Axis{Log: true}, 1, 100, 6, "1 3 10 30 100"},
		{Axis{Log: true}, 8, 70, 6, "10 20 50"},
		{Axis{Log: true}, 374, 396, 4, "375 380 385 390 395"},
		{Axis{Log: true}, 9.5, 12.5, 4, "10 11 12"},
		{Axis{Log: true}, 9.5, 11.5, 4, "9.5 10 10.5 11 11.5"},
		{Axis{Log: true, Whole: true}, 9.5, 11.5, 4, "10 11"},
		{Axis{Log: true, Whole: true}, 374, 396, 4, "375 380 385 390 395"},
		{Axis{Log: true, Unit: Seconds}, 0.001, 3600, 8, "1_ms 10_ms 100_ms 1_s 10_s 1_min 10_min 1_h"},
	} {
		var got []string
		for _, k := range c.axis.ticks(scale{c.lo, c.hi, c.axis.Log}, c.most) {
			got = append(got, strings.ReplaceAll(k.label, " ", "_"))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%+v from %v to %v: %s, want %s", c.axis, c.lo, c.hi, s, c.want)
		}
	}
}

// TestMarkRows: no line runs through a label, wherever marks and the edge are.
func TestMarkRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var marks []Mark
		for range rapid.IntRange(1, 5).Draw(t, "marks") {
			marks = append(marks, At(float64(rapid.IntRange(150, 590).Draw(t, "at")), "a label"))
		}
		const long, edge = 60, 600
		rows := markRows(marks, func(m Mark) float64 { return m.X }, func(Mark) float64 { return long }, edge)
		for i, a := range rows.at {
			l := label{marks[i].X, long, a.flip}
			from, to := l.span()
			if to > edge {
				t.Fatalf("the label of %v ends at %v", marks[i].X, to)
			}
			for j, b := range rows.at {
				other := label{marks[j].X, long, b.flip}
				otherFrom, otherTo := other.span()
				switch {
				case i == j || marks[i].X == marks[j].X:
				case l.covers(marks[j].X) && b.row <= a.row:
					t.Fatalf("the line of %v runs through the label of %v: %+v", marks[j].X, marks[i].X, rows)
				case a.row == b.row && from < otherTo && otherFrom < to:
					t.Fatalf("labels of %v and %v stand in one place: %+v", marks[i].X, marks[j].X, rows)
				}
			}
		}
	})
}
