package report

import (
	"github.com/tokamak-bench/tokamak/chart"
	"github.com/tokamak-bench/tokamak/measure"
)

func figure(v measure.Value, unit string) string { return Line(measure.Figure(v, unit)) }

func share(part, whole int) string { return measure.Share(part, whole) }

func count(n int) string { return measure.Count(n) }

// clip cuts a text to so many columns.
func clip(s string, width int) string { return chart.Clip(s, width) }

// visible returns how many columns a text takes.
func visible(s string) int { return chart.Columns(s) }

// wrap breaks words into lines of at most width columns; a longer word stands
// alone.
func wrap(text string, width int) []string { return chart.Wrap(text, width) }
