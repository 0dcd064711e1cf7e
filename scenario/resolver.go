package scenario

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// environment is what resolving may look at besides file and flags.
type environment struct {
	lookup   func(string) (string, bool)
	readFile func(string) ([]byte, error)
}

// resolver hands out settings as typed values and collects what is wrong.
type resolver struct {
	set  map[string]value
	env  environment
	errs Errors
	// asked is where each objective stands.
	asked []asked
	// places are the scenario's.
	places map[string]Pos
}

func (r *resolver) fail(e *Error) { r.errs = append(r.errs, e) }

// has tells whether a setting was given.
func (r *resolver) has(id string) bool { _, ok := r.set[id]; return ok }

// exclusive refuses all but the first given of some settings.
func (r *resolver) exclusive(ids ...string) {
	first := ""
	for _, id := range ids {
		v, ok := r.set[id]
		switch {
		case !ok:
		case first == "":
			first = id
		default:
			other := r.set[first]
			at := ""
			if other.pos.Line > 0 {
				at = fmt.Sprintf(" (line %d)", other.pos.Line)
			}
			r.fail(v.errorf("%s and %s%s exclude each other", word(id), word(first), at))
		}
	}
}

// needs refuses a setting unless one of others was given too.
func (r *resolver) needs(id string, others ...string) {
	if v, ok := r.set[id]; ok && !given(r.set, others) {
		words := make([]string, len(others))
		for i, o := range others {
			words[i] = word(o)
		}
		r.fail(v.errorf("%s needs %s", word(id), strings.Join(words, " or ")))
	}
}

// needsSome refuses a setting unless another was given and is not 0.
func (r *resolver) needsSome(id, other string) {
	r.needs(id, other)
	if v, ok := r.set[id]; ok && r.has(other) && strings.Trim(r.set[other].text, "-0") == "" {
		r.fail(v.errorf("%s needs %s above 0", word(id), word(other)))
	}
}

// word returns a setting's word without its section.
func word(id string) string {
	if _, key, ok := strings.Cut(id, "."); ok {
		return key
	}
	return id
}

// text returns a setting that is text; empty text is refused.
func (r *resolver) text(id, what string) string {
	v, ok := r.set[id]
	if !ok {
		return ""
	}
	if v.kind != textValue && v.kind != flagText || v.text == "" || strings.ContainsAny(v.text, "\x00") {
		r.fail(v.expected(what))
		return ""
	}
	return v.text
}

// scalar returns the words of a setting that may be text or a number.
func (r *resolver) scalar(id, what string) string {
	v, ok := r.set[id]
	if !ok {
		return ""
	}
	if v.kind != boolValue && v.text != "" { // lists and mappings have none
		return v.text
	}
	r.fail(v.expected(what))
	return ""
}

func (r *resolver) oneOf(id, otherwise string, words ...string) string {
	v, ok := r.set[id]
	if !ok {
		return otherwise
	}
	for _, w := range words {
		if v.text == w && (v.kind == textValue || v.kind == flagText) {
			return w
		}
	}
	msg := "one of " + strings.Join(words, ", ")
	if near, ok := nearest(v.text, words); ok && v.kind != listValue {
		msg += fmt.Sprintf(" (%s?)", near)
	}
	r.fail(v.expected(msg))
	return otherwise
}

func (r *resolver) boolean(id string) bool {
	v, ok := r.set[id]
	if !ok {
		return false
	}
	if v.kind != boolValue {
		r.fail(v.expected("true or false"))
	}
	return v.text == "true"
}

// whole returns a setting that is a whole number of at least least.
func (r *resolver) whole(id string, otherwise, least int64) int64 {
	v, ok := r.set[id]
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	if err != nil || n < least || v.kind != intValue && v.kind != flagText {
		r.fail(v.expected(fmt.Sprintf("a whole number of at least %d", least)))
		return otherwise
	}
	return n
}

// number returns a setting that is a finite number above 0, or from 0 on.
func (r *resolver) number(id, what string, otherwise float64, zero bool) float64 {
	v, ok := r.set[id]
	if !ok {
		return otherwise
	}
	f, err := strconv.ParseFloat(v.text, 64)
	if strings.ContainsAny(v.text, "_xX") { // forms of Go's, not of ours
		err = strconv.ErrSyntax
	}
	if v.kind == textValue && err == nil {
		what += " (a number, without quotes)"
	}
	bad := err != nil || math.IsNaN(f) || math.IsInf(f, 0) || f < 0 || f == 0 && !zero
	if bad || v.kind == textValue || v.kind == boolValue {
		r.fail(v.expected(what))
		return otherwise
	}
	return f
}

// between returns a setting that is a number within bounds.
func (r *resolver) between(id, what string, otherwise, least, most float64) float64 {
	what = fmt.Sprintf("%s from %g to %g", what, least, most)
	f := r.number(id, what, otherwise, least == 0)
	if v, ok := r.set[id]; ok && f != otherwise && (f < least || f > most) {
		r.fail(v.expected(what))
	}
	return f
}

const durationForm = "a duration with its unit, such as 500ms, 30s or 2m"

// duration returns a setting that is a duration; zero only where allowed.
func (r *resolver) duration(id string, otherwise time.Duration, zero bool) time.Duration {
	v, ok := r.set[id]
	if !ok {
		return otherwise
	}
	d, err := time.ParseDuration(v.text)
	_, bare := strconv.ParseFloat(v.text, 64)
	switch {
	case v.kind != textValue && v.kind != flagText && v.kind != intValue && v.kind != floatValue:
		r.fail(v.expected(durationForm))
	case bare == nil && (v.text != "0" || !zero):
		r.fail(v.errorf("expected %s, got %s without a unit", durationForm, v.text))
	case err != nil:
		r.fail(v.expected(durationForm))
	case d < 0 || d == 0 && !zero:
		r.fail(v.expected("a positive duration"))
	case d > longest:
		r.fail(v.expected("a duration of at most ten years"))
	default:
		return d
	}
	return otherwise
}

// distribution returns a setting that one of stat's parsers reads, or nil.
func (r *resolver) distribution(id string, parse func(string) (stat.Distribution, error)) stat.Distribution {
	text := r.scalar(id, "a distribution: "+stat.Forms)
	if text == "" {
		return nil
	}
	d, err := parse(text)
	if err != nil {
		r.fail(r.set[id].syntax(err))
		return nil
	}
	return d
}
