package chart

import (
	"cmp"
	"slices"
)

// markRows gives each mark's label, which begins at its line and is so long, a
// row: the ones further left stand higher, so that no line runs through the
// label of another. Labels that would end beyond the right edge stand left of
// their line.
func markRows(marks []Mark, at, long func(Mark) float64, edge float64) placedMarks {
	out := placedMarks{at: make([]placed, len(marks))}
	order := make([]int, len(marks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at(marks[a]), at(marks[b])) })
	for n, i := range order {
		x := at(marks[i])
		row := 0
		from := x
		if out.at[i].flip = x+long(marks[i]) > edge; out.at[i].flip {
			from = x - long(marks[i])
		}
		for _, j := range order[:n] {
			end := at(marks[j])
			if !out.at[j].flip {
				end += long(marks[j])
			}
			if end > from {
				row = max(row, out.at[j].row+1)
			}
		}
		out.at[i].row = row
		out.rows = max(out.rows, row+1)
	}
	return out
}
