package chart

import "math"

func (v *pane) series(s *Series) {
	switch {
	case s.Shape == Filled:
		v.filled(s)
	case s.Shape == Dots || !v.braille || s.Role != Data:
		v.signed(s)
	default:
		v.dotted(s)
	}
}

// filled draws columns of blocks.
func (v *pane) filled(s *Series) {
	for x, high := range v.highest(s, v.width) {
		if math.IsNaN(high) {
			continue
		}
		full := v.rise(high) * float64(v.height)
		for y := range v.height {
			part := full - float64(y)
			level := int(math.Round(part * float64(len(v.levels))))
			if level <= 0 && !(y == 0 && v.rise(high) > 0) {
				break
			}
			level = min(max(level, 1), len(v.levels))
			v.set(v.left+x, v.top+v.height-1-y, v.levels[level-1], s.Role.ink())
		}
	}
}

// highest returns, for so many equal parts of the x axis, the highest value of
// a series in each; NaN where it has none.
func (v *pane) highest(s *Series, parts int) []float64 {
	out := make([]float64, parts)
	for i := range out {
		out[i] = math.NaN()
	}
	put := func(i int, y float64) {
		if i >= 0 && i < parts && !(out[i] >= y) {
			out[i] = y
		}
	}
	// What lies outside stands just outside, so that it is a whole number.
	place := func(x float64) float64 { return min(max(v.x.at(x), -1), 2) * float64(parts) }
	for i, y := range s.Y {
		if math.IsNaN(y) {
			continue
		}
		from := place(s.X[i])
		switch {
		case math.IsNaN(from):
		case s.Shape == Steps || s.Shape == Filled:
			to := place(s.X[i+1])
			first, last := int(math.Floor(from+0.5)), int(math.Ceil(to-0.5)) // parts whose middle lies in the step
			if last <= first {
				first = int(math.Floor((from + to) / 2))
				last = first + 1
			}
			for k := max(first, 0); k < min(last, parts); k++ {
				put(k, y)
			}
		case i > 0 && s.Shape == Line && !math.IsNaN(s.Y[i-1]) && !math.IsNaN(place(s.X[i-1])):
			before := place(s.X[i-1])
			for k := max(int(math.Ceil(before-0.5)), 0); k <= min(int(math.Floor(from-0.5)), parts-1); k++ {
				at := (float64(k) + 0.5 - before) / (from - before)
				put(k, v.between(s.Y[i-1], y, at))
			}
		}
	}
	return out
}

// between returns the value on a straight line of the picture.
func (v *pane) between(a, b, at float64) float64 {
	pa, pb := v.y.at(a), v.y.at(b)
	if math.IsNaN(pa) || math.IsNaN(pb) {
		return math.NaN()
	}
	return v.y.value(pa + at*(pb-pa))
}

// signed draws one sign a column.
func (v *pane) signed(s *Series) {
	if s.Shape == Dots {
		for i, y := range s.Y {
			if x := v.column(s.X[i]); x >= 0 && !math.IsNaN(y) {
				v.set(x, v.row(y), v.signs.series[s.Role], s.Role.ink())
			}
		}
		return
	}
	for x, y := range v.highest(s, v.width) {
		if !math.IsNaN(y) && (s.Role == Data || x%2 == 0) {
			v.set(v.left+x, v.row(y), v.signs.series[s.Role], s.Role.ink())
		}
	}
}

// dotted draws a line in the eight dots of braille cells.
func (v *pane) dotted(s *Series) {
	const base = 0x2800
	bits := [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}
	last := -1
	for x, high := range v.highest(s, 2*v.width) {
		if math.IsNaN(high) {
			last = -1
			continue
		}
		y := min(int(v.rise(high)*float64(4*v.height)), 4*v.height-1)
		from := y
		if last >= 0 { // join with the dot before
			from = last + sign(y-last)*min(1, abs(y-last))
		}
		for k := min(from, y); k <= max(from, y); k++ {
			r, c := v.top+v.height-1-k/4, v.left+x/2
			now := rune(base)
			if have := v.rows[r][c].r; have >= base && have < base+256 {
				now = have
			}
			v.set(c, r, now|bits[3-k%4][x%2], s.Role.ink())
		}
		last = y
	}
}

func sign(n int) int {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return 0
}

func abs(n int) int { return max(n, -n) }

// grid draws the fields of a density as shades, denser where more fell.
func (v *pane) grid(g *Grid) {
	sums := make([][]float64, v.width)
	most := 0.0
	wx, wy := weights(g.X, v.x, v.width), weights(g.Y, v.y, v.height)
	for x := range sums {
		sums[x] = make([]float64, v.height)
		for i, a := range wx[x] {
			for y := range v.height {
				for j, b := range wy[y] {
					sums[x][y] += a * b * g.Count[i][j]
				}
				most = max(most, sums[x][y])
			}
		}
	}
	for x, column := range sums {
		for y, c := range column {
			if !(c > 0) {
				continue
			}
			k := int(depth(c, most) * float64(len(v.shades)))
			v.set(v.left+x, v.top+v.height-1-y, v.shades[min(k, len(v.shades)-1)], inkData)
		}
	}
}

// weights returns, for each of so many equal parts of an axis, which share of
// each field between edges lies in it.
func weights(edges []float64, s scale, parts int) []map[int]float64 {
	out := make([]map[int]float64, parts)
	for k := range out {
		out[k] = map[int]float64{}
	}
	for i := range len(edges) - 1 {
		from, to := s.at(edges[i])*float64(parts), s.at(edges[i+1])*float64(parts)
		if math.IsNaN(from) || !(to > from) {
			continue
		}
		for k := max(int(math.Floor(from)), 0); k < parts && float64(k) < to; k++ {
			if share := (min(to, float64(k+1)) - max(from, float64(k))) / (to - from); share > 0 {
				out[k][i] = share
			}
		}
	}
	return out
}
