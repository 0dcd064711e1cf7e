package portrait

import (
	"strings"

	"github.com/tokamak-bench/tokamak/chart"
)

// Page is what is shown: figures, sentences, pictures and tables, in order.
type Page struct {
	Title, Subtitle string
	// First are the figures to read first, Rest the others.
	First, Rest []Number
	Notes       []string
	Sections    []Section
}

// Number is a figure of the page.
type Number struct {
	Name    string
	Value   string // with its unit; empty: not known
	Meaning string // in one line; where the value is not known, why
}

// Section is a group of pictures and tables.
type Section struct {
	Title   string
	Figures []chart.Figure
	Tables  []Table
}

// Table is a table of the page.
type Table struct {
	Title, Note string
	Head        []string
	Rows        [][]string
}

// Picture is one picture of a page as a file of its own.
type Picture struct {
	Name string // of the file: from its title, and .svg
	SVG  []byte
}

// Pictures returns the pictures of the page as files of their own.
func (p *Page) Pictures() []Picture {
	var out []Picture
	for _, s := range p.Sections {
		for _, f := range s.Figures {
			title, _ := f.Words()
			out = append(out, Picture{fileName(title) + ".svg", f.SVG(chart.SVGOptions{})})
		}
	}
	return out
}

// fileName keeps letters and digits of a title, small, with - between words.
func fileName(title string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}
