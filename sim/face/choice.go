package face

import (
	"strings"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// Choice is one sequence and its place in the answer. Its exported fields are
// the writer's.
type Choice struct {
	// Index counts choices from 0.
	Index int
	// Written is how many tokens have been.
	Written int64
	// Finish is why it ended; empty until the end is written.
	Finish core.Finish
	// Seed is what its answer follows from.
	Seed uint64

	x       *Exchange
	request core.Request
	content content
	news    news // under x.mu
	taken   news
	answer  text.Answer
	stop    stop
}

// news is what the loop tells the writer.
type news struct {
	tokens int64
	finish core.Finish
}

// stop is where an answer's text is cut; the zero value is nowhere.
type stop struct {
	word  string // the stop string found
	after int64  // token that completes it, from 1
	text  int    // bytes of text to show
	shown int    // bytes shown so far
}

// choose sets up choice i. What it says, and where it ends when left to
// itself, follows from prompt, seed and number alone.
func (x *Exchange) choose(i int, l *Language) {
	a, n := x.ask, x.ask.answers()
	ids := a.Prompts[i/n]
	seed := x.service.Seed
	if a.Seed != nil {
		seed = core.Mix(seed, uint64(*a.Seed))
	}
	adapter := x.service.adapter(a.Model)
	if adapter != 0 {
		seed = core.Mix(seed, adapter)
	}
	seed = core.Mix(core.Mix(seed, Fingerprint(ids)), uint64(i%n))
	c := &x.Choices[i]
	c.x, c.Index, c.Seed = x, i, seed
	c.answer = l.answers.Start(seed)
	c.request = core.Request{ID: x.ID, PromptTokens: int64(len(ids)), Content: &c.content, Arrived: x.arrived, MaxTokens: a.MaxTokens, Listener: (*listener)(c)}
	c.request.Priority = a.Priority
	if a.CacheSalt != "" {
		c.request.CacheKey = saltKey(a.CacheSalt)
	}
	if adapter != 0 {
		c.request.CacheKey = core.Mix(c.request.CacheKey, adapter)
	}
	switch {
	case a.Script != nil:
		c.answer = text.Script(a.Script)
		c.request.StopAfter = int64(len(a.Script))
	case !a.IgnoreEOS:
		c.request.StopAfter = max(text.Length(seed, x.service.MeanOutput), a.MinTokens)
	}
	if len(a.Stop) > 0 {
		c.findStop()
	}
	c.content = content{ids: ids, answer: c.answer}
}

// limit is the most tokens that the choice can get.
func (c *Choice) limit() int64 {
	limit := c.x.service.Engine.MaxModelLen - c.request.PromptTokens
	if c.request.MaxTokens > 0 {
		limit = min(limit, c.request.MaxTokens)
	}
	if c.request.StopAfter > 0 {
		limit = min(limit, c.request.StopAfter)
	}
	return limit
}

// Last tells whether the token just written is the last one, unless the
// request is aborted.
func (c *Choice) Last() bool { return c.Written >= c.limit() }

// findStop reads the answer ahead for the first stop string in it.
func (c *Choice) findStop() {
	longest := 0
	for _, s := range c.x.ask.Stop {
		longest = max(longest, len(s))
	}
	ahead, limit := c.answer, c.limit()
	var said []byte
	for n := int64(1); n <= limit; n++ {
		from := max(len(said)-longest+1, 0)
		said = append(said, ahead.Next().Text...)
		at, word := firstOf(string(said[from:]), c.x.ask.Stop)
		if word == "" || n < c.x.ask.MinTokens {
			continue
		}
		at += from
		if c.x.ask.KeepStop {
			at += len(word)
		}
		c.stop = stop{word: word, after: n, text: at}
		c.request.StopAfter = n
		return
	}
}

// firstOf returns where the first of words begins in s, and which it is.
func firstOf(s string, words []string) (at int, word string) {
	at = len(s)
	for _, w := range words {
		if i := strings.Index(s, w); w != "" && i >= 0 && i < at {
			at, word = i, w
		}
	}
	return at, word
}

// next returns the next token, its text cut where a stop string begins.
func (c *Choice) next() *text.Word {
	c.Written++
	w := c.answer.Next()
	if c.stop.after == 0 {
		return w
	}
	show := min(len(w.Text), c.stop.text-c.stop.shown)
	c.stop.shown += show
	if show == len(w.Text) {
		return w
	}
	cut := text.NewWord(w.Text[:show], w.ID)
	return &cut
}

// Text reads the whole text of a choice that has ended and is not streamed.
func (c *Choice) Text() string {
	var out []byte
	c.Each(func(w *text.Word) { out = append(out, w.Text...) })
	return string(out)
}

// Each reads the tokens of a choice that has ended and is not streamed.
func (c *Choice) Each(f func(w *text.Word)) {
	for c.Written < c.taken.tokens {
		f(c.next())
	}
}

// StopString is the stop string that ended the choice; empty: none did.
func (c *Choice) StopString() string {
	if c.Finish == core.Stop && c.Written >= c.stop.after {
		return c.stop.word
	}
	return ""
}

// PromptTokens is the length of its prompt.
func (c *Choice) PromptTokens() int64 { return c.request.PromptTokens }

// PromptIDs are the tokens of its prompt; they are not to be changed.
func (c *Choice) PromptIDs() []uint32 { return c.content.ids }

// Cached is how many tokens of its prompt were in the cache; it may be read
// from the first token on.
func (c *Choice) Cached() int64 { return c.request.Stats.Cached }

// Stats are its moments and counts; they may be read once it has finished.
func (c *Choice) Stats() *core.Stats { return &c.request.Stats }

// listener hears of a choice from the engine.
type listener Choice

// Tokens is called on the loop. News that nobody has taken yet are told once;
// an answer that is written whole waits for its end.
func (c *listener) Tokens(n, at int64) {
	x := c.x
	x.mu.Lock()
	if c.news.tokens += n; x.since == 0 {
		x.since = at
	}
	tell := !x.told && x.out != nil
	x.told = true
	x.mu.Unlock()
	if tell {
		x.tell()
	}
}

// Finished is called on the loop.
func (c *listener) Finished(why core.Finish, _ core.Usage, _ int64) {
	c.x.mu.Lock()
	c.news.finish = why
	c.x.live--
	c.x.mu.Unlock()
	c.x.tell()
}

// Exchange is the request that the choice belongs to.
func (c *Choice) Exchange() *Exchange { return c.x }
