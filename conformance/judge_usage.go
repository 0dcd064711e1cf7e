package conformance

import "fmt"

func usageJudges() []judge {
	return []judge{
		{usageThere, func(b *battery, r *reply) (Verdict, string) {
			switch {
			case !answers(r) || !r.ok() || r.q.bad || r.sse && (!r.q.usage || b.without["stream_options"]):
				return NA, ""
			case r.has("usage_zero"):
				return Fail, "a usage of zeros"
			case r.has("usage_missing"), r.lastUsage() == nil && !r.answer.Usage.Completion.Known:
				return Fail, "no usage"
			}
			return Pass, ""
		}},
		{usageChunk, usageAtEnd},
		{usageUnasked, func(_ *battery, r *reply) (Verdict, string) {
			switch {
			case !streams(r) || r.q.usage:
				return NA, ""
			case r.lastUsage() != nil:
				return Note, "a usage that was not asked for"
			}
			return Pass, ""
		}},
		{usageSums, func(_ *battery, r *reply) (Verdict, string) {
			u := r.lastUsage()
			switch {
			case !good(r) || u == nil:
				return NA, ""
			case u.Prompt == nil || u.Completion == nil || u.Total == nil:
				return Fail, "prompt_tokens, completion_tokens or total_tokens is missing"
			case *u.Prompt+*u.Completion != *u.Total:
				return Fail, fmt.Sprintf("%d + %d is not %d", *u.Prompt, *u.Completion, *u.Total)
			case r.has("usage_implausible"):
				return Fail, "counts that cannot be"
			case *u.Prompt < 1:
				return Fail, fmt.Sprintf("%d prompt tokens", *u.Prompt)
			}
			return Pass, ""
		}},
		{usageLength, func(_ *battery, r *reply) (Verdict, string) {
			u := r.answer.Usage.Completion
			switch {
			case !good(r) || !u.Known || r.q.max == 0 || r.q.n > 1 || r.finish(0) != "length":
				return NA, ""
			case u.N != r.q.max:
				return Fail, fmt.Sprintf("length at max_tokens %d, and a usage of %d", r.q.max, u.N)
			}
			return Pass, ""
		}},
		{usageChunks, func(_ *battery, r *reply) (Verdict, string) {
			u := r.answer.Usage.Completion
			switch {
			case !good(r) || !r.sse || !u.Known && !r.has("usage_below_chunks"):
				return NA, ""
			case r.has("usage_below_chunks"):
				return Fail, fmt.Sprintf("%d content chunks for %d tokens", len(r.answer.Chunks.At), u.N)
			case r.has("usage_unlike_count"):
				return Fail, "a count unlike ours"
			}
			return Pass, ""
		}},
	}
}

// lastUsage is the last usage object that is not all zeros, nil if none came.
func (r *reply) lastUsage() *usage {
	for i := len(r.chunks) - 1; i >= 0; i-- {
		if u := r.chunks[i].Usage; u != nil && !u.zero() {
			return u
		}
	}
	return nil
}

func (u *usage) zero() bool {
	for _, n := range []*int64{u.Prompt, u.Completion, u.Total} {
		if n != nil && *n != 0 {
			return false
		}
	}
	return true
}

// usageAtEnd judges where the usage of a stream stands.
func usageAtEnd(_ *battery, r *reply) (Verdict, string) {
	if !streams(r) || !r.q.usage || r.lastUsage() == nil {
		return NA, ""
	}
	with, zeros := 0, 0
	for i := range r.chunks {
		if u := r.chunks[i].Usage; u != nil {
			with++
			if u.zero() {
				zeros++
			}
		}
	}
	last := &r.chunks[len(r.chunks)-1]
	switch {
	case zeros > 0:
		return Note, fmt.Sprintf("usage of zeros in %d chunks", zeros)
	case last.Usage == nil:
		return Note, "not in the last chunk"
	case len(last.Choices) > 0:
		return Note, "in a chunk that has choices"
	case with > 1:
		return Note, fmt.Sprintf("in %d chunks", with)
	}
	return Pass, ""
}
