package chart

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// SVGOptions say how an SVG is made.
type SVGOptions struct {
	// ID is set before the ids inside, which must be unique on a page.
	ID string
	// Width and Height of the picture in CSS pixels; 0: 640 and 300. Bars are
	// as high as they need.
	Width, Height int
	// Inline leaves out the style, which the page has from Style, and title
	// and note as drawn text, which the page shows itself.
	Inline bool
}

// Style is the CSS of every SVG: for a page that holds several of them.
func Style() string { return style }

// The colours: Okabe and Ito's, darker or lighter where the ground asks for
// it, so that each stands out from it by 3:1.
const style = `.ck{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-size:12px}
.ck .bg{fill:#fff}.ck .ti{fill:#1a1c20;font-size:15px;font-weight:600}.ck .tx{fill:#1a1c20}.ck .mu{fill:#5b616b}
.ck .gr{stroke:#e3e5e9;stroke-width:1}.ck .ax{stroke:#8a909a;stroke-width:1}.ck .ma{stroke:#5b616b;stroke-width:1}
.ck .ha{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
.ck .l{fill:none;stroke-width:2;stroke-linejoin:round}.ck .s0{stroke:#0072b2}.ck .s1{stroke:#c44e00;stroke-dasharray:7 3}
.ck .s2{stroke:#007d5c;stroke-dasharray:2 3}.ck .s3{stroke:#6b7280;stroke-dasharray:5 4;stroke-width:1.5}
.ck .s4{stroke:#a8468a;stroke-dasharray:10 3 2 3}.ck .f4{fill:#a8468a}
.ck .f0{fill:#0072b2}.ck .f1{fill:#c44e00}.ck .f2{fill:#007d5c}.ck .f3{fill:#6b7280}.ck .ar{fill-opacity:.18}
@media(prefers-color-scheme:dark){.ck .bg{fill:#16181d}.ck .ti,.ck .tx{fill:#e8eaee}.ck .mu{fill:#a4abb6}
.ck .gr{stroke:#2c3038}.ck .ax{stroke:#6b7280}.ck .ma{stroke:#a4abb6}.ck .ha{stroke:#16181d}
.ck .s0{stroke:#56b4e9}.ck .s1{stroke:#f0904c}.ck .s2{stroke:#3cc79c}.ck .s3{stroke:#9aa1ac}.ck .s4{stroke:#e08cc4}.ck .f4{fill:#e08cc4}
.ck .f0{fill:#56b4e9}.ck .f1{fill:#f0904c}.ck .f2{fill:#3cc79c}.ck .f3{fill:#9aa1ac}.ck .ar{fill-opacity:.25}}
`

// drawing is an SVG being written.
type drawing struct {
	bytes.Buffer
}

// open begins a picture with what a screen reader says of it.
func (d *drawing) open(o SVGOptions, w, h int, title, note string) {
	d.WriteString("<svg ")
	if !o.Inline {
		d.WriteString(`xmlns="http://www.w3.org/2000/svg" `)
	}
	fmt.Fprintf(d, `class="ck" role="img" viewBox="0 0 %d %d" width="%d" height="%d" aria-labelledby="%st %sd">`,
		w, h, w, h, escape(o.ID), escape(o.ID))
	fmt.Fprintf(d, "\n<title id=\"%st\">%s</title>\n<desc id=\"%sd\">%s</desc>\n", escape(o.ID), escape(title), escape(o.ID), escape(note))
	if !o.Inline {
		fmt.Fprintf(d, "<style>%s</style>\n<rect class=\"bg\" width=\"%d\" height=\"%d\"/>\n", style, w, h)
	}
}

func (d *drawing) close() []byte {
	d.WriteString("</svg>\n")
	return d.Bytes()
}

// heading draws title and note at the top and returns where they end.
func (d *drawing) heading(o SVGOptions, w float64, title, note string) float64 {
	if o.Inline {
		return 4
	}
	y := 22.0
	d.text(12, y, "ti", "start", title)
	for _, line := range Wrap(note, int((w-24)/6.1)) {
		y += 16
		d.text(12, y, "mu", "start", line)
	}
	return y + 8
}

// text draws a line of text; anchor is start, middle or end.
func (d *drawing) text(x, y float64, class, anchor, s string) {
	fmt.Fprintf(d, `<text class="%s" x="%s" y="%s"`, class, px(x), px(y))
	if anchor != "start" {
		fmt.Fprintf(d, ` text-anchor="%s"`, anchor)
	}
	fmt.Fprintf(d, ">%s</text>\n", escape(s))
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(d, "<path class=\"%s\" d=\"M%s %sL%s %s\"/>\n", class, px(x1), px(y1), px(x2), px(y2))
}

// px writes a coordinate to a tenth of a pixel.
func px(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	return trimZeros(strconv.FormatFloat(v, 'f', 1, 64))
}

// escape makes text safe inside SVG and HTML; what XML cannot hold, and what
// turns the direction of writing, becomes a ?.
func escape(s string) string {
	var b bytes.Buffer
	for _, r := range s {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '"':
			b.WriteString("&#34;")
		case r == '\'':
			b.WriteString("&#39;")
		case shown(r):
			b.WriteRune(r)
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}

// Shown returns a text with a ? for what is not seen, such as the control
// characters that steer a terminal and the marks that turn the direction of
// writing.
func Shown(s string) string {
	return strings.Map(func(r rune) rune {
		if !shown(r) {
			return '?'
		}
		return r
	}, s)
}

// shown tells whether a rune may stand in a picture: what is seen, and
// nothing that steers.
func shown(r rune) bool { return unicode.IsGraphic(r) }

// columns returns how many cells of a terminal a rune takes: 0 for marks that
// sit on the one before.
func columns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Columns returns how many cells of a terminal a text takes.
func Columns(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

// long estimates how many pixels a text of 12 px takes.
func long(s string) float64 { return 6.6 * float64(Columns(s)) }
