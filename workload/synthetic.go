package workload

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// Synthetic yields lone requests of constant length with a salted prompt.
type Synthetic struct {
	Seed          uint64
	Input, Output int64
}

// Session returns request i.
func (s Synthetic) Session(i int64) (Session, error) {
	return newSynthetic(Config{Classes: []Class{{Input: stat.Constant(s.Input), Output: stat.Constant(s.Output)}}}, s.Seed).Session(i)
}

// synthetic draws sessions of weighted classes.
type synthetic struct {
	Config
	seed uint64
	upTo []float64 // cumulative weights, the last is the sum
	sent *sent     // nil where no class shares anything
}

func newSynthetic(c Config, seed uint64) *synthetic {
	s := &synthetic{Config: c, seed: seed}
	equal := !slices.ContainsFunc(c.Classes, func(k Class) bool { return k.Weight > 0 })
	sum := 0.0
	for _, class := range c.Classes {
		if class.PrefixTokens > 0 || class.Reuse {
			s.sent = &sent{longest: map[uint64][]length{}}
		}
		w := class.Weight
		if equal {
			w = 1
		}
		sum += w
		s.upTo = append(s.upTo, sum)
	}
	return s
}

// Total returns the number of sessions, where there is a limit.
func (s *synthetic) Total() (n int64, known bool) { return s.MaxSessions, s.MaxSessions > 0 }

// Session returns session i.
func (s *synthetic) Session(i int64) (Session, error) {
	if i < 0 || s.MaxSessions > 0 && i >= s.MaxSessions {
		return nil, ErrEnd
	}
	return s.conversation(i), nil
}

func (s *synthetic) conversation(i int64) *conversation {
	return &conversation{synthetic: s, class: &s.Classes[s.classOf(i)], index: uint64(i)}
}

func (s *synthetic) classOf(i int64) int {
	if len(s.upTo) == 1 {
		return 0
	}
	u := float64(stat.Random(s.seed, "class", uint64(i)).Float64() * s.upTo[len(s.upTo)-1])
	n, exact := slices.BinarySearch(s.upTo, u)
	if exact {
		n++
	}
	return min(n, len(s.upTo)-1)
}

// conversation is one synthetic session under way.
type conversation struct {
	*synthetic
	class   *Class
	index   uint64
	turn    int64
	turns   int64
	history []Message
	tokens  int64 // of history
}

// Next returns the next turn: everything before and new text.
func (c *conversation) Next(answer *Answer) (*Request, bool) {
	shared := int64(0)
	if c.turn == 0 {
		c.begin()
	} else {
		if answer == nil || c.turn >= c.turns {
			return nil, false
		}
		said, reused := answer.said()
		c.history = append(c.history, said.message())
		shared = c.tokens + reused
		c.tokens += said.Tokens
	}
	key := c.index<<20 | uint64(c.turn)
	text := Block{ID: c.contentID(), Tokens: c.input(key)}
	if c.turn == 0 && c.sent != nil {
		shared = c.sent.before(c, text)
	}
	c.add(text)
	c.attach(&c.history[len(c.history)-1], key)
	r := &Request{Class: c.class.Name, Tenant: c.class.Tenant, Turn: c.turn, Text: c.class.Text, Tools: c.tools(),
		InputTokens: c.tokens, SharedTokens: shared,
		Messages: slices.Clone(c.history)}
	if c.turns > 1 {
		r.SessionID = strconv.FormatUint(c.index, 10)
	}
	if c.class.Output != nil {
		r.OutputTokens = c.draw(c.class.Output, "output", key, MaxTokens)
	}
	if c.turn > 0 {
		r.Think = c.duration(c.class.Think, "think", key)
	}
	r.Patience = c.patience(key)
	c.turn++
	return r, true
}

// begin draws what belongs to the whole session.
func (c *conversation) begin() {
	c.turns = 1
	if c.class.Turns != nil {
		c.turns = c.draw(c.class.Turns, "turns", c.index, MaxTurns)
	}
}

// add puts the turn's new text at the end, behind the prefix on the first.
func (c *conversation) add(b Block) {
	m := Message{Role: "user", Blocks: []Block{b}}
	c.tokens += b.Tokens
	if c.turn == 0 && c.class.PrefixTokens > 0 {
		m.Blocks = []Block{{ID: c.prefixID(), Tokens: c.class.PrefixTokens}, b}
		c.tokens += c.class.PrefixTokens
	}
	c.history = append(c.history, m)
}

// contentID names the turn's new text.
func (c *conversation) contentID() uint64 {
	stream := stat.Stream("content/" + c.class.Name)
	if c.class.Reuse {
		return stat.Key(c.seed, stream, uint64(c.turn))
	}
	return stat.Key(c.seed^stat.Key(c.Salt, "salt", 0), stream, 1<<63|c.index<<20|uint64(c.turn))
}

func (c *conversation) input(key uint64) int64 {
	return c.draw(c.class.Input, "input", key, MaxTokens)
}

// prefixID names the session's prefix.
func (c *conversation) prefixID() uint64 {
	n := uint64(0)
	if c.class.Prefixes > 1 {
		n = stat.Random(c.seed, "prefix", c.index).Uint64N(uint64(c.class.Prefixes))
	}
	return stat.Key(c.seed^stat.Key(c.Salt, "salt", 0), stat.Stream("prefix/"+c.class.Name), n)
}

// draw returns a whole number from 1 to most.
func (c *conversation) draw(d stat.Distribution, stream stat.Stream, key uint64, most float64) int64 {
	if k, ok := d.(stat.Constant); ok {
		return whole(float64(k), most)
	}
	return whole(d.Sample(stat.Random(c.seed, stream, key)), most)
}

func (c *conversation) duration(d stat.Distribution, stream stat.Stream, key uint64) time.Duration {
	if d == nil {
		return 0
	}
	return seconds(d.Sample(stat.Random(c.seed, stream, key)))
}

// patience draws after how long a user gives up: never where the class says
// nothing, at once where what is drawn is not above zero.
func (c *conversation) patience(key uint64) time.Duration {
	if c.class.Patience == nil {
		return 0
	}
	return max(c.duration(c.class.Patience, "patience", key), leastPatience)
}

// leastPatience is the patience of a user who has none.
const leastPatience = time.Millisecond

// seconds converts seconds, none below zero and none above a year.
func seconds(x float64) time.Duration {
	const year = 365 * 24 * 3600
	return time.Duration(float64(min(max(x, 0), year) * 1e9))
}

func whole(x, most float64) int64 { return int64(math.Floor(min(max(x, 1), most) + 0.5)) }

// said is an answer as it comes back in later prompts: less what was reasoned
// in it, so that text stands in another place than where it was computed and
// nothing of it can be reused. reused is how much of it can be.
func (a *Answer) said() (said Answer, reused int64) {
	if a.Reasoning <= 0 {
		return *a, a.Tokens
	}
	said = Answer{Text: a.Text, Tokens: max(a.Tokens-a.Reasoning, 0)}
	if a.Block.Tokens > 0 {
		said.Block = Block{ID: stat.Key(a.Block.ID, "said", 0), Tokens: said.Tokens}
	}
	return said, 0
}

func (a *Answer) message() Message {
	m := Message{Role: "assistant", Text: a.Text}
	if a.Text == "" && a.Block.Tokens > 0 {
		m.Blocks = []Block{a.Block}
	}
	return m
}
