package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/verify"
)

// words of the verdicts, as the reader sees them.
func word(v verify.Verdict) string { return strings.ToUpper(string(v)) }

func colourOf(v verify.Verdict) string {
	switch v {
	case verify.Pass:
		return green
	case verify.Fail, verify.Invalid:
		return red
	case verify.Inconclusive, verify.Unmeasured:
	}
	return yellow
}

// slo writes each objective with its verdict, value and evidence.
func (p *page) slo() {
	if len(p.s.SLO) == 0 {
		return
	}
	p.blank()
	widest := 0
	for i := range p.s.SLO {
		widest = max(widest, visible(Line(p.s.SLO[i].Expr)))
	}
	label := "slo"
	for i := range p.s.SLO {
		s := &p.s.SLO[i]
		v := Line(word(s.Verdict))
		fmt.Fprintf(&p.b, "%-*s%s%s%-*s  %s\n", labelWidth, label, p.paint(colourOf(s.Verdict), v),
			strings.Repeat(" ", max(14-len(v), 1)), widest, Line(s.Expr), p.sloValue(s))
		p.line("", evidence(s))
		label = ""
	}
}

// sloValue writes what an objective's figure is; where requests failed, also
// what it is with them.
func (p *page) sloValue(s *verify.SLO) string {
	text := figure(s.Value, s.Unit)
	if x, ok := s.Value.Get(); ok && x != s.Threshold && text == figure(measure.Some(s.Threshold), s.Unit) {
		text = Line(precise(x, s.Unit)) // three digits would hide on which side it is
	}
	if s.Evidence.Failures == 0 {
		return text
	}
	adj, ok := p.s.Metrics[s.Metric+measure.Adj]
	if !ok {
		return text
	}
	v, ok := adj.Stat(string(s.Stat))
	if !ok || v.Equal(s.Value) {
		return text
	}
	return fmt.Sprintf("%s, %s with the failures", text, figure(v, s.Unit))
}

// evidence says what an objective's verdict rests on.
func evidence(s *verify.SLO) string {
	text := s.Reason
	if e := &s.Evidence; s.Verdict == verify.Invalid && e.N > 0 && s.Stat != verify.Only {
		text += fmt.Sprintf("; %s of %s were beyond the limit", count(e.Over), count(e.N))
	}
	return text
}

// precise writes a figure with six significant digits.
func precise(x float64, unit string) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil {
		rounded = x
	}
	text := strconv.FormatFloat(rounded, 'f', -1, 64)
	if unit == "%" {
		return text + unit
	}
	return strings.TrimSpace(text + " " + unit)
}

// verdict writes the last line: the one answer.
func (p *page) verdict() {
	v := &p.s.Verdict
	text, colour := word(v.Verdict), colourOf(v.Verdict)
	if v.Exit == int(exit.Target) {
		text, colour = "TARGET NOT USABLE", red
	}
	if v.Exit == int(exit.Interrupted) {
		text, colour = "INTERRUPTED", yellow
	}
	if p.s.Run.Ended == Aborted && v.Exit == int(exit.Failed) {
		text, colour = "ABORTED", red
	}
	p.blank()
	text = Line(text)
	lines := wrap(Line(fmt.Sprintf("%s (exit %d): %s", text, v.Exit, v.Reason)), p.width)
	for i, l := range lines {
		if i == 0 {
			l = strings.Replace(l, text, p.paint(colour, text), 1)
		} else {
			l = "  " + l
		}
		fmt.Fprintln(&p.b, l)
	}
}
