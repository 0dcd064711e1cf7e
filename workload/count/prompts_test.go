package count_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/media"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// prompt is the only one of a row; what it is of is valid until the next.
func prompt(t *testing.T, p *count.Prompts, r trace.Row) count.Prompt {
	t.Helper()
	got, err := p.Of(&r)
	if err != nil || len(got) != 1 {
		t.Fatalf("%d prompts, %v", len(got), err)
	}
	q := got[0]
	q.Blocks, q.Ends = slices.Clone(q.Blocks), slices.Clone(q.Ends)
	return q
}

// shared is how many tokens two prompts have in leading blocks.
func shared(a, b count.Prompt) int64 {
	n := 0
	for n < min(len(a.Blocks), len(b.Blocks)) && a.Blocks[n] == b.Blocks[n] {
		n++
	}
	if n == 0 {
		return 0
	}
	return a.Ends[n-1]
}

func chat(messages ...string) trace.Row {
	t := trace.Turn{}
	for i, m := range messages {
		t.Messages = append(t.Messages, trace.Message{Role: []string{"system", "user", "assistant", "user"}[i%4], Text: m})
	}
	return trace.Row{Turns: []trace.Turn{t}}
}

func many(word string, n int) string { return strings.TrimSpace(strings.Repeat(word+" ", n)) }

// What prompts share is found to the token where it ends with a message, in
// turns and bodies alike, and nothing behind the first difference.
func TestShared(t *testing.T) {
	p := count.NewPrompts(words{})
	system := many("rule", 300)
	body := func(rest string) trace.Row {
		return trace.Row{Body: fmt.Appendf(nil, `{"messages":[{"role":"system","content":%q},%s]}`, system, rest)}
	}
	for _, c := range []struct {
		name string
		a, b trace.Row
		want int64
	}{
		{"a system prompt", chat(system, "one"), chat(system, "two three"), 300},
		{"and the same question", chat(system, "one", "yes", "b"), chat(system, "one", "yes", "c d"), 302},
		{"a short one", chat("be brief", "one"), chat("be brief", "two"), 2},
		{"another", chat(system, "one"), chat("x "+system, "one"), 0},
		{"nothing behind it", chat("a", many("same", 100)), chat("b", many("same", 100)), 0},
		{"another role", chat("", "a b"), trace.Row{Turns: []trace.Turn{{Messages: []trace.Message{{Role: "user", Text: ""}, {Role: "system", Text: "a b"}}}}}, 0},
		{"turns and bodies", chat(system, "one"), body(`{"role":"user","content":"two"}`), 300},
		{"parts", body(`{"role":"user","content":[{"type":"text","text":"one "},{"type":"text","text":"two"}]},{"role":"user","content":"x"}`), chat(system, "one two", ""), 302},
		{"tools stand first", body(`{"role":"user","content":"one"}`), trace.Row{Body: fmt.Appendf(nil, `{"messages":[{"role":"system","content":%q}],"tools":[{"a":1}]}`, system)}, 0},
		{"the same tools", trace.Row{Body: []byte(`{"messages":[{"role":"user","content":"a"}],"tools":[{"a":1}, 2]}`)}, trace.Row{Body: []byte(`{"tools":[{"a":1},2],"messages":[{"role":"user","content":"b"}]}`)}, 1},
		{"the same picture", body(`{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"u"}}]},{"role":"user","content":"x"}`),
			body(`{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"u"}}]},{"role":"user","content":"y"}`), 301},
		{"another picture", body(`{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"u"}}]}`),
			body(`{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"v"}}]}`), 300},
		{"another picture of a dataset", pictured("u"), pictured("v"), 0},
		{"the same picture of a dataset", pictured("u"), pictured("u"), 1},
	} {
		if got := shared(prompt(t, p, c.a), prompt(t, p, c.b)); got != c.want {
			t.Errorf("%s: %d tokens, want %d", c.name, got, c.want)
		}
	}
}

func pictured(url string) trace.Row {
	return trace.Row{Turns: []trace.Turn{{Messages: []trace.Message{{Role: "user", Text: "see", Media: []media.Reference{{Text: url}}}}}}}
}

// The same text behind another is another block.
func TestChained(t *testing.T) {
	p := count.NewPrompts(words{})
	a, b := prompt(t, p, chat("a", "same")), prompt(t, p, chat("b", "same"))
	if a.Blocks[1] == b.Blocks[1] {
		t.Error("one id for a text behind two others")
	}
}

// Within a message it is found to a block: 64 bytes, or a 64th of what stands
// before, and never more than there is. By hand: of 10,000 words of 5 bytes the
// first 3,000 are the same, 15,000 bytes and the role's 6; the block that ends
// behind them is at most 15,006/64 = 234 bytes, 46 words and a rest.
func TestSharedWithin(t *testing.T) {
	p := count.NewPrompts(words{})
	a, b := prompt(t, p, chat("", many("same", 10_000))), prompt(t, p, chat("", many("same", 3000)+" "+many("else", 7000)))
	if got := shared(a, b); got > 3001 || got < 3000-47 {
		t.Errorf("%d of 3,000 tokens", got)
	}
	if len(a.Blocks) > 300 {
		t.Errorf("%d blocks", len(a.Blocks))
	}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 2000).Draw(rt, "same")
		text := func(name string) string {
			return strings.Repeat("s", n) + rapid.StringMatching(`[a-z ]{1,200}`).Draw(rt, name)
		}
		one, two := text("one"), text("two")
		same := 0
		for same < min(len(one), len(two)) && one[same] == two[same] {
			same++
		}
		x, err := p.Of(new(trace.Row{Turns: chat("", one).Turns, Input: int64(len(one))}))
		if err != nil {
			rt.Fatal(err)
		}
		first := x[0]
		first.Blocks, first.Ends = slices.Clone(first.Blocks), slices.Clone(first.Ends)
		y, err := p.Of(new(trace.Row{Turns: chat("", two).Turns, Input: int64(len(two))}))
		if err != nil {
			rt.Fatal(err)
		}
		if one == two {
			same = len(one)
		}
		if got := shared(first, y[0]); got > int64(same)+6 || got < int64(same)-64-6 {
			rt.Errorf("%d tokens, of %d equal bytes", got, same)
		}
	})
}

// Where the log says the length of a prompt and nothing counts, its bytes share
// it, with some for the head of each message: of 108 tokens 8 are heads, and of
// the others 3 of 4 the system's.
func TestScaled(t *testing.T) {
	p := count.NewPrompts(nil)
	r := chat(strings.Repeat("a", 300), strings.Repeat("b", 100))
	r.Input = 108
	q := prompt(t, p, r)
	if n := slices.Index(q.Ends, 79); n < 0 || q.Tokens != 108 || q.Estimated || q.Ends[len(q.Ends)-1] != 108 {
		t.Errorf("%+v, want a block to end at 79 tokens", q)
	}
	// What images have in it is theirs: 4 bytes a token, and the rest.
	r = trace.Row{Input: 1012, Body: fmt.Appendf(nil, `{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]},{"role":"user","content":%q}]}`, "abcdefghijklmnop")}
	if q := prompt(t, p, r); q.Ends[0] != 1004 || q.Tokens != 1012 {
		t.Errorf("%+v, want 4 tokens of a head and 1,000 of an image", q.Ends)
	}
}

// A prompt that is one text may go on in the midst of its last block.
func TestTail(t *testing.T) {
	p := count.NewPrompts(words{})
	text := strings.Repeat("x", 100)
	a := prompt(t, p, trace.Row{Body: fmt.Appendf(nil, `{"prompt":%q}`, text)})
	n, last := a.Tail(), a.Blocks[len(a.Blocks)-1]
	if n != 100+len("_user_")-64 || len(a.Blocks) != 2 {
		t.Fatalf("a tail of %d bytes, %d blocks", n, len(a.Blocks))
	}
	for _, c := range []struct {
		more string
		want bool
	}{{text[:99] + "y and more of it", false}, {text + " and more of it", true}, {text[:90], false}} { // the last one behind one that goes on
		more, want := c.more, c.want
		got, err := p.Of(&trace.Row{Body: fmt.Appendf(nil, `{"prompt":%q}`, more)})
		if err != nil {
			t.Fatal(err)
		}
		if id, ok := got[0].Behind(0, n); (ok && id == last) != want {
			t.Errorf("%q goes on: %v, want %v", more, !want, want)
		}
	}
	if q := prompt(t, p, chat(text, text)); q.Tail() != 0 {
		t.Errorf("a chat has a tail of %d bytes", q.Tail())
	}
}

// Ids are of one Prompts alone: nobody who knows a text can find it by its id.
func TestIDsAreKeyed(t *testing.T) {
	r := chat("a", "b")
	a, b := prompt(t, count.NewPrompts(nil), r), prompt(t, count.NewPrompts(nil), r)
	if a.Blocks[0] == b.Blocks[0] {
		t.Error("the same text has the same id in two readings")
	}
}

// The prompts of a conversation hold what came before, and an answer that is not
// known is its own.
func TestConversation(t *testing.T) {
	p := count.NewPrompts(words{})
	turns := func(answer string) trace.Row {
		u := func(text string) trace.Turn {
			return trace.Turn{Messages: []trace.Message{{Role: "user", Text: text}}, Answer: answer, Output: 4}
		}
		return trace.Row{Turns: []trace.Turn{u("one"), u("two")}}
	}
	for answer, want := range map[string]int64{"four words it is": 5, "": 1} {
		got, err := p.Of(new(turns(answer)))
		if err != nil || len(got) != 2 {
			t.Fatal(got, err)
		}
		if n := shared(got[0], got[1]); n != 1 {
			t.Errorf("a turn shares %d tokens with the one before", n)
		}
		row := trace.Row{Turns: []trace.Turn{{Messages: []trace.Message{{Role: "user", Text: "one"}, {Role: "assistant", Text: "four words it is"}, {Role: "user", Text: "x"}}}}}
		second := got[1]
		second.Blocks, second.Ends = slices.Clone(second.Blocks), slices.Clone(second.Ends)
		if n := shared(second, prompt(t, p, row)); n != want {
			t.Errorf("with an answer %q: %d tokens, want %d", answer, n, want)
		}
	}
}

// A line cannot make work without end: turns whose prompts have too many blocks in
// all are not followed.
func TestMostBlocks(t *testing.T) {
	r := trace.Row{}
	for range 3000 {
		r.Turns = append(r.Turns, trace.Turn{Messages: []trace.Message{{Role: "user", Text: "a"}}, Answer: "b"})
	}
	got, err := count.NewPrompts(nil).Of(&r)
	if err != nil || len(got) != 3000 {
		t.Fatal(len(got), err)
	}
	sum := 0
	for _, q := range got {
		sum += len(q.Blocks)
	}
	if len(got[0].Blocks) == 0 || len(got[2999].Blocks) > 0 || sum > 1<<20 {
		t.Errorf("%d blocks", sum)
	}
}

// calls counts how often it was asked.
type calls struct{ n int }

func (*calls) Name() string { return "calls" }

func (c *calls) Count(text string) (int, error) {
	c.n++
	return len(text), nil
}

// A long text that comes again is counted once.
func TestCountedOnce(t *testing.T) {
	c := &calls{}
	p := count.NewPrompts(c)
	for i := range 10 {
		if q := prompt(t, p, chat(many("rule", 100), strings.Repeat("x", i+1))); q.Said != int64(499+i+1) {
			t.Errorf("%d tokens, want %d", q.Said, 499+i+1)
		}
	}
	if c.n != 11 {
		t.Errorf("counted %d times, want 11", c.n)
	}
}
