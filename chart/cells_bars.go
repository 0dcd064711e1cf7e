package chart

import (
	"cmp"
	"math"
)

// Cells draws the bars in the cells of a terminal, one row each.
func (b *Bars) Cells(o CellOptions) *Canvas {
	width := max(cmp.Or(o.Width, 80), 24)
	c := NewCanvas(width, 0)
	title, note := b.Words()
	c.Paragraph(title, 0, Strong)
	c.Paragraph(note, 0, Muted)
	name, text, most := 0, 0, 0.0
	for _, bar := range b.Bars {
		name = max(name, min(Columns(bar.Name), width/3))
		text = max(text, Columns(bar.Text))
		most = max(most, bar.Value)
	}
	if len(b.Bars) == 0 || most == 0 || b.Empty != "" {
		c.Paragraph(nothing(b.Empty), 2, Plain)
		return c
	}
	c.Paragraph(b.Label, 0, Muted)
	room := max(width-name-text-3, 4)
	parts := []rune("▏▎▍▌▋▊▉█")
	if o.ASCII {
		parts = []rune("=")
	}
	for _, bar := range b.Bars {
		y := c.Height()
		c.Grow(y + 1)
		shown := Clip(bar.Name, name)
		c.Text(name-Columns(shown), y, shown, Plain)
		eighths := int(math.Round(bar.Value / most * float64(room*len(parts))))
		if bar.Value > 0 {
			eighths = max(eighths, 1)
		}
		x := name + 1
		for ; eighths > 0; eighths -= len(parts) {
			c.set(x, y, parts[min(eighths, len(parts))-1], inkData)
			x++
		}
		c.Text(x+1, y, bar.Text, Plain)
	}
	return c
}
