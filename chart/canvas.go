package chart

import (
	"bufio"
	"fmt"
	"io"
)

// Ink is how a cell of a terminal looks. The inks of series follow their roles.
type Ink uint8

// The inks.
const (
	Plain Ink = iota
	Muted
	Strong
	inkData
	inkModel
	inkOther
	inkReference
	inkVariant
)

// codes are the terminal's words for an ink: of the sixteen colours that every
// theme has, so that they can be read on light and dark ground.
func (k Ink) codes() string {
	switch k {
	case Muted, inkReference:
		return "0;2"
	case Strong:
		return "0;1"
	case inkData:
		return "0;34"
	case inkModel:
		return "0;33"
	case inkOther:
		return "0;32"
	case inkVariant:
		return "0;35"
	}
	return "0"
}

// cell is one place of a terminal; r is 0 in the second half of a wide rune.
type cell struct {
	r   rune
	ink Ink
}

// Canvas is a field of terminal cells.
type Canvas struct {
	width int
	rows  [][]cell
}

// NewCanvas returns an empty one.
func NewCanvas(width, height int) *Canvas {
	c := &Canvas{width: max(width, 0)}
	c.Grow(height)
	return c
}

// Width and Height in cells.
func (c *Canvas) Width() int { return c.width }

// Height in cells.
func (c *Canvas) Height() int { return len(c.rows) }

// Grow adds empty rows at the bottom until there are so many.
func (c *Canvas) Grow(height int) {
	for len(c.rows) < height {
		row := make([]cell, c.width)
		for i := range row {
			row[i].r = ' '
		}
		c.rows = append(c.rows, row)
	}
}

// set puts one narrow rune; outside it does nothing.
func (c *Canvas) set(x, y int, r rune, ink Ink) {
	if y >= 0 && y < len(c.rows) && x >= 0 && x < c.width {
		c.rows[y][x] = cell{r, ink}
	}
}

// empty tells whether nothing was drawn at a place.
func (c *Canvas) empty(x, y int) bool {
	return y >= 0 && y < len(c.rows) && x >= 0 && x < c.width && c.rows[y][x].r == ' '
}

// Text writes a line of text from a place on, cut off at the right edge, and
// returns the column behind it. What is not seen, such as the control
// characters that steer a terminal, becomes a ?.
func (c *Canvas) Text(x, y int, s string, ink Ink) int {
	for _, r := range s {
		if !shown(r) {
			r = '?'
		}
		w := columns(r)
		if w == 0 {
			continue
		}
		if x+w > c.width {
			return x
		}
		c.set(x, y, r, ink)
		if w == 2 {
			c.set(x+1, y, 0, ink)
		}
		x += w
	}
	return x
}

// Paragraph writes text in as many rows as it needs at the bottom.
func (c *Canvas) Paragraph(s string, indent int, ink Ink) {
	for _, line := range Wrap(s, c.width-indent) {
		c.Grow(c.Height() + 1)
		c.Text(indent, c.Height()-1, line, ink)
	}
}

// Put draws another canvas over this one with its upper left cell at a place,
// and grows downwards where it must.
func (c *Canvas) Put(x, y int, other *Canvas) {
	c.Grow(y + other.Height())
	for j, row := range other.rows {
		for i, cell := range row {
			if x+i >= 0 && x+i < c.width {
				c.rows[y+j][x+i] = cell
			}
		}
	}
}

// Beside returns two canvases side by side with a gap of so many cells.
func Beside(left, right *Canvas, gap int) *Canvas {
	out := NewCanvas(left.width+gap+right.width, 0)
	out.Put(0, 0, left)
	out.Put(left.width+gap, 0, right)
	return out
}

// WriteOptions say with which characters a canvas is written.
type WriteOptions struct {
	Colour bool // the inks, as escape sequences
	ASCII  bool // what is no ASCII character by one that resembles it, else ?
}

// Write writes the rows as lines, without blanks at their ends.
func (c *Canvas) Write(to io.Writer, o WriteOptions) error {
	w := bufio.NewWriter(to)
	for _, row := range c.rows {
		end := len(row)
		for end > 0 && row[end-1].r == ' ' {
			end--
		}
		now := Plain
		for _, cell := range row[:end] {
			r := cell.r
			if o.ASCII {
				r = ascii(r)
			}
			if r == 0 {
				continue
			}
			if o.Colour && cell.ink != now && r != ' ' {
				now = cell.ink
				fmt.Fprintf(w, "\x1b[%sm", now.codes())
			}
			_, _ = w.WriteRune(r) // Flush says what failed
		}
		if now != Plain {
			fmt.Fprint(w, "\x1b[0m")
		}
		_ = w.WriteByte('\n')
	}
	return w.Flush()
}

// ascii returns a character of one cell in the place of one that is none.
func ascii(r rune) rune {
	switch r {
	case '÷':
		return '/'
	case '×':
		return 'x'
	case '·':
		return '|'
	case 'µ':
		return 'u'
	case '…':
		return '.'
	case '–', '−':
		return '-'
	}
	if r > 126 || r == 0 {
		return '?'
	}
	return r
}
