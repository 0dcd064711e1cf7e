package dialect

import "math"

// Which sendings fail.

func failsOn(says string, outputNeeded bool, endings ...ending) Rule[func(*request, *seen) bool] {
	var bad uint16
	for _, e := range append(endings, severed, refused, unheard, stopped) {
		bad |= 1 << e
	}
	return Rule[func(*request, *seen) bool]{says, func(r *request, s *seen) bool {
		return bad>>r.ending&1 != 0 || outputNeeded && s.chunks == 0
	}}
}

// From when latency counts.

func fromIntended() Rule[func(*request) int64] {
	return Rule[func(*request) int64]{"counts latency from the intended time", func(r *request) int64 { return r.intended }}
}

func fromSend() Rule[func(*request) int64] {
	return Rule[func(*request) int64]{"counts latency from the send: a late or queued send is not in it", func(r *request) int64 { return r.start }}
}

func fromWrite() Rule[func(*request) int64] {
	return Rule[func(*request) int64]{"counts latency from the first header byte: neither lateness nor connecting is in it", func(r *request) int64 { return r.written }}
}

// What is output.

func sees(says string, k Kind) Rule[Kind] { return Rule[Kind]{says, k} }

// When a response ends.

type endRule = Rule[func(*request, *seen) int64]

func atLastOutput() endRule {
	return endRule{"a response ends with its last output event", func(_ *request, s *seen) int64 { return s.last }}
}

func atClose() endRule {
	return endRule{"a response ends when its stream closes, usage and terminator included", func(r *request, _ *seen) int64 { return r.ended }}
}

// atLastData is the last event with JSON in it: the usage, a finish, an error.
func atLastData() endRule {
	return endRule{"a response ends with its last data event, finish and usage included", func(r *request, s *seen) int64 {
		if r.ending == inBand {
			return r.ended
		}
		last := max(s.last, r.usageAt)
		if n := len(r.events); n > 0 {
			last = max(last, r.events[n-1].at)
		}
		return last
	}}
}

// How many tokens.

type tokenRule = Rule[func(*request, *seen) int64]

func firstKnown(n ...int64) int64 {
	for _, v := range n {
		if v != unknown {
			return v
		}
	}
	return unknown
}

func usageElseCounted() tokenRule {
	return tokenRule{"counts output by usage, else by a tokenizer", func(r *request, _ *seen) int64 {
		return firstKnown(int64(r.usage), int64(r.counted))
	}}
}

func countedElseUsage() tokenRule {
	return tokenRule{"counts output with its own tokenizer, whatever usage says", func(r *request, _ *seen) int64 {
		return firstKnown(int64(r.counted), int64(r.usage))
	}}
}

// usageElseChunks takes usage, and where there is none one token an event.
func usageElseChunks() tokenRule {
	return tokenRule{"without usage counts an event as a token", func(r *request, s *seen) int64 {
		if r.usage > 0 {
			return int64(r.usage)
		}
		return int64(max(s.chunks, 1))
	}}
}

func usageElseAsked() tokenRule {
	return tokenRule{"without usage credits the length that was asked for", func(r *request, _ *seen) int64 {
		return firstKnown(int64(r.usage), int64(r.asked), int64(r.counted))
	}}
}

// completedElseEvents credits the length asked for to what completed without
// usage, and its events to what failed.
func completedElseEvents() tokenRule {
	return tokenRule{"without usage credits the length that was asked for; of a failure the events that came", func(r *request, s *seen) int64 {
		if r.ending == whole && r.usage != int32(unknown) {
			return int64(r.usage)
		}
		if r.ending == whole && r.asked != int32(unknown) {
			return int64(r.asked)
		}
		return int64(s.chunks)
	}}
}

type promptRule = Rule[func(*request) int64]

func promptByUsage() promptRule {
	return promptRule{"counts the prompt by usage, else as asked", func(r *request) int64 {
		return firstKnown(int64(r.promptUsage), int64(r.promptAsked), int64(r.promptCounted))
	}}
}

func promptByClient() promptRule {
	return promptRule{"counts the prompt with its own tokenizer, without the chat template", func(r *request) int64 {
		return firstKnown(int64(r.promptCounted), int64(r.promptAsked), int64(r.promptUsage))
	}}
}

// Time to the first token.

type perRequestRule = Rule[perRequest]

// ifMissing says what a TTFT is that was not measured.
type ifMissing uint8

const (
	leftOut ifMissing = iota
	zero
)

func ttft(says string, missing ifMissing) perRequestRule {
	return perRequestRule{says, func(_ *request, s *seen) (float64, float64, bool) {
		if s.first == absent || s.start == absent {
			return 0, 1, missing == zero
		}
		return float64(s.first - s.start), 1, true
	}}
}

// Time for one token.

type tpotRule = perRequestRule

// afterFirst is (end − first) ÷ (n − 1).
func afterFirst(says string, unmeasuredFirst bool) tpotRule {
	return tpotRule{says, func(_ *request, s *seen) (float64, float64, bool) {
		first := s.first
		if first == absent && unmeasuredFirst {
			first = s.start // a TTFT of zero
		}
		if s.output <= 1 || first == absent || s.end == absent {
			return 0, 0, false
		}
		return float64(s.end-first) / float64(s.output-1), 1, true
	}}
}

// ITL and ICL.

// eventGaps are the gaps between output events, whatever each holds.
func eventGaps(r *request, sees Kind, buf []float64) []float64 {
	last := absent
	for _, e := range r.events {
		if e.kind&sees == 0 {
			continue
		}
		if last != absent {
			buf = append(buf, float64(e.at-last))
		}
		last = e.at
	}
	return buf
}

// tokenStamps gives all tokens of an event its stamp: gaps inside are zero.
func tokenStamps(r *request, sees Kind, buf []float64) []float64 {
	last := absent
	for _, e := range r.events {
		if e.kind&sees == 0 {
			continue
		}
		n := e.tokens
		if n < 0 {
			n = 1
		}
		for range n {
			if last != absent {
				buf = append(buf, float64(e.at-last))
			}
			last = e.at
		}
	}
	return buf
}

// stamps counts the tokens that an event's stamp is given to.
func stamps(r *request, sees Kind) int {
	n := 0
	for _, e := range r.events {
		if e.kind&sees != 0 {
			n += int(max(e.tokens, 1))
		}
	}
	return n
}

// NaN marks a figure that is not there.
var nan = math.NaN
