package chart

import (
	"cmp"
	"fmt"
	"math"
	"strings"
)

// frame is where the picture of a plot is drawn, in pixels.
type frame struct {
	left, top, right, bottom float64
	x, y                     scale
}

func (f *frame) px(v float64) float64 { return f.left + f.x.at(v)*(f.right-f.left) }

// py keeps values inside the picture.
func (f *frame) py(v float64) float64 {
	at := f.y.at(v)
	if math.IsNaN(at) { // zero or less on a log axis
		at = 0
	}
	return f.bottom - min(max(at, 0), 1)*(f.bottom-f.top)
}

// SVG draws the plot as one svg element.
func (p *Plot) SVG(o SVGOptions) []byte {
	w, h := cmp.Or(o.Width, 640), cmp.Or(o.Height, 300)
	x, y, ok := p.scales()
	if !ok {
		return absent(o, w, p, p.Empty)
	}
	d := &drawing{}
	d.open(o, w, h, p.Title, p.Note)
	top := d.heading(o, float64(w), p.Title, p.Note)
	f := frame{right: float64(w) - 18, bottom: float64(h) - 42, x: x, y: y}
	top = p.legend(d, top, float64(w))
	d.text(12, top+14, "mu", "start", p.Y.Label)
	marks := p.placeMarks(&f, top, w)
	f.top = top + 26 + 15*float64(marks.rows)
	yticks := p.Y.ticks(f.y, int(max((f.bottom-f.top)/34, 2)))
	f.left = 20.0
	for _, t := range yticks {
		f.left = max(f.left, 18+long(t.label))
	}
	marks = p.placeMarks(&f, top, w) // now that the left edge is known
	d.axes(p, &f, yticks)
	if p.Grid != nil {
		d.grid(p.Grid, &f)
	}
	for i := len(p.Series) - 1; i >= 0; i-- { // the first on top
		d.series(&p.Series[i], &f)
	}
	for i, m := range p.Marks {
		d.mark(m, marks.at[i], &f)
	}
	return d.close()
}

// absent draws the sentence in the place of a picture.
func absent(o SVGOptions, w int, f Figure, why string) []byte {
	title, note := f.Words()
	lines := Wrap(nothing(why), int(float64(w-24)/6.1))
	heading := 4
	if !o.Inline {
		heading = 30 + 16*len(Wrap(note, int(float64(w-24)/6.1)))
	}
	d := &drawing{}
	d.open(o, w, heading+16*len(lines)+14, title, note)
	y := d.heading(o, float64(w), title, note) + 12
	for _, l := range lines {
		d.text(12, y, "tx", "start", l)
		y += 16
	}
	return d.close()
}

// legend draws one sign and name a series where there are several.
func (p *Plot) legend(d *drawing, top, w float64) float64 {
	if len(p.Series) < 2 {
		return top
	}
	x := 12.0
	for _, s := range p.Series {
		need := 34 + long(s.Name) + 14
		if x > 12 && x+need > w {
			x, top = 12, top+18
		}
		y := top + 10
		if s.Shape == Dots {
			fmt.Fprintf(d, "<circle class=\"f%d\" cx=\"%s\" cy=\"%s\" r=\"3.5\"/>\n", s.Role, px(x+12), px(y))
		} else {
			if s.Shape == Filled {
				fmt.Fprintf(d, "<rect class=\"f%d ar\" x=\"%s\" y=\"%s\" width=\"24\" height=\"6\"/>\n", s.Role, px(x), px(y))
			}
			d.line(x, y, x+24, y, fmt.Sprintf("l s%d", s.Role))
		}
		d.text(x+30, y+4, "tx", "start", s.Name)
		x += need
	}
	return top + 20
}

// axes draws the ticks, their labels and the base line.
func (d *drawing) axes(p *Plot, f *frame, yticks []tick) {
	for _, t := range yticks {
		y := f.py(t.at)
		d.line(f.left, y, f.right, y, "gr")
		d.text(f.left-6, y+4, "mu", "end", t.label)
	}
	d.line(f.left, f.bottom, f.right, f.bottom, "ax")
	end := math.Inf(-1)
	for _, t := range p.X.ticks(f.x, int(max((f.right-f.left)/70, 2))) {
		x, half := f.px(t.at), long(t.label)/2
		d.line(x, f.bottom, x, f.bottom+4, "ax")
		if x-half < end+6 {
			continue // no room
		}
		end = x + half
		if x+half > f.right+14 {
			d.text(f.right+14, f.bottom+17, "mu", "end", t.label)
			continue
		}
		d.text(x, f.bottom+17, "mu", "middle", t.label)
	}
	d.text(f.right, f.bottom+34, "mu", "end", p.X.Label)
}

func (d *drawing) series(s *Series, f *frame) {
	switch s.Shape {
	case Dots:
		for i, v := range s.Y {
			if x := f.px(s.X[i]); !math.IsNaN(v) && !math.IsNaN(x) {
				fmt.Fprintf(d, "<circle class=\"f%d\" cx=\"%s\" cy=\"%s\" r=\"3.5\"/>\n", s.Role, px(x), px(f.py(v)))
			}
		}
	case Steps, Filled:
		var line, area strings.Builder
		open := false
		for i, v := range s.Y {
			x0, x1 := f.px(s.X[i]), f.px(s.X[i+1])
			if math.IsNaN(v) || math.IsNaN(x0) {
				open = false
				continue
			}
			y := px(f.py(v))
			if !open {
				fmt.Fprintf(&line, "M%s %s", px(x0), y)
			} else {
				fmt.Fprintf(&line, "V%s", y)
			}
			open = true
			fmt.Fprintf(&line, "H%s", px(x1))
			fmt.Fprintf(&area, "M%s %sV%sH%sV%sz", px(x0), px(f.bottom), y, px(x1), px(f.bottom))
		}
		if s.Shape == Filled {
			fmt.Fprintf(d, "<path class=\"f%d ar\" d=\"%s\"/>\n", s.Role, area.String())
		}
		fmt.Fprintf(d, "<path class=\"l s%d\" d=\"%s\"/>\n", s.Role, line.String())
	default:
		var line strings.Builder
		open := false
		for i, v := range s.Y {
			x := f.px(s.X[i])
			if math.IsNaN(v) || math.IsNaN(x) {
				open = false
				continue
			}
			if open {
				line.WriteByte('L')
			} else {
				line.WriteByte('M')
			}
			open = true
			fmt.Fprintf(&line, "%s %s", px(x), px(f.py(v)))
		}
		fmt.Fprintf(d, "<path class=\"l s%d\" d=\"%s\"/>\n", s.Role, line.String())
	}
}

// shadesOfSVG is how many shades of a density an SVG tells apart.
const shadesOfSVG = 12

// grid draws the fields of a density, darker where more fell into them: one
// path a shade.
func (d *drawing) grid(g *Grid, f *frame) {
	most := 0.0
	for _, row := range g.Count {
		for _, c := range row {
			most = max(most, c)
		}
	}
	var paths [shadesOfSVG + 1]strings.Builder
	for i, row := range g.Count {
		for j, c := range row {
			if !(c > 0) {
				continue
			}
			shade := max(int(math.Ceil(depth(c, most)*shadesOfSVG)), 1)
			fmt.Fprintf(&paths[shade], "M%s %sH%sV%sH%sz", px(f.px(g.X[i])), px(f.py(g.Y[j])), px(f.px(g.X[i+1])), px(f.py(g.Y[j+1])), px(f.px(g.X[i])))
		}
	}
	for shade := range paths {
		if p := paths[shade].String(); p != "" {
			fmt.Fprintf(d, "<path class=\"f0\" fill-opacity=\"%.2f\" shape-rendering=\"crispEdges\" d=\"%s\"/>\n",
				float64(shade)/shadesOfSVG, p)
		}
	}
}

// depth is how dark a field is drawn, from 0 to 1: the square root of its share
// of the fullest, so that thin fields are seen beside it.
func depth(c, most float64) float64 {
	if !(most > 0) {
		return 0
	}
	return math.Sqrt(c / most)
}

// placeMarks gives each label a row above the picture.
func (p *Plot) placeMarks(f *frame, top float64, w int) placedMarks {
	at := func(m Mark) float64 { return f.px(m.X) }
	rows := markRows(p.Marks, at, func(m Mark) float64 { return long(m.Label) + 8 }, float64(w)-8)
	out := placedMarks{rows: rows.rows}
	for _, r := range rows.at {
		r.y = top + 32 + 15*float64(r.row)
		out.at = append(out.at, r)
	}
	return out
}

// mark draws a label and its line.
func (d *drawing) mark(m Mark, at placed, f *frame) {
	x := f.px(m.X)
	if math.IsNaN(x) || x < f.left-0.5 || x > f.right+0.5 {
		return
	}
	to := f.bottom
	if !math.IsNaN(m.Y) {
		to = f.py(m.Y)
	}
	d.line(x, at.y-10, x, to, "ma")
	if !math.IsNaN(m.Y) {
		fmt.Fprintf(d, "<circle class=\"f0\" cx=\"%s\" cy=\"%s\" r=\"4\"/>\n", px(x), px(to))
	}
	if at.flip {
		d.text(x-4, at.y, "tx ha", "end", m.Label)
	} else {
		d.text(x+4, at.y, "tx ha", "start", m.Label)
	}
}
