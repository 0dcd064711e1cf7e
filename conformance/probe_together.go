package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/tokamak-bench/tokamak/wire"
)

// giveUp leaves a stream, and looks whether the endpoint goes on.
func (b *battery) giveUp(ctx context.Context) {
	left := b.ask(ctx, &question{name: "left stream", prompt: story, max: 4 * length, stream: true, usage: true, leave: 3})
	r := b.ask(ctx, &question{name: "after a left stream", prompt: story, max: length, stream: true, usage: true})
	switch {
	case left.x.Status == 0:
		b.say(cancelled, NA, "the stream to leave did not begin: %s", left.lost())
	case !r.ok():
		b.say(cancelled, Fail, "the next question: %s", r.lost())
	case b.stable && r.whole() && b.reply.whole() && r.text(0) != b.reply.text(0):
		b.say(cancelled, NA, "the next answer is whole, but another than before")
	case left.x.Cause != wire.Cancelled:
		b.say(cancelled, NA, "the stream had ended before it could be left")
	default:
		b.say(cancelled, Pass, "left after %s, the next question was answered", count(len(left.events), "event"))
	}
}

// canaries are words that an answer may take up from its question; none stands
// in two.
func canaries() []string { return []string{"Zanzibar", "Oslo", "Kyoto", "Lima"} }

// together asks four questions one after the other and at once.
func (b *battery) together(ctx context.Context) {
	list := canaries()
	ask := func(i int, when string) *question {
		topics := []string{"the harbour", "a football club", "cooking rice", "an old train"}
		return &question{name: fmt.Sprintf("%s, %s", list[i], when), max: length, stream: true, usage: true,
			prompt: fmt.Sprintf("You are a guide in %s. Tell me at length about %s there, and name %s in each sentence.", list[i], topics[i], list[i])}
	}
	alone := make([]*reply, len(list))
	for i := range list {
		if alone[i] = b.ask(ctx, ask(i, "alone")); b.ended != "" {
			return
		}
	}
	b.apart(alone)
	at := b.atOnce(ctx, len(list), ask)
	bad := 0
	for i, r := range at {
		switch {
		case !r.whole() || !alone[i].whole():
			bad++
			b.say(concurrent, NA, "not all answers came whole: %q: %s", r.q.name, r.lost())
		case b.foreign(i, r.text(0)) != "":
			bad++
			b.say(concurrent, Fail, "the answer about %s names %s", list[i], b.foreign(i, r.text(0)))
		case b.stable && r.text(0) != alone[i].text(0):
			bad++
			for j := range alone {
				if j != i && r.text(0) == alone[j].text(0) {
					b.say(concurrent, Fail, "the answer about %s is the one about %s", list[i], list[j])
				}
			}
			b.say(concurrent, Note, "the answer about %s is another alone and at once: %s", list[i], between(alone[i].text(0), r.text(0), differ(alone[i].text(0), r.text(0))))
		}
	}
	switch {
	case bad > 0:
	case b.stable:
		b.say(concurrent, Pass, "4 answers, the same alone and at once")
	default:
		b.say(concurrent, Pass, "no answer names what another was asked")
	}
}

// foreign names a canary of another question that stands in a text.
func (b *battery) foreign(i int, text string) string {
	for j, w := range canaries() {
		if j != i && strings.Contains(text, w) {
			return w
		}
	}
	return ""
}

// apart looks whether different questions got different answers.
func (b *battery) apart(alone []*reply) {
	const enough = 24 // bytes: shorter ones may be the same by chance
	for i, r := range alone {
		for j := range i {
			if a := alone[j].text(0); r.ok() && alone[j].ok() && len(a) >= enough && a == r.text(0) {
				b.say(isolated, Fail, "%q and %q got the same answer, %s", alone[j].q.name, r.q.name, quoted(short(a, 40)))
			}
		}
		if !r.whole() {
			b.say(isolated, NA, "not all answers came whole")
		}
	}
	if _, said := b.results[isolated]; !said {
		b.say(isolated, Pass, "4 answers, no two the same")
	}
}

// atOnce asks n questions at the same time.
func (b *battery) atOnce(ctx context.Context, n int, ask func(int, string) *question) []*reply {
	out := make([]*reply, n)
	var wg sync.WaitGroup
	for i := range n {
		q := ask(i, "at once")
		body, err := json.Marshal(b.body(q))
		if err != nil {
			panic(err) // the battery's own values
		}
		wg.Go(func() { out[i] = b.once(ctx, q, body) })
	}
	wg.Wait()
	for i, r := range out {
		b.keep(r)
		if r.x.Status == 429 && b.wait(ctx, r) { // one after the other, then
			out[i] = b.ask(ctx, r.q)
		}
	}
	return out
}
