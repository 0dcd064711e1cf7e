package verify

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/compare"
)

// Change is a gate on a comparison: it fails where a figure's change from the
// baseline is beyond By.
type Change struct {
	Expr   string // in its shortest form: ttft.p99>+5%
	Figure compare.Figure
	More   bool    // fails where the change is more than By, else where it is less
	By     float64 // in % of the baseline where Relative, else in the metric's unit
	// Relative says which of the two By is.
	Relative bool
	Column   int // where it began, in characters from 1
}

// gate is what errors call an expression.
const gate = "gate"

// points is how a change of a share is written: in percentage points.
const points = "pp"

// ParseChanges reads gates on a comparison, separated by commas:
//
//	METRIC[.STATISTIC] (< | >) (+ | -)NUMBER UNIT
//
// The unit is %, of the baseline, or one of the metric's: +2ms, -1tok/s. A
// metric that is a share itself changes by percentage points: error_rate>+1pp.
// STATISTIC is one of those in summary.json. An error is a [*ParseError].
func ParseChanges(expr string) ([]Change, error) {
	if len(expr) > maxExpr {
		return nil, &ParseError{expr, 1, "an expression of at most 16 KiB was expected", gate}
	}
	s := &scanner{text: expr, what: gate}
	var out []Change
	for {
		c, err := s.change()
		if err != nil {
			return nil, err
		}
		out = append(out, c)
		more, err := s.next()
		if err != nil || !more {
			return out, err
		}
	}
}

// ParseFigures reads figures, separated by commas: ttft.p50, error_rate. Each
// must be one of which more or less is better. An error is a [*ParseError].
func ParseFigures(expr string) ([]compare.Figure, error) {
	s := &scanner{text: expr, what: "figures"}
	var out []compare.Figure
	for {
		s.space()
		at := s.pos
		f, _, err := s.figure()
		if err != nil {
			return nil, err
		}
		if !f.Directed() {
			return nil, s.fail(at, "%s was not expected: neither more nor less of it is better", f)
		}
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
		more, err := s.next()
		if err != nil || !more {
			return out, err
		}
	}
}

// next takes a comma, and tells whether there was one before the end.
func (s *scanner) next() (bool, error) {
	s.space()
	if s.pos == len(s.text) {
		return false, nil
	}
	if s.text[s.pos] != ',' {
		return false, s.fail(s.pos, "a comma or the end was expected")
	}
	s.pos++
	return true, nil
}

// figure reads a metric with a statistic that summaries have.
func (s *scanner) figure() (compare.Figure, measure.Kind, error) {
	at := s.pos
	var o Objective
	if err := s.subject(&o); err != nil {
		return compare.Figure{}, o.Metric, err
	}
	if o.Steady {
		return compare.Figure{}, o.Metric, s.fail(at, "a metric was expected without %q: --window steady compares the steady windows", steadyPrefix)
	}
	f := compare.Figure{Metric: o.Metric.Name, Stat: string(o.Stat)}
	if o.Stat == "p99.9" {
		f.Stat = "p999"
	}
	if o.Stat != Only && !slices.Contains(compare.Statistics(), f.Stat) {
		return f, o.Metric, s.fail(at+len(o.Metric.Name)+1, "one of %s was expected, not %q", strings.Join(compare.Statistics(), ", "), o.Stat)
	}
	return f, o.Metric, nil
}

func (s *scanner) change() (Change, error) {
	s.space()
	c := Change{Column: s.column(s.pos)}
	f, kind, err := s.figure()
	if err != nil {
		return c, err
	}
	c.Figure = f
	s.space()
	if s.pos == len(s.text) || s.text[s.pos] != '<' && s.text[s.pos] != '>' {
		return c, s.fail(s.pos, "< or > was expected")
	}
	c.More = s.text[s.pos] == '>'
	op := s.text[s.pos : s.pos+1]
	s.pos++
	s.space()
	if s.pos == len(s.text) || s.text[s.pos] != '+' && s.text[s.pos] != '-' {
		return c, s.fail(s.pos, "a change with its sign was expected, such as +5%% or -3%%")
	}
	sign := s.text[s.pos : s.pos+1]
	s.pos++
	s.space()
	start := s.pos
	number := s.run(digitRune)
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return c, s.fail(start, "a number was expected, such as 5 or 0.5")
	}
	if sign == "-" {
		x = -x
	}
	s.space()
	at := s.pos
	unit := s.run(unitRune)
	factor, ok := c.unit(kind.Unit, unit)
	if !ok {
		return c, s.fail(at, "a change of %s in %s was expected", kind.Name, strings.Join(changeUnits(kind.Unit), ", "))
	}
	c.By = x * factor
	if c.Relative && c.By <= -100 {
		return c, s.fail(start, "a change of more than -100%% was expected")
	}
	c.Expr = f.String() + op + sign + number + unit
	return c, nil
}

// unit reads the unit of a change in a metric that has the unit of.
func (c *Change) unit(of, text string) (factor float64, ok bool) {
	switch {
	case of == "%":
		return 1, text == points
	case text == "%":
		c.Relative = true
		return 1, true
	}
	return factorOf(of, text)
}

func changeUnits(of string) []string {
	if of == "%" {
		return []string{points + " (percentage points)"}
	}
	return append([]string{"%"}, unitsOf(of)...)
}

// ParseMargin reads the share by which figures may be apart and count as the
// same: 5%. It is above 0 and below 50 %.
func ParseMargin(text string) (float64, error) {
	number, ok := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || strings.Trim(number, "0123456789.") != "" || x <= 0 || x >= 50 {
		return 0, &ParseError{text, 1, "a share above 0% and below 50% was expected, such as 5%", "margin"}
	}
	return x / 100, nil
}
