package chart

import (
	"cmp"
	"fmt"
)

// SVG draws the bars as one svg element; it is as high as they need.
func (b *Bars) SVG(o SVGOptions) []byte {
	const pitch = 24
	w := cmp.Or(o.Width, 640)
	left, right := 40.0, 24.0
	most := 0.0
	for _, bar := range b.Bars {
		left = max(left, min(long(Clip(bar.Name, 28))+26, 230))
		right = max(right, long(bar.Text)+20)
		most = max(most, bar.Value)
	}
	if len(b.Bars) == 0 || most == 0 || b.Empty != "" {
		return absent(o, w, b, b.Empty)
	}
	lines := 0
	if !o.Inline {
		lines = 22 + 16*len(Wrap(b.Note, int((float64(w)-24)/6.1))) + 8
	}
	h := lines + 24 + pitch*len(b.Bars) + 10
	d := &drawing{}
	d.open(o, w, h, b.Title, b.Note)
	top := d.heading(o, float64(w), b.Title, b.Note)
	d.text(12, top+14, "mu", "start", b.Label)
	room := float64(w) - left - right
	for i, bar := range b.Bars {
		y := top + 24 + float64(i*pitch)
		d.text(left-8, y+15, "tx", "end", Clip(bar.Name, 28))
		fmt.Fprintf(d, "<rect class=\"f0\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"16\" rx=\"1\"><title>%s: %s</title></rect>\n",
			px(left), px(y+2), px(max(room*bar.Value/most, 1)), escape(bar.Name), escape(bar.Text))
		d.text(left+room*bar.Value/most+6, y+15, "tx", "start", bar.Text)
	}
	return d.close()
}
