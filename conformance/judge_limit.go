package conformance

import (
	"fmt"
	"slices"

	"github.com/tokamak-bench/tokamak/engine"
)

func limitJudges() []judge {
	return []judge{
		{limitMax, func(_ *battery, r *reply) (Verdict, string) {
			u, most := r.answer.Usage.Completion, r.q.max*int64(max(r.q.n, 1))
			switch {
			case !answers(r) || r.q.max == 0:
				return NA, ""
			case u.Known && u.N > most:
				return Fail, fmt.Sprintf("%d tokens for max_tokens %d", u.N, r.q.max)
			case r.has("over_max_tokens"), int64(len(r.answer.Chunks.At)) > most+int64(max(r.q.n, 1)):
				return Fail, fmt.Sprintf("%d chunks for max_tokens %d", len(r.answer.Chunks.At), r.q.max)
			}
			return Pass, ""
		}},
		{limitStop, words(Fail, map[string]string{"stop_ignored": "the stop string stands in the text"}, func(r *reply) bool {
			return good(r) && r.q.fields["stop"] != nil
		})},
		{limitN, words(Fail, map[string]string{"missing_choices": "fewer answers than asked for", "extra_choices": "more answers than asked for"}, func(r *reply) bool {
			return good(r) && (r.q.n > 1 || r.has("extra_choices"))
		})},
		{finishWords, words(Fail, map[string]string{
			"finish_unknown":   "a finish_reason that is none of the API's",
			"no_tool_call":     "tool_calls without a call",
			"length_unreached": "length with fewer tokens than max_tokens",
			"under_max_tokens": "fewer tokens than asked for",
		}, good)},
		{toolStream, words(Fail, map[string]string{"bad_tool_json": "arguments that are no JSON"}, func(r *reply) bool { return good(r) && r.sse && called(r) })},
		{toolWhole, words(Fail, map[string]string{"bad_tool_json": "arguments that are no JSON"}, func(r *reply) bool { return good(r) && !r.sse && called(r) })},
	}
}

// called tells whether a tool was called.
func called(r *reply) bool {
	return slices.ContainsFunc(r.answer.Parts, func(p engine.Part) bool { return p.Kind == engine.Tool })
}
