package conformance

import (
	"strings"
	"unicode/utf8"
)

func textJudges() []judge {
	return []judge{
		{textUTF8, func(_ *battery, r *reply) (Verdict, string) {
			if !answers(r) {
				return NA, ""
			}
			for _, e := range r.events {
				if !utf8.Valid(e.Data) && r.has("split_utf8") {
					return Fail, "a character's bytes came in two events"
				}
				if !utf8.Valid(e.Data) {
					return Fail, "an event that is no UTF-8"
				}
			}
			if r.has("bad_utf8") {
				return Fail, "text that is no UTF-8"
			}
			return Pass, ""
		}},
		{textWhole, func(_ *battery, r *reply) (Verdict, string) {
			switch {
			case !good(r):
				return NA, ""
			case r.has("split_surrogates"):
				return Fail, "the halves of a surrogate pair came in two chunks"
			case !r.has("replacement_char"):
				return Pass, ""
			case r.finish(0) == "length" && !strings.Contains(strings.TrimRight(r.text(0), "\uFFFD"), "\uFFFD"):
				return Pass, "but for U+FFFD where max_tokens cut a character"
			}
			return Note, "U+FFFD in the text"
		}},
		{textSense, func(_ *battery, r *reply) (Verdict, string) {
			switch {
			case !good(r) || len(r.text(0)) < 8:
				return NA, ""
			case repeated(r.text(0)):
				return Fail, "nothing but " + quoted(short(r.text(0), 24))
			}
			return Pass, ""
		}},
		{textAny, func(_ *battery, r *reply) (Verdict, string) {
			switch {
			case !good(r) || r.q.max == 1:
				return NA, ""
			case r.has("empty_length"):
				return Note, "the length was used up before any text"
			case r.has("empty_answer") && r.answer.Usage.Completion.N <= 1:
				return Note, "not one byte of content: the model ended at once"
			case r.has("empty_answer"):
				return Fail, "not one byte of content"
			}
			return Pass, ""
		}},
		{textThink, words(Note, map[string]string{
			"think_tags":       "reasoning stands as <think> in the text",
			"think_unopened":   "reasoning ends in </think> within the text",
			"hidden_reasoning": "reasoning tokens are counted but not shown",
		}, good)},
	}
}
