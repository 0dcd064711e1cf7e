package conformance

import (
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/wire"
)

func sortStrings(s []string) { slices.Sort(s) }

func streamJudges() []judge {
	return []judge{
		{streamLines, words(Fail, map[string]string{
			"bad_framing":   "lines that are no event stream, or more than one body",
			"unknown_line":  "a line that is no field of an event",
			"unended_event": "the last event has no blank line after it: a client discards it",
		}, streams)},
		{streamJSON, words(Fail, map[string]string{"bad_json": "data that is no JSON"}, answers)},
		{streamDone, func(_ *battery, r *reply) (Verdict, string) {
			switch {
			case !streams(r) || r.x.Cause != wire.Completed:
				return NA, ""
			case r.marked == 0:
				return Fail, "no data: [DONE]"
			case r.marked > 1:
				return Fail, "[DONE] came " + itoa(r.marked) + " times"
			case r.late || r.has("after_done"):
				return Fail, "data after [DONE]"
			}
			return Pass, ""
		}},
		{streamObject, objects},
		{streamID, ids},
		{streamCreated, created},
		{streamRole, roles},
		{streamFinish, finishes},
		{streamAfter, words(Fail, map[string]string{"content_after_finish": "content for a choice that had ended"}, streams)},
		{streamShape, shapes},
		{streamComes, words(Fail, map[string]string{"not_streamed": "a whole answer came instead of a stream", "streamed_unasked": "a stream came that was not asked for"}, answers)},
	}
}

// each calls f with every chunk that could be read and is no error, until it
// says something.
func (r *reply) each(f func(c *chunk) (Verdict, string)) (Verdict, string) {
	for i := range r.chunks {
		c := &r.chunks[i]
		if !c.valid || c.Error != nil {
			continue
		}
		if v, seen := f(c); v != Pass {
			return v, seen
		}
	}
	return Pass, ""
}

func objects(b *battery, r *reply) (Verdict, string) {
	if !answers(r) || r.q.bad {
		return NA, ""
	}
	want := "text_completion"
	switch {
	case b.chat() && r.sse:
		want = "chat.completion.chunk"
	case b.chat():
		want = "chat.completion"
	}
	return r.each(func(c *chunk) (Verdict, string) {
		switch {
		case c.Object == nil:
			return Fail, "a chunk without object"
		case *c.Object != want:
			return Fail, "object " + quoted(*c.Object) + " instead of " + want
		}
		return Pass, ""
	})
}

func ids(_ *battery, r *reply) (Verdict, string) {
	if !streams(r) || len(r.chunks) == 0 {
		return NA, ""
	}
	first := r.id()
	if first == "" {
		return Note, "chunks without an id"
	}
	return r.each(func(c *chunk) (Verdict, string) {
		switch {
		case c.ID == nil || *c.ID == "":
			return Fail, "a chunk without the id of the others"
		case *c.ID != first:
			return Fail, "ids " + quoted(first) + " and " + quoted(*c.ID)
		}
		return Pass, ""
	})
}

func created(_ *battery, r *reply) (Verdict, string) {
	if !streams(r) {
		return NA, ""
	}
	at, model := "", ""
	return r.each(func(c *chunk) (Verdict, string) {
		if c.Created == nil || c.Model == nil {
			return Note, "a chunk without created or model"
		}
		if at == "" {
			at, model = c.Created.String(), *c.Model
		}
		n, err := c.Created.Int64()
		switch {
		case *c.Model != model:
			return Fail, "models " + quoted(model) + " and " + quoted(*c.Model)
		case c.Created.String() != at:
			return Note, "created " + at + " and " + c.Created.String()
		case err != nil || n <= 0 || n > 1e11:
			return Note, "created " + at + " is no time in seconds since 1970"
		}
		return Pass, ""
	})
}

// roles judges where the role of a chat's answer comes.
func roles(b *battery, r *reply) (Verdict, string) {
	if !b.chat() || !streams(r) {
		return NA, ""
	}
	deltas, named := map[int]int{}, map[int]int{}
	var first []int // choices whose first delta had none
	v, seen := r.each(func(c *chunk) (Verdict, string) {
		for i := range c.Choices {
			ch := &c.Choices[i]
			if ch.Delta == nil {
				continue
			}
			n := ch.index()
			if deltas[n]++; ch.Delta.Role == nil || *ch.Delta.Role == "" {
				if deltas[n] == 1 {
					first = append(first, n)
				}
				continue
			}
			if named[n]++; *ch.Delta.Role != "assistant" {
				return Fail, "role " + quoted(*ch.Delta.Role)
			}
		}
		return Pass, ""
	})
	switch {
	case v != Pass:
		return v, seen
	case len(deltas) == 0:
		return NA, ""
	case len(first) > 0:
		return Note, "the first delta has no role"
	}
	for n, times := range named {
		if times > 1 {
			return Note, "the role in " + itoa(times) + " of " + itoa(deltas[n]) + " deltas"
		}
	}
	return Pass, ""
}

// finishes judges that each choice gets one reason.
func finishes(_ *battery, r *reply) (Verdict, string) {
	switch {
	case !answers(r) || r.x.Cause != wire.Completed || len(r.chunks) == 0:
		return NA, ""
	case r.has("no_finish_reason"):
		return Fail, "a choice ended without finish_reason"
	case r.has("finish_changed"):
		return Fail, "a choice has two finish reasons"
	}
	times := map[int]int{}
	return r.each(func(c *chunk) (Verdict, string) {
		for i := range c.Choices {
			ch := &c.Choices[i]
			if ch.Finish == nil || *ch.Finish == "" {
				continue
			}
			if times[ch.index()]++; times[ch.index()] > 1 {
				return Note, "finish_reason came more than once"
			}
		}
		return Pass, ""
	})
}

func shapes(_ *battery, r *reply) (Verdict, string) {
	if !answers(r) || r.q.bad {
		return NA, ""
	}
	if r.has("bad_shape") {
		return Fail, "a field of the wrong type, or a choice out of range"
	}
	for i := range r.chunks {
		if c := &r.chunks[i]; !c.valid && !r.has("bad_json") {
			return Fail, "a field of the wrong type"
		}
	}
	return r.each(func(c *chunk) (Verdict, string) {
		for i := range c.Choices {
			if c.Choices[i].Index == nil {
				return Note, "a choice without index"
			}
		}
		return Pass, ""
	})
}

// repeated tells whether a text is one character over and over.
func repeated(text string) bool {
	text = strings.TrimSpace(text)
	var one rune
	n := 0
	for _, c := range text {
		if n == 0 {
			one = c
		}
		if c != one {
			return false
		}
		n++
	}
	return n >= 8
}
