package verify

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tokamak-bench/tokamak/measure"
)

// ParseError says what is wrong with an expression, and where.
type ParseError struct {
	Expr    string // the whole expression
	Column  int    // in characters, from 1
	Message string // what was expected
	What    string // whose expression it is; empty: SLO
}

// Error returns the message with its column.
func (e *ParseError) Error() string {
	what := e.What
	if what == "" {
		what = "SLO"
	}
	return fmt.Sprintf("%s %.200q, column %d: %s", what, e.Expr, e.Column, e.Message)
}

// maxExpr bounds an expression; what is longer is no expression.
const maxExpr = 16 << 10

// Parse reads objectives, separated by commas:
//
//	[steady.]METRIC[.STATISTIC] (< | <= | > | >=) NUMBER UNIT
//
// STATISTIC is mean, sd, max or a percentile (p50, p95, p999, p99.9); a rate
// has none. The unit is one of the metric's: us, ms, s or m; /s, req/s or
// tok/s; tok; %. An error is a [*ParseError].
func Parse(expr string) ([]Objective, error) {
	if len(expr) > maxExpr {
		return nil, &ParseError{Expr: expr, Column: 1, Message: "an expression of at most 16 KiB was expected"}
	}
	s := &scanner{text: expr}
	var out []Objective
	for {
		o, err := s.objective()
		if err != nil {
			return nil, err
		}
		out = append(out, o)
		s.space()
		if s.pos == len(s.text) {
			return out, nil
		}
		if s.text[s.pos] != ',' {
			return nil, s.fail(s.pos, "a comma or the end was expected")
		}
		s.pos++
	}
}

type scanner struct {
	text string
	pos  int
	what string // of errors
}

func (s *scanner) fail(at int, format string, args ...any) error {
	return &ParseError{Expr: s.text, Column: s.column(at), Message: fmt.Sprintf(format, args...), What: s.what}
}

func (s *scanner) column(at int) int { return utf8.RuneCountInString(s.text[:at]) + 1 }

func (s *scanner) space() { s.run(unicode.IsSpace) }

// run takes the longest run of runes that satisfy ok.
func (s *scanner) run(ok func(rune) bool) string {
	start := s.pos
	for s.pos < len(s.text) {
		r, n := utf8.DecodeRuneInString(s.text[s.pos:])
		if !ok(r) {
			break
		}
		s.pos += n
	}
	return s.text[start:s.pos]
}

func wordRune(r rune) bool {
	return r == '_' || r == '.' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

func digitRune(r rune) bool { return r == '.' || '0' <= r && r <= '9' }

func unitRune(r rune) bool { return r == '/' || r == '%' || unicode.IsLetter(r) }

func (s *scanner) objective() (Objective, error) {
	s.space()
	o := Objective{Column: s.column(s.pos)}
	if err := s.subject(&o); err != nil {
		return o, err
	}
	if err := s.comparison(&o); err != nil {
		return o, err
	}
	s.space()
	start := s.pos
	number := s.run(digitRune)
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return o, s.fail(start, "a number was expected, such as 800 or 0.5")
	}
	s.space()
	at := s.pos
	unit := s.run(unitRune)
	factor, ok := factorOf(o.Metric.Unit, unit)
	if !ok {
		return o, s.fail(at, "a unit of %s was expected: %s", o.Metric.Name, strings.Join(unitsOf(o.Metric.Unit), ", "))
	}
	o.Threshold = x * factor
	name := o.Metric.Name
	if o.Steady {
		name = steadyPrefix + name
	}
	if o.Stat != Only {
		name += "." + string(o.Stat)
	}
	o.Expr = name + string(o.Op) + number + unit
	return o, nil
}

const steadyPrefix = "steady."

// subject reads the metric and its statistic.
func (s *scanner) subject(o *Objective) error {
	start := s.pos
	word := s.run(wordRune)
	if word == "" {
		return s.fail(start, "a metric was expected, such as ttft.p99 or error_rate")
	}
	rest, steady := strings.CutPrefix(word, steadyPrefix)
	o.Steady = steady
	nameAt := start + len(word) - len(rest)
	name, statistic, dotted := strings.Cut(rest, ".")
	kind, ok := measure.Find(name)
	if !ok {
		return s.fail(nameAt, "there is no metric %q%s", name, suggestion(name))
	}
	o.Metric = kind
	statAt := nameAt + len(name) + 1
	if kind.Form == measure.Rate {
		if dotted {
			return s.fail(statAt-1, "%s is one value a run: no statistic was expected", name)
		}
		o.Stat = Only
		return nil
	}
	if !dotted {
		return s.fail(s.pos, "a statistic was expected, such as %s.p99 (or mean, sd, max)", name)
	}
	if o.Stat, o.P, ok = statisticOf(statistic); !ok {
		return s.fail(statAt, "mean, sd, max or a percentile such as p50, p99 or p99.9 was expected, not %q", statistic)
	}
	return nil
}

// statisticOf reads a statistic; its percentile is a share, or 0.
func statisticOf(name string) (Stat, float64, bool) {
	switch Stat(name) {
	case Mean, SD, Max:
		return Stat(name), 0, true
	}
	digits, ok := strings.CutPrefix(name, "p")
	if !ok || digits == "" || len(digits) > 8 || strings.TrimFunc(digits, digitRune) != "" {
		return "", 0, false
	}
	whole, fraction, dotted := strings.Cut(digits, ".")
	if dotted && fraction == "" {
		return "", 0, false
	}
	if nines, ok := strings.CutPrefix(whole, "99"); ok && !dotted { // p999 is p99.9
		whole, fraction = "99", nines
	}
	if len(whole) == 1 {
		whole = "0" + whole
	}
	p, err := strconv.ParseFloat("0."+whole+fraction, 64)
	if err != nil || p <= 0 || len(whole) != 2 {
		return "", 0, false
	}
	return Stat(name), p, true
}

func (s *scanner) comparison(o *Objective) error {
	s.space()
	for _, op := range []Op{AtMost, AtLeast, Below, Above} {
		if strings.HasPrefix(s.text[s.pos:], string(op)) {
			s.pos += len(op)
			o.Op = op
			return nil
		}
	}
	return s.fail(s.pos, "<, <=, > or >= was expected")
}
