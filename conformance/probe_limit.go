package conformance

import (
	"context"
	"strings"
)

// lengths asks for one token, and by the other name of the field.
func (b *battery) lengths(ctx context.Context) {
	r := b.ask(ctx, &question{name: "max_tokens 1", prompt: story, max: 1, stream: true, usage: true})
	u := r.answer.Usage.Completion
	switch {
	case !r.whole():
		b.say(limitOne, NA, "no whole answer: %s", r.lost())
	case r.finish(0) != "length":
		b.say(limitOne, Fail, "finish_reason %s", quoted(r.finish(0)))
	case u.Known && u.N != 1:
		b.say(limitOne, Fail, "a usage of %d tokens", u.N)
	case len(r.answer.Chunks.At) > 1:
		b.say(limitOne, Fail, "%d content chunks", len(r.answer.Chunks.At))
	default:
		b.say(limitOne, Pass, "%s", count(len(r.answer.Chunks.At), "content chunk"))
	}
	if !b.chat() {
		b.say(limitOther, NA, "no field of this API")
		return
	}
	const few = 8
	other := "max_completion_tokens"
	if b.maxTokens == other {
		b.say(limitOther, Pass, "the only name that the endpoint takes")
		return
	}
	r = b.ask(ctx, &question{name: other, prompt: story, stream: true, usage: true, optional: true, leave: 4 * few, fields: map[string]any{other: few}})
	u = r.answer.Usage.Completion
	switch {
	case r.refused():
		b.say(limitOther, Note, "refused: %s", r.lost())
	case len(r.answer.Chunks.At) > few+1 || u.N > few:
		b.say(limitOther, Fail, "ignored: %d chunks and more for 8 tokens", len(r.answer.Chunks.At))
	case !r.whole():
		b.say(limitOther, NA, "no whole answer: %s", r.lost())
	default:
		b.say(limitOther, Pass, "%d tokens", u.N)
	}
}

// stop asks for an answer up to a word that was in it before.
func (b *battery) stop(ctx context.Context) {
	said := b.reply.text(0)
	word, at := stopWord(said)
	if !b.reply.whole() || word == "" {
		b.say(limitStop, NA, "the first answer has no word to stop at")
		return
	}
	for _, stream := range []bool{true, false} {
		q := &question{name: "stop string, whole", prompt: story, max: length, stream: stream, usage: stream, fields: map[string]any{"stop": []string{word}}}
		if stream {
			q.name = "stop string, stream"
		}
		r := b.ask(ctx, q)
		switch {
		case !r.whole():
			b.say(limitStop, NA, "no whole answer: %s", r.lost())
		case strings.Contains(r.text(0), word): // the standing rule says it
		case !b.stable:
			b.say(limitStop, Pass, "%q does not come", word)
		case r.finish(0) != "stop":
			b.say(limitStop, Fail, "finish_reason %s", quoted(r.finish(0)))
		case r.text(0) != said[:at]:
			b.say(limitStop, Note, "the text is not what came before %q: %s", word, excerpt(r.text(0), len(r.text(0))))
		default:
			b.say(limitStop, Pass, "ended before %q", word)
		}
	}
}

// stopWord returns a word from the middle of a text that does not come before
// there, and where it stands.
func stopWord(text string) (word string, at int) {
	fields := strings.Fields(text)
	for _, w := range fields[min(len(fields)/3, len(fields)):] {
		if len(w) < 3 || strings.ContainsFunc(w, func(r rune) bool { return r > '~' }) {
			continue
		}
		if at = strings.Index(text, w); at >= len(text)/4 {
			return w, at
		}
	}
	return "", 0
}

// choices asks for two answers.
func (b *battery) choices(ctx context.Context) {
	for _, stream := range []bool{true, false} {
		q := &question{name: "n 2, whole", prompt: story, max: length, n: 2, stream: stream, usage: stream, optional: true}
		if stream {
			q.name = "n 2, stream"
		}
		r := b.ask(ctx, q)
		switch {
		case r.refused():
			b.say(limitN, Note, "refused: %s", r.lost())
		case !r.whole():
			b.say(limitN, NA, "no whole answer: %s", r.lost())
		case r.text(0) == "" || r.text(1) == "": // fewer: the standing rule says it
			b.say(limitN, Fail, "no text of choice %d", map[bool]int{true: 1, false: 0}[r.text(0) != ""])
		default:
			b.say(limitN, Pass, "2 answers, ended by %s and %s", r.finish(0), r.finish(1))
		}
	}
}

// words asks with a prompt of known length.
func (b *battery) words(ctx context.Context) {
	const n = 200
	list := strings.Fields("river stone house green window morning table summer water garden letter street winter paper forest bridge silver market evening music")
	var text []string
	for i := range n {
		text = append(text, list[i*7%len(list)])
	}
	r := b.ask(ctx, &question{name: "200 words", prompt: strings.Join(text, " "), max: 1})
	u := r.answer.Usage.Prompt
	switch {
	case !r.whole() || !u.Known:
		b.say(usagePrompt, NA, "no usage: %s", r.lost())
	case u.N < n:
		b.say(usagePrompt, Fail, "%d tokens for %d words: a part of the prompt was dropped, or the count is wrong", u.N, n)
	default:
		b.say(usagePrompt, Pass, "%d tokens for %d words", u.N, n)
	}
}
