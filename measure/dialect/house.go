package dialect

// House returns tokamak's own rules in the terms of the dialects. What the
// figures are that tokamak reports is measure's to say; these are what a rule
// of another tool is switched to, and tests hold the two together.
func House() Rules {
	return Rules{
		Fails: Rule[func(*request, *seen) bool]{"a success is whole by its API", func(r *request, _ *seen) bool { return r.status != good }},
		Start: fromIntended(),
		Sees:  sees("text, reasoning, tool calls and refusals are output", Content),
		End:   atLastOutput(),
		Output: tokenRule{"counts output by usage, else by a tokenizer", func(r *request, _ *seen) int64 {
			return firstKnown(int64(r.usage), int64(r.counted))
		}},
		Input: promptRule{"counts the prompt by usage, else by a tokenizer", func(r *request) int64 {
			return firstKnown(int64(r.promptUsage), int64(r.promptCounted))
		}},
		TTFT: ttft("TTFT that was not measured is left out", leftOut),
		TPOT: tpotRule{"TPOT is (last token − first) ÷ (shown tokens − 1)", func(r *request, s *seen) (float64, float64, bool) {
			if r.shown <= 1 || s.first == absent || s.last <= s.first {
				return 0, 0, false
			}
			return float64(s.last-s.first) / float64(r.shown-1), 1, true
		}},
		ITL: Rule[latency]{"ITL is a gap between arrivals, divided by the tokens of the later", latency{gaps: gapsPerToken}},
		ICL: Rule[latency]{"ICL is a gap between arrivals", latency{gaps: arrivalGaps}},
		Carried: Rule[func(*request, *seen, bool) carried]{"rates count successes", func(r *request, _ *seen, ok bool) carried {
			return carried{request: ok, input: ok || r.status == gone, output: ok || r.status == gone}
		}},
		Window:   Rule[window]{"rates are over the load's window", window{load: true}},
		Quantile: Rule[quantile]{"percentiles are nearest ranks", nearestRank()},
		Good: Rule[goodput]{"goodput's share is of all requests", goodput{takes: []string{"ttft", "tpot", "itl", "e2e"},
			share: func(n *counts) int { return n.sent }}},
	}
}

// arrival is what came of one choice with one stamp.
type arrival struct {
	at     int64
	tokens int32 // -1: unknown
}

// arrivalsOf walks the arrivals of one choice, and reports the next higher
// choice there is.
func arrivalsOf(r *request, sees Kind, choice int32, visit func(arrival)) (next int32, more bool) {
	var a arrival
	any := false
	for _, e := range r.events {
		if e.kind&sees == 0 {
			continue
		}
		if e.choice != choice {
			if e.choice > choice && (!more || e.choice < next) {
				next, more = e.choice, true
			}
			continue
		}
		if any && e.at == a.at {
			if a.tokens < 0 || e.tokens < 0 {
				a.tokens = -1
			} else {
				a.tokens += e.tokens
			}
			continue
		}
		if any {
			visit(a)
		}
		a, any = arrival{e.at, e.tokens}, true
	}
	if any {
		visit(a)
	}
	return next, more
}

// perChoice walks the gaps of a request, each choice by itself.
func perChoice(r *request, sees Kind, gap func(ns int64, tokens int32), end func()) {
	for choice, more := int32(0), true; more; {
		last := absent
		choice, more = arrivalsOf(r, sees, choice, func(a arrival) {
			if last != absent && a.at > last {
				gap(a.at-last, a.tokens)
			}
			last = a.at
		})
		end()
	}
}

// arrivalGaps are the plain gaps between arrivals.
func arrivalGaps(r *request, sees Kind, buf []float64) []float64 {
	perChoice(r, sees, func(ns int64, _ int32) { buf = append(buf, float64(ns)) }, func() {})
	return buf
}

// gapsPerToken divide each gap by the tokens of the arrival after it; a gap
// before an arrival that completed none is added to the next that did.
func gapsPerToken(r *request, sees Kind, buf []float64) []float64 {
	carried := int64(0)
	perChoice(r, sees, func(ns int64, tokens int32) {
		ns += carried
		switch {
		case tokens == 0:
			carried = ns
			return
		case tokens > 0:
			buf = append(buf, float64(ns)/float64(tokens))
		}
		carried = 0
	}, func() { carried = 0 })
	return buf
}
