package stat

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SyntaxError says what is wrong with an expression and where.
type SyntaxError struct {
	Input   string
	Column  int // in bytes, from 1
	Message string
}

// Error returns the message with its column and the expression.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("column %d of %q: %s", e.Column, e.Input, e.Message)
}

// Forms lists the distributions that ParseDistribution reads.
const Forms = "512, uniform:128..512, normal:mean=512,sd=100, lognormal:mean=512,cv=0.8, exp:mean=512, gamma:mean=512,cv=2, " +
	"weibull:shape=0.5,scale=512, pareto:mean=512,cv=1,from=4096,alpha=2.5, zipf:exponent=1.1,buckets=64,width=128, " +
	"empirical:FILE, empirical:0=1,0.5=512,1=8192; " +
	"each may end in @LOW..HIGH"

// ParseDistribution reads a distribution of plain numbers. The forms are
//
//	512                                      always that value
//	uniform:128..512                         whole numbers where both ends are whole
//	normal:mean=512,sd=100
//	lognormal:mean=512,cv=0.8                mean and coefficient of variation of the values themselves
//	exp:mean=512
//	gamma:mean=512,cv=2
//	weibull:shape=0.5,scale=512
//	pareto:mean=512,cv=1,from=4096,alpha=2.5 lognormal body (mean, cv), Pareto tail from a value on
//	zipf:exponent=1.1,buckets=64,width=128   Zipf's law over buckets of equal width, the lowest the likeliest
//	empirical:FILE                           numbers of a file, one a line, with equal chance
//	empirical:0=1,0.5=512,1=8192             quantiles, linear in between
//
// Every parameter is named and needed. A suffix @LOW..HIGH moves values outside
// to the nearer bound; either bound may be left out. Errors are *SyntaxError,
// but for a file's, which name file and line.
func ParseDistribution(s string) (Distribution, error) {
	return parseDistribution(s, plainNumber, openFile)
}

// ParseDurations reads a distribution of durations, in seconds when drawn: the
// same forms, with a unit at every value (2s, exp:mean=500ms, uniform:1s..3s).
func ParseDurations(s string) (Distribution, error) {
	d, err := parseDistribution(s, seconds, openFile)
	if err != nil {
		return nil, err
	}
	return spelled{d, strings.TrimSpace(s)}, nil
}

// ParseInline is [ParseDistribution] for figures that stand where they are
// used: without empirical:FILE.
func ParseInline(s string) (Distribution, error) {
	return parseDistribution(s, plainNumber, noFile)
}

// ParseInlineDurations is [ParseDurations] without empirical:FILE.
func ParseInlineDurations(s string) (Distribution, error) {
	d, err := parseDistribution(s, seconds, noFile)
	if err != nil {
		return nil, err
	}
	return spelled{d, strings.TrimSpace(s)}, nil
}

func noFile(string) (io.ReadCloser, error) {
	return nil, errors.New("quantiles such as 0=1,0.5=512,1=8192 are expected here")
}

// FormatDurations writes a distribution of seconds in the form that
// ParseDurations reads, to the nanosecond.
func FormatDurations(d Distribution) string {
	if t, ok := d.(texter); ok {
		return t.text(func(x float64) string {
			if x != 0 { // what is too short or too long for a duration stays one
				x = math.Copysign(min(max(math.Abs(x), 1e-9), 1e9), x)
			}
			s := strconv.FormatFloat(x, 'f', 9, 64)
			return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") + "s"
		})
	}
	return d.String()
}

// spelled keeps the user's spelling, which has units.
type spelled struct {
	Distribution
	text string
}

func (s spelled) String() string { return s.text }

// Unwrap returns the distribution of seconds itself.
func (s spelled) Unwrap() Distribution { return s.Distribution }

func openFile(name string) (io.ReadCloser, error) { return os.Open(name) }

// plainNumber reads a number; what names it in errors.
func plainNumber(s string) (float64, string) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.Abs(x) > 1e15 || strings.ContainsAny(s, "_xXpP") {
		return 0, "a number"
	}
	return x, ""
}

func seconds(s string) (float64, string) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, "a duration with a unit, such as 2s or 500ms"
	}
	return d.Seconds(), ""
}

// distributionParser reads one expression; value reads what has the unit of
// the values, plain numbers are shapes and shares.
type distributionParser struct {
	input string
	value func(string) (float64, string)
	open  func(string) (io.ReadCloser, error)
}

func parseDistribution(s string, value func(string) (float64, string), open func(string) (io.ReadCloser, error)) (Distribution, error) {
	p := &distributionParser{input: s, value: value, open: open}
	start := len(s) - len(strings.TrimLeft(s, " "))
	text := strings.TrimSpace(s)
	if text == "" {
		return nil, p.fail(start, "expected a distribution: "+Forms)
	}
	at := strings.LastIndexByte(text, '@')
	if at < 0 || !strings.Contains(text[at:], "..") {
		return p.form(start, text)
	}
	low, high, err := p.bounds(start+at+1, text[at+1:], true)
	if err != nil {
		return nil, err
	}
	d, err := p.form(start, text[:at])
	if err != nil {
		return nil, err
	}
	return Clamped{d, low, high}, nil
}

func (p *distributionParser) fail(offset int, format string, args ...any) error {
	return &SyntaxError{Input: p.input, Column: offset + 1, Message: fmt.Sprintf(format, args...)}
}

// bounds reads LOW..HIGH.
func (p *distributionParser) bounds(offset int, s string, mayMiss bool) (low, high float64, err error) {
	a, b, ok := strings.Cut(s, "..")
	if !ok {
		return 0, 0, p.fail(offset, "expected LOW..HIGH, found %q", s)
	}
	low, high = math.Inf(-1), math.Inf(1)
	if mayMiss && a == "" && b == "" {
		return 0, 0, p.fail(offset, "expected LOW..HIGH with at least one bound")
	}
	if a != "" || !mayMiss {
		if low, err = p.number(offset, a, p.value); err != nil {
			return 0, 0, err
		}
	}
	if b != "" || !mayMiss {
		if high, err = p.number(offset+len(a)+2, b, p.value); err != nil {
			return 0, 0, err
		}
	}
	if low > high {
		return 0, 0, p.fail(offset, "expected LOW..HIGH with LOW at most HIGH, found %q", s)
	}
	return low, high, nil
}

func (p *distributionParser) number(offset int, s string, read func(string) (float64, string)) (float64, error) {
	x, expected := read(s)
	if expected != "" {
		return 0, p.fail(offset, "expected %s, found %q", expected, s)
	}
	return x, nil
}

// form reads a distribution without a clamp.
func (p *distributionParser) form(offset int, s string) (Distribution, error) {
	name, rest, has := strings.Cut(s, ":")
	if !has {
		x, expected := p.value(s)
		if expected != "" {
			return nil, p.fail(offset, "expected %s or a distribution (%s), found %q", expected, Forms, s)
		}
		return Constant(x), nil
	}
	at := offset + len(name) + 1
	switch name {
	case "uniform":
		low, high, err := p.bounds(at, rest, false)
		return Uniform{low, high}, err
	case "empirical":
		return p.empirical(at, rest)
	}
	form, ok := distributionForms()[name]
	if !ok {
		return nil, p.fail(offset, "unknown distribution %q; there are %s", name, Forms)
	}
	v, err := p.parameters(at, rest, form.parameters)
	if err != nil {
		return nil, err
	}
	return form.make(v), nil
}

// parameter is one named number of a form.
type parameter struct {
	name  string
	value bool // has the unit of the values
	zero  bool // may be zero
	any   bool // may be anything
	count bool // a whole number up to maxBuckets
}

type distributionForm struct {
	parameters []parameter
	make       func(v []float64) Distribution
}

func distributionForms() map[string]distributionForm {
	return map[string]distributionForm{
		"normal": {[]parameter{{name: "mean", value: true, any: true}, {name: "sd", value: true, zero: true}},
			func(v []float64) Distribution { return Normal{v[0], v[1]} }},
		"lognormal": {[]parameter{{name: "mean", value: true}, {name: "cv", zero: true}},
			func(v []float64) Distribution { return Lognormal{v[0], v[1]} }},
		"exp": {[]parameter{{name: "mean", value: true}},
			func(v []float64) Distribution { return Exponential{v[0]} }},
		"gamma": {[]parameter{{name: "mean", value: true}, {name: "cv", zero: true}},
			func(v []float64) Distribution { return Gamma{v[0], v[1]} }},
		"weibull": {[]parameter{{name: "shape"}, {name: "scale", value: true}},
			func(v []float64) Distribution { return Weibull{v[0], v[1]} }},
		"pareto": {[]parameter{{name: "mean", value: true}, {name: "cv", zero: true}, {name: "from", value: true}, {name: "alpha"}},
			func(v []float64) Distribution { return Pareto{Lognormal{v[0], v[1]}, v[2], v[3]} }},
		"zipf": {[]parameter{{name: "exponent", zero: true}, {name: "buckets", count: true}, {name: "width", value: true}},
			func(v []float64) Distribution { return NewZipf(v[0], int64(v[1]), v[2]) }},
	}
}

// parameters reads NAME=NUMBER,… with every name exactly once, in any order.
func (p *distributionParser) parameters(offset int, s string, want []parameter) ([]float64, error) {
	names := make([]string, len(want))
	for i, w := range want {
		names[i] = w.name
	}
	list := strings.Join(names, ", ")
	got := make([]float64, len(want))
	seen := make([]bool, len(want))
	for item := range strings.SplitSeq(s, ",") {
		name, text, has := strings.Cut(item, "=")
		i := slices.Index(names, name)
		if !has || i < 0 {
			return nil, p.fail(offset, "expected NAME=NUMBER with the names %s, found %q", list, item)
		}
		if seen[i] {
			return nil, p.fail(offset, "%s is given twice", name)
		}
		read := plainNumber
		if want[i].value {
			read = p.value
		}
		x, err := p.number(offset+len(name)+1, text, read)
		if err != nil {
			return nil, err
		}
		if !want[i].any && (x < 0 || x == 0 && !want[i].zero || x != 0 && math.Abs(x) < 1e-9) {
			return nil, p.fail(offset+len(name)+1, "expected %s above 0, found %q", name, text)
		}
		if want[i].count && (x != math.Trunc(x) || x > maxBuckets) {
			return nil, p.fail(offset+len(name)+1, "expected %s to be a whole number up to %d, found %q", name, maxBuckets, text)
		}
		if !want[i].value && !want[i].count && x > 1000 {
			return nil, p.fail(offset+len(name)+1, "expected %s of at most 1000, found %q", name, text)
		}
		got[i], seen[i] = x, true
		offset += len(item) + 1
	}
	if i := slices.Index(seen, false); i >= 0 {
		return nil, p.fail(offset-1, "%s= is missing; expected %s", names[i], list)
	}
	return got, nil
}

// empirical reads a table of quantiles or a file's name.
func (p *distributionParser) empirical(offset int, s string) (Distribution, error) {
	first, _, _ := strings.Cut(s, ",")
	share, _, isTable := strings.Cut(first, "=")
	if _, bad := plainNumber(share); isTable && bad == "" {
		return p.quantiles(offset, s)
	}
	if s == "" {
		return nil, p.fail(offset, "expected a file of numbers, or quantiles such as 0=1,0.5=512,1=8192")
	}
	f, err := p.open(s)
	if err != nil {
		return nil, p.fail(offset, "cannot read the file: %v", err)
	}
	defer f.Close()
	v, err := readValues(s, f, p.value)
	if err != nil {
		return nil, err
	}
	slices.Sort(v)
	return Values{Observed: v, Source: s}, nil
}

func (p *distributionParser) quantiles(offset int, s string) (Distribution, error) {
	var q Quantiles
	for item := range strings.SplitSeq(s, ",") {
		share, value, has := strings.Cut(item, "=")
		if !has {
			return nil, p.fail(offset, "expected SHARE=VALUE, found %q", item)
		}
		x, err := p.number(offset, share, plainNumber)
		if err != nil {
			return nil, err
		}
		v, err := p.number(offset+len(share)+1, value, p.value)
		if err != nil {
			return nil, err
		}
		n := len(q.Share)
		switch {
		case n == 0 && x != 0:
			return nil, p.fail(offset, "expected the first share to be 0, found %q", share)
		case n > 0 && !(x > q.Share[n-1] && x <= 1):
			return nil, p.fail(offset, "expected a share above %s and at most 1, found %q", number(q.Share[n-1]), share)
		case n > 0 && v < q.Value[n-1]:
			return nil, p.fail(offset, "expected a value of at least %s, found %q", number(q.Value[n-1]), value)
		}
		q.Share, q.Value = append(q.Share, x), append(q.Value, v)
		offset += len(item) + 1
	}
	if q.Share[len(q.Share)-1] != 1 {
		return nil, p.fail(offset-1, "expected the last share to be 1")
	}
	return q, nil
}

// shown is a line of a file for an error: what does not look like a number may
// be a text that nobody must see.
func shown(s string) string {
	if len(s) > 24 || !strings.ContainsAny(s[:1], "0123456789+-.") {
		return fmt.Sprintf("text of %d bytes", len(s))
	}
	return strconv.Quote(s)
}

// readValues reads one number a line; blank lines and those that begin with #
// are skipped.
func readValues(name string, r io.Reader, value func(string) (float64, string)) ([]float64, error) {
	const most = 10_000_000
	var v []float64
	lines := bufio.NewScanner(r)
	for line := 1; lines.Scan(); line++ {
		s := strings.TrimSpace(lines.Text())
		if s == "" || s[0] == '#' {
			continue
		}
		x, expected := value(s)
		if expected != "" {
			return nil, fmt.Errorf("%s:%d: expected %s, found %s", name, line, expected, shown(s))
		}
		if len(v) == most {
			return nil, fmt.Errorf("%s:%d: more than %d values", name, line, most)
		}
		v = append(v, x)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(v) == 0 {
		return nil, fmt.Errorf("%s: no values; expected one number a line", name)
	}
	return v, nil
}
