package chart

import (
	"cmp"
	"slices"
)

// placed is where the label of a mark stands.
type placed struct {
	row  int
	flip bool // left of its line
	y    float64
}

type placedMarks struct {
	at   []placed
	rows int
}

// label is a mark's line at x and how long its label is beside it.
type label struct {
	x, long float64
	flip    bool
}

// covers tells whether a label stands where the line of another is.
func (l *label) covers(x float64) bool {
	if l.flip {
		return x < l.x && x > l.x-l.long
	}
	return x > l.x && x < l.x+l.long
}

// span is where a label stands.
func (l *label) span() (from, to float64) {
	if l.flip {
		return l.x - l.long, l.x
	}
	return l.x, l.x + l.long
}

// markRows gives each mark's label, which stands right of its line and is so
// long, a row of its own above the picture where others are near, so that no
// line, which goes down from its label, runs through another label. A label
// that would end beyond the right edge stands left of its line, and with it
// those that it would stand on.
func markRows(marks []Mark, at, long func(Mark) float64, edge float64) placedMarks {
	labels := make([]label, len(marks))
	order := make([]int, len(marks))
	for i, m := range marks {
		labels[i], order[i] = label{x: at(m), long: long(m)}, i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(labels[b].x, labels[a].x) }) // from the right
	for n, i := range order {
		l := &labels[i]
		l.flip = l.x+l.long > edge
		for _, j := range order[:n] {
			right := &labels[j]
			l.flip = l.flip || right.flip && right.covers(l.x) && l.covers(right.x)
		}
	}
	out := placedMarks{at: make([]placed, len(marks))}
	for range marks { // rows only grow, and no chain is longer than the marks
		for i := range labels {
			for j := range labels {
				if i != j && above(labels, i, j) {
					out.at[j].row = min(max(out.at[j].row, out.at[i].row+1), len(marks)-1)
				}
			}
		}
	}
	for i, l := range labels {
		out.at[i].flip = l.flip
		out.rows = max(out.rows, out.at[i].row+1)
	}
	return out
}

// above tells whether label i has to stand above label j: the line of j would
// run through it, or both would stand in one place.
func above(labels []label, i, j int) bool {
	a, b := &labels[i], &labels[j]
	if a.covers(b.x) {
		return true
	}
	if b.covers(a.x) {
		return false
	}
	fromA, toA := a.span()
	fromB, toB := b.span()
	return fromA < toB && fromB < toA && (a.x < b.x || a.x == b.x && i < j)
}
