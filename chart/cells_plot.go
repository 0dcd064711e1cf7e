package chart

import (
	"cmp"
	"math"
)

// CellOptions say how a figure is drawn in a terminal.
type CellOptions struct {
	Width  int // columns; 0: 80
	Height int // rows of the picture proper; 0: 8
	ASCII  bool
}

// signs are the characters that a plot is made of.
type signs struct {
	across, up, corner, ytick, xtick, mark, point rune
	levels                                        []rune // of a filled cell, from low to full
	shades                                        []rune // of a density, from thin to dense
	series                                        [5]rune
	braille                                       bool
}

func (o CellOptions) signs() signs {
	if o.ASCII {
		return signs{'-', '|', '+', '+', '+', '|', '*', []rune("#"), []rune(".:+*#"), [5]rune{'*', 'o', 'x', '.', '+'}, false}
	}
	return signs{'─', '│', '└', '┤', '┬', '╎', '●', []rune("▁▂▃▄▅▆▇█"), []rune("·░▒▓█"), [5]rune{'•', 'o', 'x', '·', '+'}, true}
}

// pane is where the picture of a plot is drawn, in cells.
type pane struct {
	*Canvas
	signs
	left, top, width, height int
	x, y                     scale
}

// column returns that of a value, which may lie outside; -1 for a value that
// the axis cannot show.
func (p *pane) column(v float64) int {
	at := p.x.at(v)
	if math.IsNaN(at) || at < -1e-9 || at > 1+1e-9 {
		return -1
	}
	return p.left + min(int(at*float64(p.width)), p.width-1)
}

// rise returns how high a value stands, from 0 to 1.
func (p *pane) rise(v float64) float64 {
	at := p.y.at(v)
	if math.IsNaN(at) {
		return 0
	}
	return min(max(at, 0), 1)
}

func (p *pane) row(v float64) int {
	return p.top + p.height - 1 - min(int(p.rise(v)*float64(p.height)), p.height-1)
}

// Cells draws the plot in the cells of a terminal. Where a filled series has
// more steps than there are columns, a column shows the highest of its steps.
func (p *Plot) Cells(o CellOptions) *Canvas {
	width, height := max(cmp.Or(o.Width, 80), 24), max(cmp.Or(o.Height, 8), 3)
	c := NewCanvas(width, 0)
	title, note := p.Words()
	c.Paragraph(title, 0, Strong)
	c.Paragraph(note, 0, Muted)
	v := pane{Canvas: c, signs: o.signs(), height: height}
	var ok bool
	if v.x, v.y, ok = p.scales(); !ok {
		c.Paragraph(nothing(p.Empty), 2, Plain)
		return c
	}
	p.cellLegend(&v)
	yticks := p.Y.ticks(v.y, max(height/2, 2))
	for _, t := range yticks {
		v.left = max(v.left, Columns(t.label)+1)
	}
	v.left = min(v.left, width/2) + 1
	v.width = width - v.left - 1
	marks := markRows(p.Marks, func(m Mark) float64 { return float64(v.column(m.X)) },
		func(m Mark) float64 { return float64(Columns(m.Label) + 2) }, float64(width))
	head := c.Height()
	c.Grow(head + 1 + marks.rows)
	c.Text(0, head, p.Y.Label, Muted)
	v.top = head + 1 + marks.rows
	c.Grow(v.top + height)
	if p.Grid != nil {
		v.grid(p.Grid)
	}
	for i := len(p.Series) - 1; i >= 0; i-- {
		v.series(&p.Series[i])
	}
	for i, m := range p.Marks {
		v.mark(m, marks.at[i], head+1)
	}
	p.cellAxes(&v, yticks)
	return c
}

// cellLegend writes one sign and name a series where there are several.
func (p *Plot) cellLegend(v *pane) {
	if len(p.Series) < 2 {
		return
	}
	y := v.Height()
	v.Grow(y + 1)
	x := 0
	for _, s := range p.Series {
		if x > 0 && x+4+Columns(s.Name) > v.Canvas.width {
			x, y = 0, y+1
			v.Grow(y + 1)
		}
		v.set(x, y, v.sign(&s), s.Role.ink())
		x = v.Text(x+2, y, s.Name, Plain) + 3
	}
}

func (r Role) ink() Ink { return inkData + Ink(r) }

func (s signs) sign(of *Series) rune {
	if of.Shape == Filled {
		return s.levels[len(s.levels)-1]
	}
	return s.series[of.Role]
}

// cellAxes draws the ticks, their labels and the axes.
func (p *Plot) cellAxes(v *pane, yticks []tick) {
	base := v.top + v.height
	v.Grow(base + 2)
	for y := v.top; y < base; y++ {
		v.set(v.left-1, y, v.up, Muted)
	}
	for _, t := range yticks {
		y := v.row(t.at)
		v.set(v.left-1, y, v.ytick, Muted)
		v.Text(v.left-1-Columns(t.label), y, t.label, Muted)
	}
	v.set(v.left-1, base, v.corner, Muted)
	for x := range v.width {
		v.set(v.left+x, base, v.across, Muted)
	}
	end := -1
	for _, t := range p.X.ticks(v.x, max(v.width/9, 2)) {
		x := v.column(t.at)
		v.set(x, base, v.xtick, Muted)
		from := min(max(x-Columns(t.label)/2, 0), v.Canvas.width-Columns(t.label))
		if from <= end {
			continue
		}
		end = v.Text(from, base+1, t.label, Muted)
	}
	if from := v.Canvas.width - Columns(p.X.Label); from > end+1 {
		v.Text(from, base+1, p.X.Label, Muted)
		return
	}
	v.Grow(base + 3)
	v.Text(max(v.Canvas.width-Columns(p.X.Label), 0), base+2, p.X.Label, Muted)
}

// mark draws a label in its row and its line.
func (v *pane) mark(m Mark, at placed, top int) {
	x := v.column(m.X)
	if x < 0 {
		return
	}
	if at.flip {
		v.Text(max(x-1-Columns(m.Label), 0), top+at.row, m.Label, Plain)
	} else {
		v.Text(x+1, top+at.row, m.Label, Plain)
	}
	end := v.top + v.height
	if !math.IsNaN(m.Y) {
		end = v.row(m.Y)
	}
	for y := top + at.row; y < end; y++ {
		if v.empty(x, y) {
			v.set(x, y, v.signs.mark, Muted)
		}
	}
	if !math.IsNaN(m.Y) && v.empty(x, end) {
		v.set(x, end, v.point, inkData)
	}
}
