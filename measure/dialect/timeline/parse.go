package timeline

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
)

// Run is a hand-written run.
type Run struct {
	Attempts []record.Attempt
	// Start and End are the load's window, absent where the file names none.
	Start, End   record.Int
	Limits       []measure.Limit
	Expectations []Expectation
}

// Expectation is what a tool is expected to print.
type Expectation struct {
	Line    int
	Dialect string        // a dialect's name, or ours
	Metric  string        // as docs/dialects.md names them
	Value   measure.Value // ms for a latency, else per second, a count or a percentage; absent for none
}

// Bounds of a file, so that a hostile one exhausts nobody.
const (
	maxRequests = 1 << 16
	maxEvents   = 1 << 18
	maxLine     = 1 << 12
)

// Error is what is wrong in a file, and where.
type Error struct {
	Line, Column int // from 1
	Text         string
}

func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Text) }

// word is a word of a line with its column.
type word struct {
	text   string
	column int
}

type parser struct {
	run    Run
	line   int
	events int
	open   *draft
}

// draft is a request that is being read.
type draft struct {
	a      record.Attempt
	base   int64
	times  int
	every  int64
	ended  bool // ended= was given
	last   int64
	tokens bool // every content event told its tokens
}

// Parse reads a file. Its errors are [*Error].
func Parse(r io.Reader) (*Run, error) {
	p := &parser{}
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, maxLine), maxLine)
	for s.Scan() {
		p.line++
		if err := p.read(s.Text()); err != nil {
			return nil, err
		}
	}
	if err := s.Err(); err != nil {
		return nil, &Error{p.line + 1, 1, err.Error()}
	}
	if err := p.close(); err != nil {
		return nil, err
	}
	return &p.run, nil
}

func (p *parser) fail(w word, format string, args ...any) error {
	return &Error{p.line, w.column, fmt.Sprintf(format, args...)}
}

func split(line string) []word {
	line, _, _ = strings.Cut(line, "#")
	var words []word
	for i := 0; i < len(line); {
		if line[i] == ' ' || line[i] == '\t' || line[i] == '\r' {
			i++
			continue
		}
		end := i
		for end < len(line) && line[end] != ' ' && line[end] != '\t' && line[end] != '\r' {
			end++
		}
		words = append(words, word{line[i:end], i + 1})
		i = end
	}
	return words
}

func (p *parser) read(line string) error {
	words := split(line)
	if len(words) == 0 {
		return nil
	}
	switch words[0].text {
	case "load":
		return p.load(words)
	case "slo":
		return p.slo(words)
	case "request":
		if err := p.close(); err != nil {
			return err
		}
		return p.request(words)
	case "expect":
		if err := p.close(); err != nil {
			return err
		}
		return p.expect(words)
	}
	if p.open == nil {
		return p.fail(words[0], "expected load, slo, request or expect, got %q", words[0].text)
	}
	return p.event(words)
}

func (p *parser) need(words []word, n int, form string) error {
	if len(words) == n {
		return nil
	}
	return p.fail(words[0], "expected %s", form)
}

// moment reads a duration in ns; below 10,000 s, so that sums stay in bounds.
func (p *parser) moment(w word) (int64, error) {
	if w.text == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(w.text)
	if err != nil || d.Abs() > 10_000*time.Second {
		return 0, p.fail(w, "expected a duration such as 120ms, got %q", w.text)
	}
	return int64(d), nil
}

func (p *parser) whole(w word) (int64, error) {
	n, err := strconv.ParseInt(w.text, 10, 32)
	if err != nil || n < 0 {
		return 0, p.fail(w, "expected a whole number, got %q", w.text)
	}
	return n, nil
}

// load FROM..TO
func (p *parser) load(words []word) error {
	if err := p.need(words, 2, "load FROM..TO"); err != nil {
		return err
	}
	a, b, ok := strings.Cut(words[1].text, "..")
	if !ok {
		return p.fail(words[1], "expected FROM..TO, got %q", words[1].text)
	}
	from, err := p.moment(word{a, words[1].column})
	if err != nil {
		return err
	}
	to, err := p.moment(word{b, words[1].column + len(a) + 2})
	if err != nil {
		return err
	}
	p.run.Start, p.run.End = record.Some(from), record.Some(to)
	return nil
}

// slo METRIC TIME
func (p *parser) slo(words []word) error {
	if err := p.need(words, 3, "slo METRIC TIME"); err != nil {
		return err
	}
	switch words[1].text {
	case "ttft", "tpot", "itl", "e2e":
	default:
		return p.fail(words[1], "expected ttft, tpot, itl or e2e, got %q", words[1].text)
	}
	at, err := p.moment(words[2])
	if err != nil {
		return err
	}
	p.run.Limits = append(p.run.Limits, measure.Limit{Metric: words[1].text, P: 0.99, Equal: true, Value: float64(at) / 1e6})
	return nil
}

// expect DIALECT METRIC = VALUE
func (p *parser) expect(words []word) error {
	if err := p.need(words, 5, "expect DIALECT METRIC = VALUE"); err != nil {
		return err
	}
	if words[3].text != "=" {
		return p.fail(words[3], "expected =, got %q", words[3].text)
	}
	e := Expectation{Line: p.line, Dialect: words[1].text, Metric: words[2].text}
	switch words[4].text {
	case "none":
	case "inf":
		e.Value = measure.Some(math.Inf(1))
	default:
		v, err := p.value(words[4])
		if err != nil {
			return err
		}
		e.Value = measure.Some(v)
	}
	p.run.Expectations = append(p.run.Expectations, e)
	return nil
}

// value reads a number with its unit.
func (p *parser) value(w word) (float64, error) {
	for _, u := range []struct {
		suffix string
		scale  float64
	}{{"req/s", 1}, {"tok/s", 1}, {"tok", 1}, {"%", 1}, {"ms", 1}, {"us", 1e-3}, {"ns", 1e-6}, {"s", 1e3}, {"", 1}} {
		number, ok := strings.CutSuffix(w.text, u.suffix)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(number, 64)
		if err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v * u.scale, nil
		}
	}
	return 0, p.fail(w, "expected none or a number with its unit, such as 120ms, 2req/s or 5tok, got %q", w.text)
}
