package core

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fine is 40 tokens of KV cache in blocks of one token.
func fine(p Policy) Config {
	return Config{Policy: p, MaxSeqs: 8, MaxTokens: 100, MaxModelLen: 40, BlockSize: 1, Blocks: 41, PromptMustFit: true}
}

func times(n int, step string) []string { return slices.Repeat([]string{step}, n) }

// Each schedule below was derived by hand from the rules of the engine that its
// policy is named for.
func TestPolicies(t *testing.T) {
	with := func(c Config, f func(*Config)) Config { f(&c); return c }
	cached := func(c *Config) { c.PrefixCache = true }
	policy := func(p Policy) func(*Config) { return func(c *Config) { c.Policy = p } }
	slots2 := func(c *Config) { c.MaxSeqs, c.MaxModelLen = 2, 20 }
	for _, tc := range []struct {
		name     string
		cfg      Config
		priority map[string]int64
		in       []arrival
		steps    []string
		ends     map[string]string
	}{
		{"sglang: prompts stop decodes", with(fine(SGLang), func(c *Config) { c.MaxTokens = 8 }), nil,
			[]arrival{{"a", 0, tokens(4), 5}, {"b", 15, tokens(20), 2}},
			[]string{"a4", "a1", "b8", "b8", "b4", "a1 b1", "a1", "a1"},
			map[string]string{"a": "length 4/0/5 at 80", "b": "length 20/0/2 at 60"}},
		{"sglang: a prefix is shared to the token", with(fine(SGLang), cached), nil,
			[]arrival{{"a", 0, []Span{{1, 5}, {2, 3}}, 1}, {"b", 100, []Span{{1, 5}, {3, 3}}, 1}},
			[]string{"a8", "b3"}, map[string]string{"a": "length 8/0/1 at 10", "b": "length 8/5/1 at 110"}},
		// After a's prefill 38 are free, 0.7·19 expected for a: b's 2+20 fit. At 20+20
		// tokens the next two do not fit, and b, the later of equals, goes.
		{"sglang: the least progressed is retracted and keeps its tokens", fine(SGLang), nil,
			[]arrival{{"a", 0, only(1, 2), 20}, {"b", 0, only(2, 2), 20}},
			slices.Concat([]string{"a2", "b2"}, times(18, "a1 b1"), []string{"a1", "b21"}),
			map[string]string{"a": "length 2/0/20 at 210", "b": "length 2/0/20 at 220"}},
		// b came one decode later: 19 tokens to 18 when room ends.
		{"sglang: the one with more tokens stays", fine(SGLang), nil,
			[]arrival{{"a", 0, only(1, 2), 20}, {"b", 15, only(2, 2), 20}},
			slices.Concat([]string{"a2", "a1", "b2"}, times(17, "a1 b1"), []string{"a1", "b20", "b1"}),
			map[string]string{"a": "length 2/0/20 at 210", "b": "length 2/0/20 at 230"}},
		// b needs 20. Of 38 free, 0.7·29 are expected for a; what is left only shrinks
		// while a decodes, since it takes 1 and frees 0.7.
		{"sglang: what running ones are expected to need is kept free", fine(SGLang), nil,
			[]arrival{{"a", 0, only(1, 2), 30}, {"b", 0, only(2, 2), 18}},
			slices.Concat([]string{"a2"}, times(29, "a1"), []string{"b2"}, times(17, "b1")),
			map[string]string{"a": "length 2/0/30 at 300", "b": "length 2/0/18 at 480"}},
		// b asks for all 40; c would fit beside a, yet waits behind b.
		{"sglang: the queue's front holds the rest back", fine(SGLang), nil,
			[]arrival{{"a", 0, only(1, 2), 3}, {"b", 0, only(2, 10), 30}, {"c", 0, only(3, 2), 1}},
			slices.Concat([]string{"a2", "a1", "a1", "b10", "c2"}, times(29, "b1")),
			map[string]string{"a": "length 2/0/3 at 30", "b": "length 10/0/30 at 340", "c": "length 2/0/1 at 50"}},
		{"no-evict: whole answers are reserved", with(tight(), policy(NoEvict)), nil,
			[]arrival{{"a", 0, only(1, 8), 6}, {"b", 0, only(2, 8), 6}},
			slices.Concat([]string{"a8"}, times(5, "a1"), []string{"b8"}, times(5, "b1")),
			map[string]string{"a": "length 8/0/6 at 60", "b": "length 8/0/6 at 120"}},
		{"no-evict: what fits to the end runs together", with(tight(), policy(NoEvict)), nil,
			[]arrival{{"a", 0, only(1, 4), 4}, {"b", 0, only(2, 4), 3}, {"c", 0, only(3, 4), 1}},
			[]string{"a4 b4", "a1 b1", "a1 b1", "a1 c4"},
			map[string]string{"a": "length 4/0/4 at 40", "b": "length 4/0/3 at 30", "c": "length 4/0/1 at 40"}},
		{"slots: a third request waits for one", with(with(fine(Slots), slots2), func(c *Config) { c.MaxTokens = 8 }), nil,
			[]arrival{{"a", 0, tokens(4), 3}, {"b", 0, tokens(6), 2}, {"c", 0, tokens(3), 1}},
			[]string{"a4 b4", "a1 b2", "a1 b1", "c3"},
			map[string]string{"a": "length 4/0/3 at 30", "b": "length 6/0/2 at 30", "c": "length 3/0/1 at 40"}},
		{"slots: generated tokens go before prompts, whatever the slot", with(with(fine(Slots), slots2), func(c *Config) { c.MaxTokens = 8 }), nil,
			[]arrival{{"a", 0, tokens(15), 2}, {"b", 0, tokens(1), 3}},
			[]string{"a8", "a7 b1", "a1 b1", "b1"},
			map[string]string{"a": "length 15/0/2 at 30", "b": "length 1/0/3 at 40"}},
		// a leaves 10 + 2 tokens in slot 0: its answer's last was never computed.
		{"slots: the most similar slot keeps its prefix, else the oldest is taken", with(with(fine(Slots), slots2), cached), nil,
			[]arrival{{"a", 0, only(1, 10), 3}, {"b", 0, only(2, 10), 1}, {"c", 100, []Span{{1, 10}, {1000, 3}, {9, 2}}, 1}, {"d", 200, only(3, 10), 1}, {"e", 300, only(2, 10), 1}},
			[]string{"a10 b10", "a1", "a1", "c3", "d10", "e10"},
			map[string]string{"a": "length 10/0/3 at 30", "b": "length 10/0/1 at 10", "c": "length 15/12/1 at 110", "d": "length 10/0/1 at 210", "e": "length 10/0/1 at 310"}},
		{"tgi: new requests wait for their share or for patience to end",
			with(fine(TGI), func(c *Config) { c.MaxTokens, c.WaitingServedRatio, c.MaxWaitingTokens = 8, 1, 3 }), nil,
			[]arrival{{"a", 0, only(1, 4), 9}, {"b", 0, only(2, 4), 9}, {"c", 15, only(3, 4), 2}},
			slices.Concat([]string{"a4 b4", "a1 b1", "a1 b1", "c4", "a1 b1 c1"}, times(5, "a1 b1")),
			map[string]string{"a": "length 4/0/9 at 100", "b": "length 4/0/9 at 100", "c": "length 4/0/2 at 50"}},
		{"tgi: enough of them go at once", with(fine(TGI), func(c *Config) { c.MaxTokens, c.WaitingServedRatio, c.MaxWaitingTokens = 8, 1, 30 }), nil,
			[]arrival{{"a", 0, only(1, 4), 4}, {"b", 15, only(2, 4), 2}},
			[]string{"a4", "a1", "b4", "a1 b1", "a1"},
			map[string]string{"a": "length 4/0/4 at 50", "b": "length 4/0/2 at 40"}},
		{"tgi: whole answers are reserved", with(fine(TGI), func(c *Config) { c.MaxTokens = 100 }), nil,
			[]arrival{{"a", 0, only(1, 10), 11}, {"b", 0, only(2, 10), 11}},
			slices.Concat([]string{"a10"}, times(10, "a1"), []string{"b10"}, times(10, "b1")),
			map[string]string{"a": "length 10/0/11 at 110", "b": "length 10/0/11 at 220"}},
		{"priority: the worst is preempted", with(tight(), policy(Priority)), map[string]int64{"a": 1},
			[]arrival{{"a", 0, only(1, 8), 6}, {"b", 0, only(2, 8), 6}},
			slices.Concat([]string{"b8 a8"}, times(5, "b1"), []string{"a9"}, times(4, "a1")),
			map[string]string{"a": "length 8/0/6 at 110", "b": "length 8/0/6 at 60"}},
		{"priority: one scheduled in the same step is taken out again", with(tight(), policy(Priority)), map[string]int64{"a": 1},
			[]arrival{{"a", 0, only(1, 8), 5}, {"b", 5, only(2, 4), 6}},
			slices.Concat([]string{"a8", "a1 b4"}, times(5, "b1"), []string{"a10", "a1", "a1"}),
			map[string]string{"a": "length 8/0/5 at 100", "b": "length 4/0/6 at 70"}},
		{"speculation: all drafts are right", with(wide(), func(c *Config) { c.Speculative = Speculative{Drafts: 3, Acceptance: 1} }), nil,
			[]arrival{{"a", 0, tokens(4), 9}, {"b", 0, tokens(5), 3}}, []string{"a4 b5", "a4 b2", "a4"},
			map[string]string{"a": "length 4/0/9 at 30", "b": "length 5/0/3 at 20"}},
		{"speculation: none is", with(wide(), func(c *Config) { c.Speculative = Speculative{Drafts: 3} }), nil,
			[]arrival{{"a", 0, tokens(4), 3}}, []string{"a4", "a2", "a1"}, map[string]string{"a": "length 4/0/3 at 30"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, tc.cfg)
			r.priority = tc.priority
			r.run(tc.in...)
			r.want(tc.steps...)
			if d := cmp.Diff(tc.ends, r.ends); d != "" {
				t.Errorf("ends (-want +got):\n%s", d)
			}
		})
	}
}

func TestOverloaded(t *testing.T) {
	c := fine(TGI)
	c.MaxRequests = 2
	r := newRig(t, c)
	submit := func() error {
		return r.engine.Submit(&Request{Prompt: tokens(4), MaxTokens: 1, Listener: &heard{rig: r}})
	}
	if submit() != nil || submit() != nil || !errors.Is(submit(), ErrOverloaded) {
		t.Error("the third of two is taken")
	}
	r.clock.Wait(1 << 40)
	if err := submit(); err != nil {
		t.Error(err)
	}
}

// A share of the drafts is accepted, the same for the same seed.
func TestAcceptance(t *testing.T) {
	run := func(seed uint64) Counts {
		c := wide()
		c.Speculative = Speculative{Drafts: 4, Acceptance: 0.7, Seed: seed}
		r := newRig(t, c)
		r.run(arrival{"a", 0, tokens(4), 900})
		if r.ends["a"] == "" || !strings.HasPrefix(r.ends["a"], "length 4/0/900") {
			t.Error(r.ends)
		}
		return r.engine.State().Counts
	}
	c := run(1)
	// Expected tokens a step: (1 − 0.7⁵)/(1 − 0.7) = 2.773; σ over 325 steps is 0.08.
	if perStep := float64(c.OutputTokens-1) / float64(c.Drafts); perStep < 2.5 || perStep > 3.05 {
		t.Errorf("%v tokens a step: %+v", perStep, c)
	}
	if run(1) != c || run(2) == c {
		t.Error("the draws do not follow from the seed")
	}
}

// A dead engine ends everything and takes nothing.
func TestKill(t *testing.T) {
	c := tight()
	died := int64(0)
	c.Died = func(at int64) { died = at }
	r := newRig(t, c)
	r.clock.At(25, func() { r.engine.Kill(25); r.engine.Kill(26) })
	r.run(arrival{"a", 0, tokens(8), 8}, arrival{"b", 1, tokens(12), 1})
	if want := map[string]string{"a": "died 8/0/2 at 25", "b": "died 12/0/0 at 25"}; !cmp.Equal(r.ends, want) || died != 25 {
		t.Error(r.ends, died)
	}
	if err := r.engine.Submit(&Request{Prompt: tokens(4), Listener: &heard{rig: r}}); !errors.Is(err, ErrDead) {
		t.Error(err)
	}
}
