package core

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/clock"
)

// tick is a step timer with which step i of a busy engine ends at 10·(i+1).
type tick struct{}

func (tick) StepTime(*Step) int64 { return 10 }

// arrival is a request of a hand-made scenario.
type arrival struct {
	id     string
	at     int64
	prompt []Span
	max    int64
}

func tokens(n int64) []Span { return []Span{{ID: uint64(n) * 7919, Tokens: n}} }

func only(id uint64, n int64) []Span { return []Span{{ID: id, Tokens: n}} }

// rig runs requests on a virtual clock and writes down each step.
type rig struct {
	t      *testing.T
	engine *Engine
	clock  *clock.Virtual
	steps  []string
	ends   map[string]string
	reqs   map[string]*Request
	// priority of requests by id
	priority map[string]int64
}

func newRig(t *testing.T, cfg Config) *rig {
	t.Helper()
	r := &rig{t: t, clock: clock.NewVirtual(time.Unix(0, 0)), ends: map[string]string{}, reqs: map[string]*Request{}}
	cfg.Observer = r
	if cfg.Timer == nil {
		cfg.Timer = tick{}
	}
	e, err := New(cfg, r.clock)
	if err != nil {
		t.Fatal(err)
	}
	r.engine = e
	return r
}

func (r *rig) Submitted(*Request)    {}
func (r *rig) Token(*Request, int64) {}
func (r *rig) Ended(*Request)        {}
func (r *rig) Step(*Step) {
	var b []string
	for _, s := range r.engine.plan.shares {
		b = append(b, fmt.Sprintf("%s%d", s.r.ID, s.n+s.drafts))
	}
	r.steps = append(r.steps, strings.Join(b, " "))
}

type heard struct {
	rig *rig
	id  string
	at  []int64
}

func (h *heard) Tokens(n, at int64) {
	for range n {
		h.at = append(h.at, at)
	}
}
func (h *heard) Finished(why Finish, u Usage, at int64) {
	h.rig.ends[h.id] = fmt.Sprintf("%s %d/%d/%d at %d", why, u.Prompt, u.Cached, u.Output, at)
}

func (r *rig) run(list ...arrival) {
	r.t.Helper()
	for i, a := range list {
		q := &Request{ID: a.id, Prompt: a.prompt, MaxTokens: a.max, Output: uint64(1000 + i), Priority: r.priority[a.id], Listener: &heard{rig: r, id: a.id}}
		r.reqs[a.id] = q
		r.clock.At(a.at, func() {
			if err := r.engine.Submit(q); err != nil {
				r.t.Error(err)
			}
		})
	}
	r.clock.Wait(1 << 40)
}

func (r *rig) want(steps ...string) {
	r.t.Helper()
	if d := cmp.Diff(steps, r.steps); d != "" {
		r.t.Errorf("steps (-want +got):\n%s", d)
	}
	if s := r.engine.State(); s.Running != 0 || s.Waiting != 0 || s.KVUsage != 0 {
		r.t.Errorf("not idle at the end: %+v", s)
	}
}

func wide() Config {
	return Config{MaxSeqs: 8, MaxTokens: 100, MaxModelLen: 1000, BlockSize: 16, Blocks: 200, PromptMustFit: true}
}

// tight has room for 16 tokens in 4 blocks.
func tight() Config {
	return Config{MaxSeqs: 8, MaxTokens: 100, MaxModelLen: 16, BlockSize: 4, Blocks: 5, PromptMustFit: true}
}

// Each schedule below was derived by hand from the rules of vLLM v1.
func TestSchedules(t *testing.T) {
	budget := func(n int64) Config { c := wide(); c.MaxTokens = n; return c }
	with := func(c Config, f func(*Config)) Config { f(&c); return c }
	cached := func(c *Config) { c.PrefixCache = true }
	for _, tc := range []struct {
		name  string
		cfg   Config
		in    []arrival
		steps []string
		ends  map[string]string
	}{
		{"one request", wide(), []arrival{{"a", 0, tokens(20), 3}}, []string{"a20", "a1", "a1"},
			map[string]string{"a": "length 20/0/3 at 30"}},
		{"a prompt in chunks", budget(8), []arrival{{"a", 0, tokens(20), 2}}, []string{"a8", "a8", "a4", "a1"},
			map[string]string{"a": "length 20/0/2 at 40"}},
		{"two share the budget", budget(16), []arrival{{"a", 0, tokens(10), 2}, {"b", 0, tokens(10), 2}},
			[]string{"a10 b6", "a1 b4", "b1"}, map[string]string{"a": "length 10/0/2 at 20", "b": "length 10/0/2 at 30"}},
		{"decodes go first", budget(8), []arrival{{"a", 0, tokens(4), 5}, {"b", 15, tokens(20), 2}},
			[]string{"a4", "a1", "a1 b7", "a1 b7", "a1 b6", "b1"}, map[string]string{"a": "length 4/0/5 at 50", "b": "length 20/0/2 at 60"}},
		{"sequence limit", with(wide(), func(c *Config) { c.MaxSeqs = 1 }), []arrival{{"a", 0, tokens(4), 2}, {"b", 0, tokens(4), 2}},
			[]string{"a4", "a1", "b4", "b1"}, map[string]string{"a": "length 4/0/2 at 20", "b": "length 4/0/2 at 40"}},
		{"an idle engine waits", wide(), []arrival{{"a", 0, tokens(4), 1}, {"b", 100, tokens(4), 1}},
			[]string{"a4", "b4"}, map[string]string{"a": "length 4/0/1 at 10", "b": "length 4/0/1 at 110"}},
		{"admission stops at the first that does not fit, a decode evicts the tail", tight(),
			[]arrival{{"a", 0, tokens(8), 3}, {"b", 0, tokens(12), 2}, {"c", 0, tokens(4), 2}},
			[]string{"a8", "a1", "a1", "b12 c4", "b1", "c5"},
			map[string]string{"a": "length 8/0/3 at 30", "b": "length 12/0/2 at 50", "c": "length 4/0/2 at 60"}},
		{"a preempted request goes to the front and computes everything again", tight(),
			[]arrival{{"a", 0, only(1, 8), 6}, {"b", 0, only(2, 8), 6}, {"d", 5, only(3, 4), 1}},
			[]string{"a8 b8", "a1", "a1", "a1", "a1", "a1", "b9 d4", "b1", "b1", "b1", "b1"},
			map[string]string{"a": "length 8/0/6 at 60", "b": "length 8/0/6 at 110", "d": "length 4/0/1 at 70"}},
		{"a preempted request finds what is left of its blocks", with(tight(), cached),
			[]arrival{{"a", 0, only(1, 8), 5}, {"b", 0, only(2, 8), 6}, {"d", 5, only(3, 4), 1}},
			[]string{"a8 b8", "a1", "a1", "a1", "a1", "b5 d4", "b1", "b1", "b1", "b1"},
			map[string]string{"a": "length 8/0/5 at 50", "b": "length 8/0/6 at 100", "d": "length 4/0/1 at 60"}},
		{"nothing is admitted in a step that preempts", with(tight(), func(c *Config) { c.MaxTokens, c.PromptMustFit = 4, false }),
			[]arrival{{"a", 0, only(1, 4), 6}, {"b", 0, only(2, 12), 1}},
			[]string{"a4", "a1 b3", "a1 b3", "a1", "a1 b3", "a1", "b4", "b4", "b4"},
			map[string]string{"a": "length 4/0/6 at 60", "b": "length 12/0/1 at 90"}},
		{"blocks without content are taken before cached ones", with(tight(), cached),
			[]arrival{{"x", 0, only(1, 4), 1}, {"y", 100, only(2, 9), 1}, {"z", 200, only(3, 2), 1}, {"w", 300, []Span{{1, 4}, {4, 1}}, 1}},
			[]string{"x4", "y9", "z2", "w1"},
			map[string]string{"x": "length 4/0/1 at 10", "y": "length 9/0/1 at 110", "z": "length 2/0/1 at 210", "w": "length 5/4/1 at 310"}},
		{"a repeated prompt computes its last block", with(wide(), cached), []arrival{{"a", 0, only(1, 64), 1}, {"b", 50, only(1, 64), 1}},
			[]string{"a64", "b16"}, map[string]string{"a": "length 64/0/1 at 10", "b": "length 64/48/1 at 60"}},
		{"a prompt is shared within the step", with(wide(), cached), []arrival{{"a", 0, only(1, 33), 1}, {"b", 0, only(1, 33), 1}},
			[]string{"a33 b1"}, map[string]string{"a": "length 33/0/1 at 10", "b": "length 33/32/1 at 10"}},
		{"a later turn finds the answer before it", with(wide(), cached),
			[]arrival{{"a", 0, only(1, 20), 13}, {"b", 500, []Span{{1, 20}, {1000, 13}, {5, 7}}, 1}},
			[]string{"a20", "a1", "a1", "a1", "a1", "a1", "a1", "a1", "a1", "a1", "a1", "a1", "a1", "b8"},
			map[string]string{"a": "length 20/0/13 at 130", "b": "length 40/32/1 at 510"}},
		{"long prompts leave room for short ones", with(budget(16), func(c *Config) { c.LongPrefill = 8 }),
			[]arrival{{"a", 0, tokens(20), 1}, {"b", 0, tokens(3), 1}}, []string{"a8 b3", "a8", "a4"},
			map[string]string{"a": "length 20/0/1 at 30", "b": "length 3/0/1 at 10"}},
		{"whole prompts only", with(budget(16), func(c *Config) { c.WholePrompts, c.MaxModelLen = true, 16 }),
			[]arrival{{"a", 0, tokens(10), 2}, {"b", 0, tokens(10), 2}}, []string{"a10", "a1 b10", "b1"},
			map[string]string{"a": "length 10/0/2 at 20", "b": "length 10/0/2 at 30"}},
		{"the model's length ends an answer", with(wide(), func(c *Config) { c.MaxModelLen = 24 }),
			[]arrival{{"a", 0, tokens(21), 0}}, []string{"a21", "a1", "a1"}, map[string]string{"a": "length 21/0/3 at 30"}},
		{"a freeze holds the step under way", with(wide(), func(c *Config) { c.Freeze = Freeze{At: 15, For: 100} }),
			[]arrival{{"a", 0, tokens(4), 3}, {"b", 30, tokens(4), 1}}, []string{"a4", "a1", "a1 b4"},
			map[string]string{"a": "length 4/0/3 at 130", "b": "length 4/0/1 at 130"}},
		{"a request in a freeze waits for its end", with(wide(), func(c *Config) { c.Freeze = Freeze{At: 15, For: 100} }),
			[]arrival{{"a", 0, tokens(4), 1}, {"b", 30, tokens(4), 1}}, []string{"a4", "b4"},
			map[string]string{"a": "length 4/0/1 at 10", "b": "length 4/0/1 at 125"}},
		{"the front end delays the queue", with(wide(), func(c *Config) { c.APIDelay = 3 }),
			[]arrival{{"a", 0, tokens(4), 1}, {"b", 9, tokens(4), 1}}, []string{"a4", "b4"},
			map[string]string{"a": "length 4/0/1 at 13", "b": "length 4/0/1 at 23"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, tc.cfg)
			r.run(tc.in...)
			r.want(tc.steps...)
			if d := cmp.Diff(tc.ends, r.ends); d != "" {
				t.Errorf("ends (-want +got):\n%s", d)
			}
		})
	}
}

// The vectors of the prefix cache's rules: block 16, a hit covers at most all
// tokens but one, floored to a block.
func TestPrefixVectors(t *testing.T) {
	for _, tc := range []struct {
		name          string
		first, second []Span
		key           uint64
		want          int64
	}{
		{"64 again", only(1, 64), only(1, 64), 0, 48},
		{"65 again", only(1, 65), only(1, 65), 0, 64},
		{"17 again", only(1, 17), only(1, 17), 0, 16},
		{"16 again", only(1, 16), only(1, 16), 0, 0},
		{"15 again", only(1, 15), only(1, 15), 0, 0},
		{"40 shared", []Span{{1, 40}, {2, 40}}, []Span{{1, 40}, {3, 40}}, 0, 32},
		{"another adapter or salt", only(1, 64), only(1, 64), 9, 0},
		{"the same in other pieces", []Span{{1, 20}, {2, 60}}, []Span{{1, 20}, {2, 44}}, 0, 48},
		{"the same span elsewhere", []Span{{1, 32}, {2, 32}}, []Span{{2, 32}, {1, 32}}, 0, 0},
		{"a longer prompt", only(1, 64), []Span{{1, 64}, {2, 8}}, 0, 64},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := wide()
			cfg.PrefixCache = true
			r := newRig(t, cfg)
			r.run(arrival{"a", 0, tc.first, 1})
			b := &Request{ID: "b", Prompt: tc.second, MaxTokens: 1, CacheKey: tc.key, Listener: &heard{rig: r, id: "b"}}
			if err := r.engine.Submit(b); err != nil {
				t.Fatal(err)
			}
			r.clock.Wait(1 << 41)
			if b.Stats.Cached != tc.want {
				t.Errorf("cached %d tokens, want %d", b.Stats.Cached, tc.want)
			}
			if c := r.engine.State().Counts; c.PrefixHits != tc.want || c.PrefixQueries != r.reqs["a"].PromptTokens+b.PromptTokens {
				t.Errorf("counters %+v", c)
			}
		})
	}
}

func TestAbortFrees(t *testing.T) {
	r := newRig(t, tight())
	r.clock.At(25, func() { r.engine.Abort(r.reqs["a"]) })
	r.clock.At(26, func() { r.engine.Abort(r.reqs["a"]); r.engine.Abort(r.reqs["c"]) })
	r.run(arrival{"a", 0, tokens(8), 8}, arrival{"b", 1, tokens(12), 1}, arrival{"c", 2, tokens(12), 1})
	r.want("a8", "a1", "a1", "b12")
	want := map[string]string{"a": "abort 8/0/2 at 25", "b": "length 12/0/1 at 40", "c": "abort 12/0/0 at 26"}
	if d := cmp.Diff(want, r.ends); d != "" {
		t.Error(d)
	}
}

func TestStopAfter(t *testing.T) {
	r := newRig(t, wide())
	q := &Request{ID: "a", Prompt: tokens(4), MaxTokens: 9, StopAfter: 2, Listener: &heard{rig: r, id: "a"}}
	if err := r.engine.Submit(q); err != nil {
		t.Fatal(err)
	}
	r.clock.Wait(1 << 40)
	if r.ends["a"] != "stop 4/0/2 at 20" {
		t.Error(r.ends)
	}
}

func TestRefusedBeforeSubmission(t *testing.T) {
	r := newRig(t, tight())
	for _, q := range []*Request{{Prompt: tokens(16)}, {Prompt: tokens(10), MaxTokens: 7}, {}} {
		if err := r.engine.Submit(q); err == nil {
			t.Errorf("%+v was taken", q)
		}
	}
	if err := r.engine.Submit(&Request{Prompt: tokens(10), MaxTokens: 6, Listener: &heard{rig: r}}); err != nil {
		t.Error(err)
	}
}

func TestShare(t *testing.T) {
	for _, s := range []Share{{250, 256}, {0, 3}, {3, 3}, {1, 7}} {
		n := int64(0)
		for i := range s.N * 3 {
			if s.hits(i) {
				n++
			}
		}
		if n != 3*s.K {
			t.Errorf("%+v hit %d of %d", s, n, 3*s.N)
		}
	}
	if (Share{}).hits(0) {
		t.Error("no share hits")
	}
}
