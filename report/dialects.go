package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/dialect"
)

// Told is what one tool would have printed of a run, for -o json.
type Told struct {
	dialect.Column
	Figures []dialect.Figure `json:"figures"`
}

// DialectText writes what one tool would have printed, under its own names, in
// its units and with its decimals; beside a figure that it does not have, why.
func DialectText(w io.Writer, t *Told) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s would have printed of this run\n\n", t.Tool, t.Version)
	width := 0
	for _, f := range t.Figures {
		width = max(width, len([]rune(f.Name)))
	}
	for _, f := range t.Figures {
		if x, ok := f.Value.Get(); ok {
			line := fmt.Sprintf("%-*s  %14s %s", width, f.Name, strconv.FormatFloat(x, 'f', f.Decimals, 64), f.Unit)
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			continue
		}
		fmt.Fprintf(&b, "%-*s  %14s (%s)\n", width, f.Name, "-", f.Reason)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// dialectWidth is the width of a column of the comparison; metricWidth that of
// its first.
const (
	dialectWidth = 11
	metricWidth  = 15
)

// DialectsText writes one table of what every tool would have printed, our own
// figures first, and below it why those differ that lie more than 5 % apart.
func DialectsText(w io.Writer, c *dialect.Comparison, o TextOptions) error {
	p := &page{colour: o.Colour, width: max(o.Width, textWidth)}
	p.b.WriteString("What each tool would have printed of this run; * lies more than 5 % from ours. A row has the figures\n" +
		"that tools print under one name, whatever they mean by it.\n\n")
	each := max((p.width-metricWidth-dialectWidth)/dialectWidth, 1)
	for from := 0; from < len(c.Tools); from += each {
		p.dialectBlock(c, from, min(from+each, len(c.Tools)))
		p.blank()
	}
	p.causes(c)
	p.lacks(c)
	if c.Unsent > 0 {
		fmt.Fprintf(&p.b, "\n%s requests were never sent: no tool knows of them; ours counts them.\n", count(c.Unsent))
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *page) dialectBlock(c *dialect.Comparison, from, to int) {
	fmt.Fprintf(&p.b, "%-*s%*s", metricWidth, "", dialectWidth, "tokamak")
	for _, t := range c.Tools[from:to] {
		name := t.Name
		if name == "inference-perf" {
			name = "inf.-perf"
		}
		fmt.Fprintf(&p.b, "%*s", dialectWidth, name)
	}
	fmt.Fprintf(&p.b, "\n%-*s%*s", metricWidth, "", dialectWidth, "")
	for _, t := range c.Tools[from:to] {
		fmt.Fprintf(&p.b, "%*s", dialectWidth, t.Version)
	}
	p.blank()
	for i := range c.Rows {
		r := &c.Rows[i]
		if !r.Ours.Valid() && !slices.ContainsFunc(r.Cells, func(c dialect.Cell) bool { return c.Value.Valid() }) {
			continue
		}
		fmt.Fprintf(&p.b, "%-*s%s", metricWidth, r.Metric, right(plainFigure(r.Ours, r.Unit), dialectWidth))
		for _, cell := range r.Cells[from:to] {
			text := plainFigure(cell.Value, r.Unit)
			if math.Abs(cell.Difference.Or(0)) > dialect.Apart {
				text += "*"
			} else {
				text += " "
			}
			p.b.WriteString(right(text, dialectWidth))
		}
		p.blank()
	}
}

func right(text string, width int) string {
	return strings.Repeat(" ", max(width-len([]rune(text)), 1)) + text
}

// plainFigure is a figure without the unit that its row has.
func plainFigure(v measure.Value, unit string) string {
	if x, ok := v.Get(); ok && unit == "" {
		return measure.Count(int64(x))
	}
	return strings.TrimSuffix(strings.TrimSuffix(measure.Figure(v, unit), " "+unit), "%")
}

// causes writes, tool by tool and rule by rule, which figures a rule moves.
func (p *page) causes(c *dialect.Comparison) {
	p.b.WriteString("Why (a rule, and what the figure would be under ours instead)\n")
	any := false
	for i, t := range c.Tools {
		lines := p.causesOf(c, i)
		if len(lines) == 0 {
			continue
		}
		any = true
		fmt.Fprintf(&p.b, "\n%s %s\n", t.Tool, t.Version)
		for _, l := range lines {
			for k, part := range wrap(l, p.width-6) {
				fmt.Fprintf(&p.b, "  %s%s\n", [2]string{"- ", "  "}[min(k, 1)], part)
			}
		}
	}
	if !any {
		p.b.WriteString("  nothing lies more than 5 % apart\n")
	}
}

// shownOfRule is how many figures a rule is illustrated by.
const shownOfRule = 3

func (p *page) causesOf(c *dialect.Comparison, tool int) []string {
	var rules []string
	moved := map[string][]string{}
	for i := range c.Rows {
		r := &c.Rows[i]
		cell := &r.Cells[tool]
		if math.Abs(cell.Difference.Or(0)) <= dialect.Apart {
			continue
		}
		if len(cell.Causes) == 0 {
			const together = "several rules together"
			if !slices.Contains(rules, together) {
				rules = append(rules, together)
			}
			moved[together] = append(moved[together], r.Metric+" "+measure.Figure(cell.Value, r.Unit))
			continue
		}
		for _, cause := range cell.Causes {
			if !slices.Contains(rules, cause.Rule) {
				rules = append(rules, cause.Rule)
			}
			moved[cause.Rule] = append(moved[cause.Rule], fmt.Sprintf("%s %s, without it %s%s", r.Metric,
				measure.Figure(cell.Value, r.Unit), measure.Figure(cause.Without, r.Unit), times(cell.Value, cause.Without)))
		}
	}
	var lines []string
	for _, rule := range rules {
		of := moved[rule]
		text := rule + ": " + strings.Join(of[:min(len(of), shownOfRule)], "; ")
		if len(of) > shownOfRule {
			text += fmt.Sprintf("; and %d more", len(of)-shownOfRule)
		}
		lines = append(lines, text)
	}
	return lines
}

// times says by which factor a rule moves a figure, where that is large.
func times(with, without measure.Value) string {
	x, y := with.Or(0), without.Or(0)
	if x <= 0 || y <= 0 || x/y < 1.995 && y/x < 1.995 {
		return ""
	}
	return fmt.Sprintf(" (×%s)", measure.Digits(x/y))
}

// lacks says, tool by tool, why figures are missing.
func (p *page) lacks(c *dialect.Comparison) {
	p.b.WriteString("\nMissing\n")
	for i, t := range c.Tools {
		var reasons []string
		of := map[string][]string{}
		for k := range c.Rows {
			cell := &c.Rows[k].Cells[i]
			if cell.Value.Valid() {
				continue
			}
			name, _, _ := strings.Cut(c.Rows[k].Metric, ".")
			if strings.HasPrefix(c.Rows[k].Metric, "requests") {
				name = c.Rows[k].Metric
			}
			if !slices.Contains(reasons, cell.Reason) {
				reasons = append(reasons, cell.Reason)
			}
			if !slices.Contains(of[cell.Reason], name) {
				of[cell.Reason] = append(of[cell.Reason], name)
			}
		}
		var parts []string
		for _, r := range reasons {
			parts = append(parts, strings.Join(of[r], ", ")+": "+r)
		}
		if len(parts) == 0 {
			continue
		}
		for k, l := range wrap(strings.Join(parts, "; "), p.width-18) {
			fmt.Fprintf(&p.b, "  %-15s %s\n", [2]string{t.Name, ""}[min(k, 1)], l)
		}
	}
}
