package portrait

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/tokamak-bench/tokamak/chart"
)

//go:embed page.html
var pageHTML string

// HTML writes the page as one file that holds all it needs: no script, nothing
// fetched. Each picture is there twice, for wide and for narrow windows, so that
// its letters are never smaller than those around it.
func (p *Page) HTML(w io.Writer) error {
	n := 0
	t, err := template.New("page").Funcs(template.FuncMap{
		"style": func() template.CSS { return template.CSS(chart.Style()) },
		"t":     chart.Shown,
		"title": func(f chart.Figure) string { title, _ := f.Words(); return chart.Shown(title) },
		"note":  func(f chart.Figure) string { _, note := f.Words(); return chart.Shown(note) },
		"svg": func(f chart.Figure, width, height int) template.HTML { // escaped by package chart
			n++
			return template.HTML(f.SVG(chart.SVGOptions{ID: fmt.Sprintf("f%d", n), Inline: true, Width: width, Height: height}))
		},
	}).Parse(pageHTML)
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}
