package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure/compare"
	"github.com/tokamak-bench/tokamak/verify"
)

// CompareText writes the terminal form of a comparison: what was held against
// what, a table of figures with their words, what more it would take, the
// gates, and the verdict as the last line.
func CompareText(w io.Writer, c *Compared, o TextOptions) error {
	p := &page{colour: o.Colour, width: textWidth}
	if o.Width > 0 {
		p.width = min(max(o.Width, leastText), textWidth)
	}
	p.line("baseline", partyWords(&c.Baseline))
	for i := range c.Contrasts {
		t := &c.Contrasts[i]
		p.line("against", partyWords(&t.Party))
		p.line("by", method(t))
	}
	if c.Window != compare.All {
		p.line("window", string(c.Window))
	}
	p.line("words", c.rules())
	for _, u := range c.Unlike {
		p.painted("unlike", yellow, u, "")
	}
	for _, n := range c.Notes {
		p.line("note", n)
	}
	for i := range c.Contrasts {
		p.contrast(&c.Contrasts[i], len(c.Contrasts) > 1)
	}
	p.gates(c)
	if c.Dir != "" {
		p.blank()
		p.line("written", c.Dir)
	}
	p.compareVerdict(c)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// contrast writes the table of one contrast, the primary figures first.
func (p *page) contrast(t *compare.Contrast, named bool) {
	p.blank()
	if named {
		p.line("against", t.Party.Name)
	}
	p.figures(t)
	p.blank()
	p.whys(t)
	p.painted("so", wordColour(t.Word), strings.ToUpper(string(t.Word)), ": "+t.Reason)
}

// whys says why of the primary figures nothing can be told, those of one reason
// together, and which figures are the client's.
func (p *page) whys(t *compare.Contrast) {
	var reasons []string
	names := map[string][]string{}
	for i := range t.Figures {
		d := &t.Figures[i]
		if d.Reason == "" || d.Word != compare.CannotTell || !d.Primary && !d.Invalid {
			continue
		}
		if names[d.Reason] == nil {
			reasons = append(reasons, d.Reason)
		}
		names[d.Reason] = append(names[d.Reason], d.Figure)
	}
	label := "why"
	for _, r := range reasons {
		p.line(label, strings.Join(names[r], ", ")+": "+r)
		label = ""
	}
}

// pad fills a text with spaces on its left, or on its right where width is negative.
func pad(text string, width int) string {
	fill := strings.Repeat(" ", max(max(width, -width)-visible(text), 0))
	if width < 0 {
		return text + fill
	}
	if fill == "" {
		fill = " "
	}
	return fill + text
}

func wordColour(w compare.Word) string {
	switch w {
	case compare.Better:
		return green
	case compare.Worse:
		return red
	case compare.CannotTell:
		return yellow
	case compare.Same:
	}
	return ""
}

// gates writes each gate with its verdict and the change that it is about.
func (p *page) gates(c *Compared) {
	if len(c.Gates) == 0 {
		return
	}
	p.blank()
	widest := 0
	for i := range c.Gates {
		widest = max(widest, visible(Line(c.gateName(&c.Gates[i]))))
	}
	label := "gate"
	for i := range c.Gates {
		g := &c.Gates[i]
		v := Line(word(g.Verdict))
		fmt.Fprintf(&p.b, "%-*s%s%s%-*s  %s\n", labelWidth, label, p.paint(colourOf(g.Verdict), v),
			strings.Repeat(" ", max(14-len(v), 1)), widest, Line(c.gateName(g)), gateChange(g))
		p.line("", g.Reason)
		label = ""
	}
}

// gateChange writes what a gate saw.
func gateChange(g *verify.Changed) string {
	if !g.Change.Valid() {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", change(g.Change, g.Relative, g.Unit), interval(g.Low, g.High, g.Relative, g.Unit))
}

// compareVerdict writes the last line.
func (p *page) compareVerdict(c *Compared) {
	v := &c.Verdict
	text, colour := word(v.Verdict), colourOf(v.Verdict)
	switch {
	case v.Exit == int(exit.Interrupted):
		text, colour = "INTERRUPTED", yellow
	case len(c.Gates) == 0:
		text, colour = "COMPARED", ""
	}
	p.blank()
	for i, l := range wrap(Line(fmt.Sprintf("%s (exit %d): %s", text, v.Exit, v.Reason)), p.width) {
		if i == 0 {
			l = strings.Replace(l, text, p.paint(colour, text), 1)
		} else {
			l = "  " + l
		}
		fmt.Fprintln(&p.b, l)
	}
}
