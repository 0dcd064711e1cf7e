package measure

import "math"

// basis says which requests give a metric its values, and what else it rests on.
type basis uint8

const (
	fromIntended basis = 1 << iota // counts from the intended time
	fromArrivals                   // rests on the stamps of what arrived
	paced                          // rests on each arrival's own stamp: merged ones blur it
	anyOutcome                     // of every request sent, not of successes only
	latency                        // a failure is +inf in its _adj form
	fromSend                       // counts from the send: a burst after a standstill moves it
)

// definition is a metric with one value a request.
type definition struct {
	name, unit string
	basis      basis
	value      func(*row) float64 // in ns or the unit; NaN: absent
	// floor is what the value of a request that was stopped would at least have
	// been; nil where nothing is known.
	floor func(*row) float64
}

// definitions are the metrics with one value a request. docs/metrics.md says
// the same in words.
var definitions = [...]definition{
	{"ttft", "ms", fromIntended | fromArrivals | latency, func(r *row) float64 { return span(r.intended, r.firstToken) }, waited},
	{"ttft_send", "ms", fromSend | fromArrivals | latency, func(r *row) float64 { return span(r.sent, r.firstToken) }, waitedSend},
	{"ttft_answer", "ms", fromIntended | fromArrivals | latency, func(r *row) float64 { return span(r.intended, r.answer) }, waitedAnswer},
	{"ttfb", "ms", fromSend | fromArrivals | latency, func(r *row) float64 { return span(r.sent, r.firstByte) }, waitedByte},
	{"jitter", "ms", fromArrivals | paced | latency, func(r *row) float64 { return r.jitter }, nil},
	{"stall_max", "ms", fromArrivals | paced | latency, func(r *row) float64 { return float(r.stall) }, silence},
	{"tpot", "ms", fromArrivals | latency, tpot, nil},
	{"e2e", "ms", fromIntended | fromArrivals | latency, func(r *row) float64 { return span(r.intended, r.lastToken) }, sinceIntended},
	{"e2e_send", "ms", fromSend | fromArrivals | latency, func(r *row) float64 { return span(r.sent, r.lastToken) }, sinceSent},
	{"tokens_per_s_user", "tok/s", fromArrivals, func(r *row) float64 { return 1e9 / tpot(r) }, nil},
	{"schedule_lag", "ms", anyOutcome, func(r *row) float64 { return span(r.intended, r.firstWrite) }, nil},
	{"client_lag", "ms", anyOutcome, func(r *row) float64 { return float(r.lag) }, nil},
	{"held", "ms", anyOutcome, func(r *row) float64 { return float(r.held) }, nil},
	{"connect", "ms", anyOutcome, func(r *row) float64 { return float(r.connect) }, nil},
	{"input_tokens", "tok", 0, func(r *row) float64 { return first(r.prompt, r.promptCounted) }, nil},
	{"output_tokens", "tok", 0, func(r *row) float64 { return first(r.output, r.outputCounted) }, nil},
	{"usage_difference", "tok", 0, func(r *row) float64 { return difference(r.output, r.outputCounted) }, nil},
	{"prompt_usage_difference", "tok", 0, func(r *row) float64 { return difference(r.prompt, r.promptCounted) }, nil},
}

// sinceIntended and the like are floors: how long a stopped request had gone
// on, or what it had reached.
func sinceIntended(r *row) float64 { return span(r.intended, r.ended) }
func sinceSent(r *row) float64     { return span(r.sent, r.ended) }
func waited(r *row) float64        { return span(r.intended, reached(r.firstToken, r)) }
func waitedAnswer(r *row) float64  { return span(r.intended, reached(r.answer, r)) }
func waitedSend(r *row) float64    { return span(r.sent, reached(r.firstToken, r)) }
func waitedByte(r *row) float64    { return span(r.sent, reached(r.firstByte, r)) }

func silence(r *row) float64 {
	x := span(r.lastToken, r.ended)
	if math.IsNaN(x) || float64(r.stall) > x {
		return float(r.stall)
	}
	return x
}

// reached is a moment, or the end where it did not come.
func reached(at int64, r *row) int64 {
	if at == absent {
		return r.ended
	}
	return at
}

// span returns to − from in ns.
func span(from, to int64) float64 { return float(between(from, to)) }

func float(ns int64) float64 {
	if ns == absent {
		return math.NaN()
	}
	return float64(ns)
}

// tpot is the time of an output token after the first, in ns. It needs two
// tokens and two arrivals.
func tpot(r *row) float64 {
	if r.firstToken == absent || r.lastToken <= r.firstToken || r.shown < 2 {
		return math.NaN()
	}
	return float64(r.lastToken-r.firstToken) / float64(r.shown-1)
}

func first(counts ...int32) float64 {
	for _, n := range counts {
		if n != unknown {
			return float64(n)
		}
	}
	return math.NaN()
}

func difference(usage, counted int32) float64 {
	if usage == unknown || counted == unknown {
		return math.NaN()
	}
	return float64(usage - counted)
}

// scale is what a value in the table is divided by to be in its unit.
func (d *definition) scale() float64 {
	if d.unit == "ms" {
		return 1e6
	}
	return 1
}

// in returns the request's value in the metric's unit.
func (d *definition) in(r *row) float64 { return d.value(r) / d.scale() }

func defined(name string) *definition {
	for i := range definitions {
		if definitions[i].name == name {
			return &definitions[i]
		}
	}
	return nil
}
