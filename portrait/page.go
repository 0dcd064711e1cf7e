package portrait

import "github.com/tokamak-bench/tokamak/chart"

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
