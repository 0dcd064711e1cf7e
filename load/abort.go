package load

import (
	"fmt"
	"strconv"
	"strings"
)

// Result is what abort rules need to know of an ended request.
type Result uint8

// The results.
const (
	// Success is whole.
	Success Result = iota
	// Failure is any other that reached the target.
	Failure
	// Unreached is a transport error: not one byte came back. It is a failure
	// too.
	Unreached
)

// abortWindow is the number of requests that a rate looks back on by default,
// and abortGone the number of transport errors in a row that mean that the
// target is gone.
const (
	abortWindow    = 50
	abortGone      = 20
	maxAbortWindow = 1_000_000
)

// Rule is one reason to end a load early.
type Rule struct {
	kind     ruleKind
	limit    float64 // a count, or a share
	orEqual  bool
	requests int // of the sliding window
	text     string
}

type ruleKind uint8

const (
	errorCount ruleKind = iota
	errorRate
	targetGone
	sloFailed
)

// ParseAbort reads rules separated by commas, of which each can end the load:
//
//	errors>100           so many failed requests
//	error_rate>20%/200   the share of failures in the last 200 requests, once
//	                     so many have ended; /50 where nothing is said
//	gone  or  gone>=20   so many transport errors in a row; 20 where nothing is said
//	slo                  an objective has failed
//
// Errors are *stat.SyntaxError and name the column. Empty means no rules.
func ParseAbort(s string) ([]Rule, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var rules []Rule
	offset := 0
	for item := range strings.SplitSeq(s, ",") {
		text := strings.TrimLeft(item, " ")
		p := parser{input: s, offset: offset + len(item) - len(text)}
		rule, err := p.rule(strings.TrimRight(text, " "))
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
		offset += len(item) + 1
	}
	return rules, nil
}

func (p parser) rule(s string) (Rule, error) {
	const forms = "errors>N, error_rate>N%/REQUESTS, gone>=N or slo"
	r := Rule{text: s}
	switch s {
	case "slo":
		r.kind = sloFailed
		return r, nil
	case "gone":
		r.kind, r.limit, r.orEqual = targetGone, abortGone, true
		return r, nil
	}
	name, rest, ok := strings.Cut(s, ">")
	if !ok {
		return r, p.fail(0, "expected %s, found %q", forms, s)
	}
	at := len(name) + 1
	if value, has := strings.CutPrefix(rest, "="); has {
		r.orEqual, rest = true, value
		at++
	}
	var err error
	switch name {
	case "errors":
		r.limit, err = p.count(at, rest)
	case "gone":
		r.kind = targetGone
		r.limit, err = p.count(at, rest)
	case "error_rate":
		err = p.rate(&r, at, rest)
	default:
		return r, p.fail(0, "expected %s, found %q", forms, s)
	}
	if err == nil && r.orEqual && r.limit == 0 {
		err = p.fail(at, "expected a number above 0 after >=, found %q", rest)
	}
	return r, err
}

func (p parser) count(at int, s string) (float64, error) {
	n, err := strconv.ParseUint(s, 10, 40)
	if err != nil {
		return 0, p.fail(at, "expected a number of requests, found %q", s)
	}
	return float64(n), nil
}

func (p parser) rate(r *Rule, at int, s string) error {
	r.kind, r.requests = errorRate, abortWindow
	share, window, has := strings.Cut(s, "/")
	number, isPercent := strings.CutSuffix(share, "%")
	x, err := p.number(at, number, "a share such as 20% or 0.2")
	if err != nil {
		return err
	}
	if isPercent {
		x /= 100
	}
	if x > 1 || !isPercent && x == 1 {
		return p.fail(at, "expected a share such as 20%% or 0.2, found %q", share)
	}
	r.limit = x
	if !has {
		return nil
	}
	at += len(share) + 1
	n, err := p.count(at, window)
	if err != nil || n < 1 || n > maxAbortWindow {
		return p.fail(at, "expected a number of requests from 1 to %d, found %q", maxAbortWindow, window)
	}
	r.requests = int(n)
	return nil
}

// String is the form that ParseAbort reads.
func (r Rule) String() string { return r.text }

// Abort watches results under rules. Its zero value never aborts. It belongs
// to one goroutine.
type Abort struct {
	watches []watch
	reason  string
}

// watch is a rule with what it has seen.
type watch struct {
	Rule
	seen   float64 // errors, or transport errors in a row
	window []bool  // failures of the last requests, a ring
	at     int
	full   bool
}

// NewAbort returns an evaluator of rules that has seen nothing.
func NewAbort(rules []Rule) *Abort {
	a := &Abort{}
	for _, r := range rules {
		a.watches = append(a.watches, watch{Rule: r, window: make([]bool, r.requests)})
	}
	return a
}

// Observe takes the result of the next request that ended.
func (a *Abort) Observe(r Result) {
	for i := range a.watches {
		if reason := a.watches[i].observe(r); reason != "" && a.reason == "" {
			a.reason = reason
		}
	}
}

// SLOFailed takes the failed objective, as the user wrote it.
func (a *Abort) SLOFailed(expr string) {
	for i := range a.watches {
		if a.watches[i].kind == sloFailed && a.reason == "" {
			a.reason = "objective failed: " + expr
		}
	}
}

// Abort tells whether the load is to end, and why. Once it is so it stays so.
func (a *Abort) Abort() (reason string, yes bool) { return a.reason, a.reason != "" }

func (w *watch) over(x float64) bool { return x > w.limit || w.orEqual && x == w.limit }

func (w *watch) observe(r Result) string {
	switch w.kind {
	case errorCount:
		if r != Success {
			w.seen++
		}
		if w.over(w.seen) {
			return fmt.Sprintf("%s: %.0f requests failed", w.text, w.seen)
		}
	case targetGone:
		w.seen++
		if r != Unreached {
			w.seen = 0
		}
		if w.over(w.seen) {
			return fmt.Sprintf("%s: target gone, %.0f transport errors in a row", w.text, w.seen)
		}
	case errorRate:
		if w.window[w.at] {
			w.seen--
		}
		w.window[w.at] = r != Success
		if r != Success {
			w.seen++
		}
		w.at = (w.at + 1) % len(w.window)
		w.full = w.full || w.at == 0
		if w.full && w.over(w.seen/float64(len(w.window))) {
			return fmt.Sprintf("%s: %.0f of the last %d requests failed", w.text, w.seen, len(w.window))
		}
	}
	return ""
}
