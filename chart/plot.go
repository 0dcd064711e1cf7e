package chart

import "math"

// Figure is a picture that can be drawn both ways.
type Figure interface {
	// SVG draws it as one svg element.
	SVG(o SVGOptions) []byte
	// Cells draws it in the cells of a terminal.
	Cells(o CellOptions) *Canvas
	// Words returns its title, and the sentence below it.
	Words() (title, note string)
}

// Plot is one or more series, or the density of pairs, over two axes.
type Plot struct {
	Title string
	// Note is a sentence or two that say how to read the picture.
	Note   string
	X, Y   Axis
	Series []Series
	Grid   *Grid // drawn below the series; nil: none
	Marks  []Mark
	// Empty says why there is nothing to draw. Where it is set, or there is not
	// one number that the axes can show, it stands in the place of the picture.
	Empty string
}

// Words returns the title and the note, which says nothing of a picture that is
// not there.
func (p *Plot) Words() (title, note string) {
	if p.Empty != "" {
		return p.Title, ""
	}
	return p.Title, p.Note
}

// Axis is a direction of a plot.
type Axis struct {
	Label string // what and in which unit: "input length (tokens)"
	Unit  Unit
	Log   bool
	// Whole says that only whole numbers have a meaning: no tick is between them.
	Whole bool
	// From and To are its ends; where they are equal, those of what is drawn,
	// and 0 for a linear axis of values that are not negative.
	From, To float64
}

// Unit is how the numbers of an axis are written.
type Unit int

// The units.
const (
	Count   Unit = iota // 1,500 is 1.5k
	Seconds             // 0.0025 is 2.5 ms, 5400 is 90 min
	Share               // 0.25 is 25%
)

// Shape is how a series is drawn.
type Shape int

// The shapes.
const (
	// Line joins points.
	Line Shape = iota
	// Steps holds Y[i] from X[i] to X[i+1]; X is one longer than Y.
	Steps
	// Filled is Steps with the area down to the base.
	Filled
	// Dots are points alone.
	Dots
)

// Role is what a series stands for: it has the same look in every picture.
type Role int

// The roles.
const (
	Data      Role = iota // what was observed
	Model                 // what was fitted to it
	Other                 // something else to hold against them
	Reference             // a law: Poisson, exponential
	Variant               // the model otherwise fitted
)

// Series is a line of numbers. A NaN is a gap.
type Series struct {
	Name  string // in the legend, which stands where there are two or more
	Shape Shape
	Role  Role
	X, Y  []float64
}

// Mark is a named value: a line from its label at the top down to Y at X.
type Mark struct {
	X     float64
	Y     float64 // NaN: down to the axis
	Label string
}

// At is a mark that reaches down to the axis.
func At(x float64, label string) Mark { return Mark{X: x, Y: math.NaN(), Label: label} }

// Grid is a density of pairs: how many fell into each field.
type Grid struct {
	X, Y []float64 // edges, rising
	// Count[i][j] is of the field from X[i] to X[i+1] and Y[j] to Y[j+1].
	Count [][]float64
}

// Bars are named amounts, one bar each, from the top in the order given.
type Bars struct {
	Title, Note string
	Label       string // what a bar's length is, and its unit
	Unit        Unit
	Bars        []Bar
	Empty       string // as of Plot
}

// Bar is one of Bars.
type Bar struct {
	Name  string
	Value float64 // at least 0
	Text  string  // beside the bar
}

// Words returns the title and the note, as of Plot.
func (b *Bars) Words() (title, note string) {
	if b.Empty != "" {
		return b.Title, ""
	}
	return b.Title, b.Note
}
