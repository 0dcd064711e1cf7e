package measure

import (
	"math"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/record"
)

// rate is a metric with one value a run.
type rate struct {
	name, unit string
	perGPU     bool
	value      func(*View, *tally) float64 // NaN: absent
}

var rates = [...]rate{
	{"request_rate", "req/s", true, func(_ *View, t *tally) float64 { return float64(t.completed) / t.seconds }},
	{"output_token_rate", "tok/s", true, func(_ *View, t *tally) float64 { return known(t.output, t.outputKnown) / t.seconds }},
	{"input_token_rate", "tok/s", true, func(_ *View, t *tally) float64 { return known(t.input, t.inputKnown) / t.seconds }},
	{"goodput", "req/s", true, func(v *View, t *tally) float64 { return known(float64(t.goodIn), len(v.a.opt.Limits) > 0) / t.seconds }},
	{"goodput_share", "%", false, func(v *View, t *tally) float64 {
		return percent(known(float64(t.good), len(v.a.opt.Limits) > 0), float64(len(v.rows)))
	}},
	{"error_rate", "%", false, func(v *View, t *tally) float64 { return percent(float64(t.over), float64(t.over+t.ok)) }},
	{"cached_share", "%", false, func(_ *View, t *tally) float64 { return percent(t.cached, t.cachedOf) }},
	{"coalesced_share", "%", false, func(_ *View, t *tally) float64 { return percent(float64(t.coalesced), float64(t.chunks)) }},
}

// tally is what rates are made of.
type tally struct {
	seconds                 float64 // length of the window; NaN where it is empty
	ok, over                int
	own                     int // of over: failed by the client itself
	cut                     int // ended by us before they could tell
	completed               int // successes that ended in the window
	good, goodIn            int // requests that meet every limit; those of them that ended in the window
	output, input           float64
	outputKnown, inputKnown bool
	cached, cachedOf        float64
	chunks, coalesced       int
}

func known(x float64, ok bool) float64 {
	if !ok {
		return math.NaN()
	}
	return x
}

// percent returns 100·part/whole, NaN of nothing.
func percent(part, whole float64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return 100 * part / whole
}

func (v *View) tally() *tally {
	if v.counted != nil {
		return v.counted
	}
	t := &tally{seconds: float64(v.to-v.from) / 1e9}
	if v.to <= v.from {
		t.seconds = math.NaN()
	}
	for _, r := range v.rows {
		v.count(t, r)
	}
	v.countCarried(t)
	v.counted = t
	return t
}

// count adds what belongs to a request due in the view.
func (v *View) count(t *tally, r *row) {
	t.chunks += int(r.chunks)
	t.coalesced += int(r.coalesced)
	switch v.fate(r) {
	case over:
		t.over++
		if r.own {
			t.own++
		}
	case stopped:
		if v.a.outcomeOf(r) == record.Cut {
			t.cut++
		}
	case good:
		t.ok++
		if v.meets(r) {
			t.good++
		}
		if r.cached != unknown && r.cached <= r.prompt && r.prompt > 0 {
			t.cached += float64(r.cached)
			t.cachedOf += float64(r.prompt)
		}
	}
}

// countCarried adds what the service carried within the window, whenever the
// requests were due.
func (v *View) countCarried(t *tally) {
	for _, b := range v.a.blocks {
		for i := range b {
			v.carry(t, &b[i])
		}
	}
}

// carry adds what one request brought within the window.
func (v *View) carry(t *tally, r *row) {
	f := v.fate(r)
	if f == over {
		return
	}
	if f == good && v.within(r.ended) {
		t.completed++
		if v.meets(r) {
			t.goodIn++
		}
	}
	if n := first(r.prompt, r.promptCounted); !math.IsNaN(n) && v.within(r.firstToken) {
		t.input += n
		t.inputKnown = true
	}
	if n := v.outputWithin(r); !math.IsNaN(n) {
		t.output += n
		t.outputKnown = true
	}
}

func (v *View) within(at int64) bool { return at != absent && v.from <= at && at <= v.to }

// outputWithin is how many of a request's output tokens came in the window;
// NaN where their number is unknown or none came at all.
func (v *View) outputWithin(r *row) float64 {
	n := first(r.output, r.outputCounted)
	switch {
	case math.IsNaN(n) || r.firstToken == absent:
		return v.streamedWithin(r)
	case v.within(r.firstToken) && v.within(r.lastToken):
		return n
	case r.lastToken < v.from || r.firstToken > v.to:
		return 0
	case r.many:
		long := float64(r.lastToken - r.firstToken)
		return n * float64(min(r.lastToken, v.to)-max(r.firstToken, v.from)) / long
	}
	in, all := v.weights(r)
	return n * in / all
}

// streamedWithin counts the tokens of a response that was cut before its usage
// came, from its chunks; NaN where they do not tell.
func (v *View) streamedWithin(r *row) float64 {
	if r.firstToken == absent || r.many || r.firstTokens < 0 {
		return math.NaN()
	}
	v.scratch.gaps = v.a.gaps.decode(r.gaps, v.scratch.gaps[:0])
	if slices.ContainsFunc(v.scratch.gaps, func(g gap) bool { return g.tokens < 0 }) {
		return math.NaN()
	}
	in, _ := v.weights(r)
	return in
}

// weights returns the tokens that arrived in the window and in all; where an
// arrival's are unknown it counts as one.
func (v *View) weights(r *row) (in, all float64) {
	at := r.firstToken
	add := func(tokens int32) {
		w := float64(tokens)
		if tokens < 0 {
			w = 1
		}
		all += w
		if v.within(at) {
			in += w
		}
	}
	add(r.firstTokens)
	v.scratch.gaps = v.a.gaps.decode(r.gaps, v.scratch.gaps[:0])
	for _, g := range v.scratch.gaps {
		at += g.ns
		add(g.tokens)
	}
	if all == 0 {
		return 0, 1
	}
	return in, all
}

// addRates puts the rates among the metrics.
func (v *View) addRates(out map[string]Metric) {
	for i := range rates {
		d := &rates[i]
		out[d.name] = Metric{Unit: d.unit, Value: v.Rate(d.name), Rate: true}
		if d.perGPU && v.a.opt.GPUs > 0 {
			out[d.name+perGPU] = Metric{Unit: d.unit, Value: v.Rate(d.name + perGPU), Rate: true}
		}
	}
}

// Rate returns the value of the rate called name.
func (v *View) Rate(name string) Value {
	whole, divided := strings.CutSuffix(name, perGPU)
	for i := range rates {
		d := &rates[i]
		if d.name != whole || divided && (!d.perGPU || v.a.opt.GPUs <= 0) {
			continue
		}
		x := d.value(v, v.tally())
		if divided {
			x /= float64(v.a.opt.GPUs)
		}
		return Some(x)
	}
	return Value{}
}

// Errors returns how many requests failed or were never sent, and of how many
// that count: those that were cut or cancelled do not.
func (v *View) Errors() (over, of int) { t := v.tally(); return t.over, t.over + t.ok }

// Cut returns how many requests were ended by us before they could tell.
func (v *View) Cut() int { return v.tally().cut }
