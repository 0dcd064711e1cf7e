package conformance

import (
	"context"
	"fmt"
	"strings"
)

const (
	story = "Write a long story about a lighthouse keeper who collects old maps. Use short plain sentences, and do not stop early."
	// characters are beyond one byte, two and three in UTF-8.
	characters = "Answer in Chinese and with emoji only, no English: describe a rainy day in Beijing \U0001F327\uFE0F \U0001F30F \u4F60\u597D, in at least one hundred characters."
)

// first asks the question that all others build on; false: the endpoint gives
// no answers.
func (b *battery) first(ctx context.Context) bool {
	r := b.ask(ctx, &question{name: "story, whole", prompt: story, max: length})
	b.reply = r
	if !r.ok() {
		b.say(answered, Fail, "%s", r.lost())
		b.ended = "the first question got no answer"
		return false
	}
	b.report.Usable = true
	return true
}

// same asks the same again, whole and as a stream.
func (b *battery) same(ctx context.Context) {
	first := b.reply
	whole := []*reply{first}
	for i := 2; i <= 3; i++ {
		whole = append(whole, b.ask(ctx, &question{name: fmt.Sprintf("story, whole, time %d", i), prompt: story, max: length}))
	}
	b.kept(whole[1])
	b.stable = first.whole()
	for _, r := range whole[1:] {
		if b.stable = b.stable && r.whole(); !b.stable {
			break
		}
		if at := differ(first.text(0), r.text(0)); at >= 0 {
			b.stable = false
			b.say(sameTwice, Note, "not deterministic: %s", between(first.text(0), r.text(0), at))
		}
	}
	if b.stable {
		b.say(sameTwice, Pass, "3 answers of %d characters", len([]rune(first.text(0))))
	} else {
		b.say(sameTwice, NA, "an answer did not come whole")
	}
	for i := 1; i <= 3; i++ {
		r := b.ask(ctx, &question{name: fmt.Sprintf("story, stream %d", i), prompt: story, max: length, stream: true, usage: true})
		b.agree(first, r)
	}
}

// kept says whether the second question came on the connection of the first.
func (b *battery) kept(r *reply) {
	switch {
	case r.x.Status == 0:
	case r.x.ConnReused:
		b.say(httpKeepAlive, Pass, "used again")
	default:
		b.say(httpKeepAlive, Note, "the second question needed a new connection")
	}
}

// agree holds a stream against the whole answer.
func (b *battery) agree(whole, r *reply) {
	if !r.ok() || len(r.answer.Chunks.At) == 0 && !r.whole() || !whole.whole() {
		b.say(sameStream, NA, "no whole answer and stream to compare")
		return
	}
	want, got := whole.text(0), r.text(0)
	at := differ(want, got)
	switch {
	case r.answer.Failure != 0 && strings.HasPrefix(want, got): // what cut it is another rule's
		b.say(sameStream, NA, "the stream did not come whole")
		return
	case at < 0:
		b.say(sameStream, Pass, "%d characters", len([]rune(want)))
	case !b.stable:
		b.say(sameStream, NA, "cannot tell: whole answers differ among themselves")
	case cumulative(r):
		b.say(sameStream, Fail, "each chunk repeats all text before it")
	default:
		b.say(sameStream, Fail, "%s: %s", parting(want, got), between(want, got, at))
	}
	if !b.stable {
		return
	}
	u, v := whole.answer.Usage, r.answer.Usage
	switch {
	case !u.Completion.Known || !v.Completion.Known:
		b.say(sameUsage, NA, "no usage to compare")
	case u.Completion != v.Completion || u.Prompt != v.Prompt:
		b.say(sameUsage, Fail, "%d in and %d out whole, %d in and %d out as a stream", u.Prompt.N, u.Completion.N, v.Prompt.N, v.Completion.N)
	default:
		b.say(sameUsage, Pass, "%d in, %d out", u.Prompt.N, u.Completion.N)
	}
	if x, y := whole.finish(0), r.finish(0); x != y && y != "" {
		b.say(sameFinish, Fail, "%s whole, %s as a stream", quoted(x), quoted(y))
	} else if y != "" {
		b.say(sameFinish, Pass, "%s", x)
	}
}

// parting says how a stream is unlike the whole answer.
func parting(whole, stream string) string {
	switch n, m := len([]rune(whole)), len([]rune(stream)); {
	case strings.HasPrefix(whole, stream):
		return fmt.Sprintf("the stream ends early, %d characters of %d", m, n)
	case strings.HasPrefix(stream, whole):
		return fmt.Sprintf("the stream goes on, %d characters instead of %d", m, n)
	case n == m:
		return "another text, or chunks that moved"
	}
	return "another text, or a chunk that was lost or doubled"
}

// cumulative tells whether chunks hold all text so far.
func cumulative(r *reply) bool {
	text, n := r.answer.Content, r.answer.Chunks.Bytes
	if len(n) < 3 {
		return false
	}
	from, before := int(n[0]), text[:n[0]]
	for _, size := range n[1:] {
		now := text[from : from+int(size)]
		if len(now) <= len(before) || !strings.HasPrefix(string(now), string(before)) {
			return false
		}
		before, from = now, from+int(size)
	}
	return true
}

// differ returns where two texts differ first, -1 if they do not.
func differ(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return n
	}
	return -1
}

// between shows two texts where they part.
func between(a, b string, at int) string {
	return fmt.Sprintf("from character %d on %s and %s", len([]rune(strings.ToValidUTF8(a[:at], ""))), excerpt(a, at), excerpt(b, at))
}

func excerpt(s string, at int) string {
	const around = 12
	return quoted(strings.ToValidUTF8(s[max(at-around, 0):min(at+around, len(s))], ""))
}

// unasked asks a stream that is not to say its usage.
func (b *battery) unasked(ctx context.Context) {
	b.ask(ctx, &question{name: "story, stream without stream_options", prompt: story, max: length, stream: true})
}

// characters asks for what takes more than a byte.
func (b *battery) characters(ctx context.Context) {
	b.ask(ctx, &question{name: "Chinese and emoji, stream", prompt: characters, max: 2 * length, stream: true, usage: true})
	b.ask(ctx, &question{name: "Chinese and emoji, whole", prompt: characters, max: 2 * length})
}
