package conformance

import (
	"fmt"
	"slices"

	"github.com/tokamak-bench/tokamak/wire"
)

// judge says how one reply stands against a rule; NA where the rule is not
// about such a reply.
type judge struct {
	rule string
	of   func(b *battery, r *reply) (Verdict, string)
}

// standing judges all replies. What an answer holds is right only where it holds
// something: of bytes that nobody could read nothing but faults is said.
func (b *battery) standing() {
	b.stand(answerJudges(), func(*reply) bool { return true })
	b.stand(slices.Concat(streamJudges(), textJudges(), usageJudges(), limitJudges()), (*reply).readable)
	b.paced()
	b.ids()
}

// stand judges all replies by some rules; evidence tells which replies can speak
// for an endpoint.
func (b *battery) stand(judges []judge, evidence func(*reply) bool) {
	for _, j := range judges {
		t := tally{}
		for _, r := range b.replies {
			if v, seen := j.of(b, r); v != NA && (v != Pass || evidence(r)) {
				t.add(r, v, seen)
			}
		}
		if t.of > 0 {
			b.say(j.rule, t.worst, "%s", t.String())
		}
	}
}

// tally sums up one rule over many replies.
type tally struct {
	of, bad int
	worst   Verdict
	seen    string
	first   string // question with the worst
}

func (t *tally) add(r *reply, v Verdict, seen string) {
	t.of++
	switch {
	case t.of == 1 || v.worse(t.worst):
		t.worst, t.seen, t.first, t.bad = v, seen, r.q.name, 1
	case v == t.worst:
		t.bad++
	}
}

func (t *tally) String() string {
	if t.worst == Pass {
		if t.seen != "" {
			return t.seen
		}
		return "in " + count(t.of, "answer")
	}
	return fmt.Sprintf("%s (%q, %d of %d)", t.seen, t.first, t.bad, t.of)
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return itoa(n) + " " + of + "s"
}

// words makes a judge that fails on words of the decoder.
func words(v Verdict, about map[string]string, applies func(r *reply) bool) func(*battery, *reply) (Verdict, string) {
	return func(_ *battery, r *reply) (Verdict, string) {
		if !applies(r) {
			return NA, ""
		}
		for _, list := range [][]string{r.answer.Violations, r.answer.Notes} {
			for _, w := range list {
				if text, ok := about[w]; ok {
					return v, text
				}
			}
		}
		return Pass, ""
	}
}

// left tells whether we gave an answer up ourselves.
func left(r *reply) bool { return r.q.leave > 0 && r.x.Cause == wire.Cancelled }

// answers are replies with a 2xx, streams those of them that are one.
func answers(r *reply) bool { return r.x.Status >= 200 && r.x.Status <= 299 && !left(r) }
func streams(r *reply) bool { return answers(r) && r.sse }

// good are answers that came to their end and have no error in them.
func good(r *reply) bool { return answers(r) && r.whole() }

// paced judges the arrival of streams together: one that came in bursts may be
// the client's own doing, where most did it is not.
func (b *battery) paced() {
	of, atOnce, lumps, chunks, bursts := 0, 0, 0, 0, 0
	for _, r := range b.replies {
		at := r.answer.Chunks.At
		if !streams(r) || len(at) < 8 {
			continue
		}
		of++
		moments := slices.Compact(slices.Clone(at))
		switch {
		case r.has("buffered"):
			atOnce, chunks, bursts = atOnce+1, len(at), len(moments)
		case len(moments)*4 <= len(at):
			lumps++
		}
	}
	const hint = "something on the way collects the stream (nginx: proxy_buffering off)"
	switch {
	case of == 0:
	case 2*atOnce >= of:
		b.say(streamPaced, Fail, "buffered: %d of %d streams came in bursts, the last one's %d chunks in %s; %s", atOnce, of, chunks, count(bursts, "moment"), hint)
	case atOnce > 0:
		b.say(streamPaced, Note, "buffered: %d of %d streams came in bursts; or the client was busy", atOnce, of)
	case 2*lumps >= of:
		b.say(streamPaced, Note, "%d of %d streams came in lumps of four chunks and more", lumps, of)
	default:
		b.say(streamPaced, Pass, "in %s", count(of, "stream"))
	}
}

// ids holds the ids of all answers against each other.
func (b *battery) ids() {
	seen := map[string]string{}
	of := 0
	for _, r := range b.replies {
		id := r.id()
		if !answers(r) || id == "" {
			continue
		}
		of++
		if first, ok := seen[id]; ok {
			b.say(concurrentIDs, Fail, "%q and %q both have the id %q", first, r.q.name, short(id, 60))
			return
		}
		seen[id] = r.q.name
	}
	switch {
	case of > 1:
		b.say(concurrentIDs, Pass, "in %s", count(of, "answer"))
	case len(b.replies) > 1:
		b.say(concurrentIDs, NA, "answers have no id")
	}
}
