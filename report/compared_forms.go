package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/compare"
)

// CompareMarkdown writes a comparison for a pull request: the verdict first.
func CompareMarkdown(w io.Writer, c *Compared) error {
	var b strings.Builder
	head := word(c.Verdict.Verdict)
	if len(c.Gates) == 0 {
		head = "COMPARED"
	}
	fmt.Fprintf(&b, "**%s**: %s\n\n", head, cell(c.Verdict.Reason))
	fmt.Fprintf(&b, "- baseline: %s\n", cell(partyWords(&c.Baseline)))
	for i := range c.Contrasts {
		t := &c.Contrasts[i]
		fmt.Fprintf(&b, "- against: %s; %s\n", cell(partyWords(&t.Party)), method(t))
	}
	for _, u := range c.Unlike {
		fmt.Fprintf(&b, "- unlike: %s\n", cell(u))
	}
	for _, n := range c.Notes {
		fmt.Fprintf(&b, "- %s\n", cell(n))
	}
	if len(c.Gates) > 0 {
		b.WriteString("\n| gate | verdict | change | 90 % interval | why |\n|---|---|---|---|---|\n")
	}
	for i := range c.Gates {
		g := &c.Gates[i]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", code(c.gateName(g)), word(g.Verdict), change(g.Change, g.Relative, g.Unit),
			interval(g.Low, g.High, g.Relative, g.Unit), cell(g.Reason))
	}
	for i := range c.Contrasts {
		markdownContrast(&b, &c.Contrasts[i])
	}
	fmt.Fprintf(&b, "\n%s.\n", cell(c.rules()))
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownContrast(b *strings.Builder, t *compare.Contrast) {
	fmt.Fprintf(b, "\n**%s**: %s\n\n", cell(t.Party.Name), cell(t.Reason))
	b.WriteString("| figure | baseline | other | change | 95 % interval | effect | word |\n|---|---:|---:|---:|---:|---:|---|\n")
	for _, primary := range []bool{true, false} {
		for i := range t.Figures {
			d := &t.Figures[i]
			if d.Primary != primary {
				continue
			}
			name := d.Figure
			if primary {
				name += " \\*"
			}
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", name, figure(d.Baseline, d.Unit), figure(d.Other, d.Unit),
				change(d.Change, d.Relative, d.Unit), interval(d.Low, d.High, d.Relative, d.Unit), effect(d.Effect), d.Word)
		}
	}
}

// cell makes text fit for a line or a table's cell of Markdown.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_").Replace(Line(text))
}

// code makes text fit for code in a table's cell of Markdown.
func code(text string) string {
	return "`" + strings.NewReplacer("|", "\\|", "`", "'").Replace(Line(text)) + "`"
}

// Suite returns the comparison as a JUnit suite: a case for each gate, or, where there
// are none, one for each primary figure, which passes whatever its word is. One that
// was interrupted has a case that says so: some case is red if and only if the
// exit code is not 0.
func (c *Compared) Suite() Suite {
	s := Suite{Name: "compare " + c.Baseline.Name, Properties: []Property{{"baseline", partyWords(&c.Baseline)}, {"verdict", string(c.Verdict.Verdict)},
		{"exit", fmt.Sprint(c.Verdict.Exit)}}}
	for i := range c.Contrasts {
		s.Properties = append(s.Properties, Property{"against", partyWords(&c.Contrasts[i].Party)})
	}
	if c.Verdict.Exit == int(exit.Interrupted) {
		s.Cases = append(s.Cases, Case{Name: "comparison", Result: CaseErrored, Kind: "interrupted", Message: c.Verdict.Reason})
	}
	for i := range c.Gates {
		g := &c.Gates[i]
		k := Case{Name: c.gateName(g), Message: g.Reason, Detail: []string{"change " + gateChange(g)}}
		k.Result, k.Kind = CaseOf(g.Verdict, false)
		s.Cases = append(s.Cases, k)
	}
	for i := range c.Contrasts {
		t := &c.Contrasts[i]
		for j := range t.Figures {
			if d := &t.Figures[j]; d.Primary && len(c.Gates) == 0 {
				s.Cases = append(s.Cases, Case{Name: t.Party.Name + ": " + d.Figure, Message: string(d.Word), Detail: []string{
					"change " + change(d.Change, d.Relative, d.Unit), "interval " + interval(d.Low, d.High, d.Relative, d.Unit), d.Reason}})
			}
		}
	}
	return s
}

// NoiseText writes a noise floor for people.
func NoiseText(w io.Writer, n *compare.Noise) error {
	var b strings.Builder
	seeds := "the same requests each time"
	if n.Seeds > 1 {
		seeds = fmt.Sprintf("%d different seeds: the noise of the requests is in it", n.Seeds)
	}
	fmt.Fprintf(&b, "noise floor of %s, from %d runs, %s\n", Line(strings.Join(n.Targets, " ")), n.Runs, seeds)
	for _, u := range n.Unlike {
		fmt.Fprintf(&b, "unlike: %s\n", Line(u))
	}
	b.WriteString("\n")
	fmt.Fprintf(&b, "%s%s%s%s%s%s\n", pad("", -nameWidth), pad("mean", valueWidth), pad("least", valueWidth), pad("most", valueWidth),
		pad("sd", changeWidth), pad("floor", changeWidth))
	for _, name := range n.Order() {
		l := n.Figures[name]
		sd, floor := measure.Some(l.SD), measure.Some(l.Floor)
		unit := l.Unit
		if l.Relative {
			sd, unit = measure.Some(100*l.SD), "%"
		}
		fmt.Fprintf(&b, "%s%s%s%s%s%s\n", pad(Line(name), -nameWidth), pad(figure(measure.Some(l.Mean), l.Unit), valueWidth),
			pad(figure(measure.Some(l.Low), l.Unit), valueWidth), pad(figure(measure.Some(l.High), l.Unit), valueWidth),
			pad(figure(sd, unit), changeWidth), pad(figure(floor, unit), changeWidth))
	}
	b.WriteString("\nTwo single runs of this may be apart by the floor through noise alone, 95 % of the time.\n")
	_, err := io.WriteString(w, b.String())
	return err
}
