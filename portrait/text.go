package portrait

import (
	"io"

	"github.com/tokamak-bench/tokamak/chart"
)

// TextOptions say how a page is written for a terminal.
type TextOptions struct {
	Width  int  // columns; 0: 80
	Colour bool // with escape sequences
	ASCII  bool // with plain characters alone
}

const (
	narrowest, widest = 40, 160
	// twoColumns is the width from which pictures stand in pairs.
	twoColumns = 110
	gap        = 3
)

// Text writes the page for a terminal.
func (p *Page) Text(w io.Writer, o TextOptions) error {
	width := o.Width
	if width == 0 {
		width = 80
	}
	width = min(max(width, narrowest), widest)
	c := chart.NewCanvas(width, 0)
	c.Paragraph(p.Title, 0, chart.Strong)
	c.Paragraph(p.Subtitle, 0, chart.Muted)
	c.Grow(c.Height() + 1)
	numbers(c, p.First, chart.Strong)
	c.Grow(c.Height() + 1)
	numbers(c, p.Rest, chart.Plain)
	if len(p.Notes) > 0 {
		c.Grow(c.Height() + 1)
		for _, n := range p.Notes {
			c.Paragraph("note: "+n, 0, chart.Plain)
		}
	}
	for _, s := range p.Sections {
		section(c, s, o)
	}
	return c.Write(w, chart.WriteOptions{Colour: o.Colour, ASCII: o.ASCII})
}

// numbers writes one figure a line: name, value, meaning; on a narrow page the
// meaning is below, and a value that has no room beside its name, too.
func numbers(c *chart.Canvas, of []Number, ink chart.Ink) {
	name, value := 0, 0
	for _, n := range of {
		name, value = max(name, chart.Columns(n.Name)), max(value, chart.Columns(n.Value))
	}
	for _, n := range of {
		y := c.Height()
		c.Grow(y + 1)
		c.Text(0, y, n.Name, chart.Plain)
		shown := n.Value
		if shown == "" {
			shown = "–"
		}
		end := min(name+2+value, c.Width())
		if chart.Columns(n.Name)+2+chart.Columns(shown) > end {
			y++
			c.Grow(y + 1)
		}
		c.Text(max(end-chart.Columns(shown), 0), y, shown, ink)
		from := name + value + 4
		if c.Width()-from < 24 { // below, where there is no room beside
			c.Paragraph(n.Meaning, 4, chart.Muted)
			continue
		}
		lines := chart.Wrap(n.Meaning, c.Width()-from)
		for i, l := range lines {
			c.Grow(y + i + 1)
			c.Text(from, y+i, l, chart.Muted)
		}
	}
}

// section writes pictures, in pairs where there is room, then tables.
func section(c *chart.Canvas, s Section, o TextOptions) {
	c.Grow(c.Height() + 1)
	if s.Title != "" {
		c.Paragraph(s.Title, 0, chart.Strong)
		c.Grow(c.Height() + 1)
	}
	columns := 1
	width := c.Width()
	if width >= twoColumns && len(s.Figures) > 1 {
		columns = 2
		width = (width - gap) / 2
	}
	for i := 0; i < len(s.Figures); i += columns {
		row := s.Figures[i].Cells(chart.CellOptions{Width: width, ASCII: o.ASCII})
		if columns == 2 && i+1 < len(s.Figures) {
			row = chart.Beside(row, s.Figures[i+1].Cells(chart.CellOptions{Width: width, ASCII: o.ASCII}), gap)
		}
		if i > 0 {
			c.Grow(c.Height() + 1)
		}
		c.Put(0, c.Height(), row)
	}
	for i, t := range s.Tables {
		if i+len(s.Figures) > 0 {
			c.Grow(c.Height() + 1)
		}
		table(c, t)
	}
}

// table writes a table, the first column to the left and the others to the
// right; what is wider than the page is cut off.
func table(c *chart.Canvas, t Table) {
	c.Paragraph(t.Title, 0, chart.Strong)
	c.Paragraph(t.Note, 0, chart.Muted)
	widths := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		for i, s := range row[:len(t.Head)] {
			widths[i] = max(widths[i], chart.Columns(s))
		}
	}
	line := func(row []string, ink chart.Ink) {
		y, x := c.Height(), 0
		c.Grow(y + 1)
		for i, s := range row[:len(t.Head)] {
			if i == 0 {
				c.Text(x, y, s, ink)
			} else {
				c.Text(x+widths[i]-chart.Columns(s), y, s, ink)
			}
			x += widths[i] + 2
		}
	}
	line(t.Head, chart.Muted)
	for _, row := range t.Rows {
		line(row, chart.Plain)
	}
}
