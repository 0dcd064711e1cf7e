package report

import (
	"strings"

	"github.com/tokamak-bench/tokamak/measure/compare"
)

// Widths of the tables of a comparison and a noise floor, in columns.
const (
	nameWidth     = 20
	valueWidth    = 13
	changeWidth   = 9
	intervalWidth = 22
	effectWidth   = 8
)

// The columns of the table of a contrast.
const (
	nameColumn = iota
	baselineColumn
	otherColumn
	changeColumn
	intervalColumn
	effectColumn
	wordColumn
	comparedColumns
)

// comparedRow is one line of the table.
type comparedRow struct {
	cells  [comparedColumns]string
	colour string // of the word
}

// widths are those of the columns: the usual ones, with room for what is longer.
type widths [comparedColumns]int

// figures writes the table of a contrast, the primary figures first. Where it
// is wider than the page its columns move together, and where that is not
// enough the interval stands on a line of its own.
func (p *page) figures(t *compare.Contrast) {
	rows := comparedRows(t)
	wide := widths{nameWidth, valueWidth, valueWidth, changeWidth, intervalWidth, effectWidth, 2}
	for _, r := range rows {
		wide[wordColumn] = max(wide[wordColumn], 2+visible(r.cells[wordColumn]))
	}
	w, below := wide, false
	if w.sum() > p.width {
		w = tight(rows, false)
	}
	if w.sum() > p.width {
		w, below = tight(rows, true), true
	}
	for _, r := range rows {
		p.comparedRow(r, w, below)
	}
}

func (w *widths) sum() int {
	n := 0
	for _, x := range w {
		n += x
	}
	return n
}

// tight are the least widths that hold the cells, without a column for the
// interval where it stands below.
func tight(rows []comparedRow, below bool) widths {
	var w widths
	for _, r := range rows {
		for i, c := range r.cells {
			gap := 2
			if i == nameColumn {
				gap = 0
			}
			w[i] = max(w[i], gap+visible(c))
		}
	}
	if below {
		w[intervalColumn] = 0
	}
	return w
}

func comparedRows(t *compare.Contrast) []comparedRow {
	rows := []comparedRow{{cells: [comparedColumns]string{"", "baseline", "other", "change", "95 % interval", "effect", ""}}}
	for _, primary := range []bool{true, false} {
		for i := range t.Figures {
			d := &t.Figures[i]
			if d.Primary != primary {
				continue
			}
			name := d.Figure
			if d.Primary {
				name += " *"
			}
			rows = append(rows, comparedRow{colour: wordColour(d.Word), cells: [comparedColumns]string{name,
				figure(d.Baseline, d.Unit), figure(d.Other, d.Unit), change(d.Change, d.Relative, d.Unit),
				interval(d.Low, d.High, d.Relative, d.Unit), effect(d.Effect), string(d.Word)}})
		}
	}
	return rows
}

func (p *page) comparedRow(r comparedRow, w widths, below bool) {
	at := w[nameColumn] + w[baselineColumn] + w[otherColumn] + w[changeColumn]
	p.b.WriteString(pad(r.cells[nameColumn], -w[nameColumn]))
	for i := baselineColumn; i < wordColumn; i++ {
		if i != intervalColumn || !below {
			p.b.WriteString(pad(r.cells[i], w[i]))
		}
	}
	if word := r.cells[wordColumn]; word != "" {
		p.b.WriteString("  " + p.paint(r.colour, word))
	}
	p.b.WriteString("\n")
	if text := r.cells[intervalColumn]; below && text != "-" {
		p.b.WriteString(strings.TrimRight(pad(text, at), " ") + "\n")
	}
}
