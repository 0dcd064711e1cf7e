package workload

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/media"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// Users of a model give up as those of classes do.
func TestModelledPatience(t *testing.T) {
	m := &Traffic{Name: "m", Model: patientModel(t), Patience: stat.Uniform{Low: 2, High: 9}}
	s := mustNew(t, Config{Traffic: m}, 1)
	seen := map[time.Duration]bool{}
	for i := range int64(8) {
		session, err := s.Session(i)
		if err != nil {
			t.Fatal(err)
		}
		q, _ := session.Next(nil)
		if seen[q.Patience] = true; q.Patience < 2*time.Second || q.Patience > 9*time.Second {
			t.Error(q.Patience)
		}
	}
	if len(seen) < 2 {
		t.Error("all are as patient")
	}
}

func patientModel(t *testing.T) *traffic.Model {
	t.Helper()
	m, err := traffic.Read("m", strings.NewReader("schema: tokamak.traffic/1\nduration: 60s\nclients:\n  - name: a\n    rate: 2\n    lengths: {input-tokens: 50, output-tokens: 40}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// modelOf is a model of 1 session/s for 100 s, of lengths 50 and 20.
func modelOf(c traffic.Client) *Traffic {
	c.Name = "chat"
	c.Rate = traffic.Curve{Rate: []float64{1}}
	c.Arrival.Process = traffic.Constant
	if c.Lengths == nil {
		c.Lengths = []traffic.Lengths{{Input: stat.Constant(50), Output: stat.Constant(20)}}
	}
	return &Traffic{Name: "traffic.yaml", Model: &traffic.Model{Duration: 100 * time.Second, Clients: []traffic.Client{c}}}
}

func modelledSource(t *testing.T, c Config, seed uint64) Source {
	t.Helper()
	s, err := New(c, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play returns the requests of sessions 0 to n-1, answered as asked.
func play(t *testing.T, s Source, n int64) [][]*Request {
	t.Helper()
	var all [][]*Request
	for i := range n {
		session, err := s.Session(i)
		if err != nil {
			t.Fatal(err)
		}
		var list []*Request
		var answer *Answer
		for {
			r, ok := session.Next(answer)
			if !ok {
				break
			}
			list = append(list, r)
			answer = &Answer{Tokens: r.OutputTokens, Reasoning: r.Reasoning, Block: Block{ID: 1<<40 + uint64(i), Tokens: r.OutputTokens}}
		}
		all = append(all, list)
	}
	return all
}

// By hand: 70 tokens of prefix and 50 of text; a second turn sends the 120, an
// answer of 20 and 50 more. The first session's prefix is new, later ones
// share it.
func TestModelledByHand(t *testing.T) {
	m := modelOf(traffic.Client{Prefix: &traffic.Prefix{Share: 1, Count: 1, Tokens: stat.Constant(70)},
		Sessions: &traffic.Sessions{Turns: stat.Constant(2), Think: stat.Constant(3)}})
	all := play(t, modelledSource(t, Config{Traffic: m}, 5), 3)
	for i, list := range all {
		if len(list) != 2 {
			t.Fatalf("session %d has %d turns", i, len(list))
		}
		first, second := *list[0], *list[1]
		shared := int64(70)
		if i == 0 {
			shared = 0
		}
		name := []string{"chat-0", "chat-1", "chat-2"}[i]
		want := Request{Class: "chat", Tenant: "chat", SessionID: name, InputTokens: 120, SharedTokens: shared, OutputTokens: 20}
		messages := first.Messages
		first.Messages = nil
		if diff := cmp.Diff(want, first); diff != "" {
			t.Error(diff)
		}
		if len(messages) != 1 || len(messages[0].Blocks) != 2 || messages[0].Blocks[0] != all[0][0].Messages[0].Blocks[0] || messages[0].Blocks[0].Tokens != 70 {
			t.Errorf("session %d: %+v", i, messages)
		}
		want = Request{Class: "chat", Tenant: "chat", SessionID: name, Turn: 1, Think: 3 * time.Second, InputTokens: 190, SharedTokens: 140, OutputTokens: 20}
		if got := second.Messages; len(got) != 3 || !cmp.Equal(got[:1], messages) || got[1].Role != "assistant" {
			t.Errorf("session %d goes on with %+v", i, got)
		}
		second.Messages = nil
		if diff := cmp.Diff(want, second); diff != "" {
			t.Error(diff)
		}
	}
	if a, b := all[0][0].Messages[0].Blocks[1], all[1][0].Messages[0].Blocks[1]; a.ID == b.ID {
		t.Error("two sessions have the same text of their own")
	}
}

// Session i is the same whenever it is asked for, and the load's moment i is
// its own; the salt changes text and nothing else.
func TestModelledSessions(t *testing.T) {
	m := modelOf(traffic.Client{Lengths: []traffic.Lengths{{Input: stat.Lognormal{Average: 100, CV: 1}, Output: stat.Exponential{Average: 50}}},
		Prefix: &traffic.Prefix{Share: 0.5, Count: 5, Exponent: 1, Tokens: stat.Uniform{Low: 10, High: 90}}})
	s := modelledSource(t, Config{Traffic: m}, 5)
	all := play(t, s, 90)
	if diff := cmp.Diff(all[:50], play(t, s, 50)); diff != "" {
		t.Errorf("from the beginning again: %s", diff)
	}
	salted := play(t, modelledSource(t, Config{Traffic: m, Salt: 9}, 5), 90)
	for i := range all {
		a, b := *all[i][0], *salted[i][0]
		for j := range a.Messages[0].Blocks {
			if x, y := a.Messages[0].Blocks[j], b.Messages[0].Blocks[j]; x.ID == y.ID || x.Tokens != y.Tokens {
				t.Fatalf("session %d: %+v salted is %+v", i, x, y)
			}
		}
		a.Messages, b.Messages = nil, nil
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatal(diff)
		}
	}
	source, err := load.New(load.Plan{Stream: m.Moments(), Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	sampler, err := m.Model.Sampler(traffic.SampleOptions{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; ; n++ {
		d, ok := sampler.Next()
		due, state := source.Peek()
		if !ok || state == load.Finished {
			break
		}
		if due.At != d.At || n < len(all) && all[n][0].OutputTokens != d.Output {
			t.Fatalf("moment %d is %v, the session is %+v", n, due, d)
		}
		source.Pop()
	}
	if n != 100 {
		t.Errorf("%d moments", n)
	}
	if _, err := s.Session(100); err != ErrEnd {
		t.Errorf("after the last: %v", err)
	}
}

// Under another load sessions go on beyond the model's time.
func TestModelledEndless(t *testing.T) {
	m := modelOf(traffic.Client{})
	m.Endless = true
	if all := play(t, modelledSource(t, Config{Traffic: m}, 1), 1000); all[999][0].InputTokens != 50 {
		t.Errorf("%+v", all[999][0])
	}
	limited := modelledSource(t, Config{Traffic: m, MaxSessions: 10}, 1)
	if _, err := limited.Session(10); err != ErrEnd {
		t.Errorf("after the last: %v", err)
	}
}

// What a plan says of a model: exactly what it holds, and of a large one what
// it holds on average over all of its time.
func TestModelledExpected(t *testing.T) {
	m := modelOf(traffic.Client{Sessions: &traffic.Sessions{Turns: stat.Constant(2)}})
	e, ok := Describe(modelledSource(t, Config{Traffic: m}, 1), 3)
	if want := (Expected{Requests: 2, InputTokens: 50 + 120, OutputTokens: 40, LongestInput: 120}); !ok || e != want {
		t.Errorf("%+v, want %+v", e, want)
	}
	// A half of 20 tokens is reasoning: answers come back whole, unless the target is
	// told to reason and so will.
	m = modelOf(traffic.Client{Sessions: &traffic.Sessions{Turns: stat.Constant(2)}, Reasoning: stat.Constant(.5)})
	for told, second := range map[bool]int64{false: 120, true: 110} {
		m.Reasoning = told
		e, ok = Describe(modelledSource(t, Config{Traffic: m}, 1), 3)
		if want := (Expected{Requests: 2, InputTokens: 50 + float64(second), OutputTokens: 40, LongestInput: second}); !ok || e != want {
			t.Errorf("told %v: %+v, want %+v", told, e, want)
		}
	}
	m = modelOf(traffic.Client{Lengths: []traffic.Lengths{{Input: stat.Constant(100)}, {From: 50 * time.Second, Input: stat.Constant(300)}}})
	m.Options.Scale = 1000
	e, ok = Describe(modelledSource(t, Config{Traffic: m}, 1), 500)
	if !ok || e.InputTokens < 195 || e.InputTokens > 205 || e.LongestInput != 300 {
		t.Errorf("%+v, want 200 tokens a session", e)
	}
	if s := m.Moments().Summary; s.Requests != 100_000 || s.PeakRate != 1000 || s.Duration != 100*time.Second {
		t.Errorf("%+v", s)
	}
}

func TestModelledErrors(t *testing.T) {
	m := modelOf(traffic.Client{})
	if _, err := New(Config{Traffic: m, Dataset: &Dataset{}}, 1); err == nil || !strings.Contains(err.Error(), "not both") {
		t.Error(err)
	}
	m.Options.Scale = -1
	if _, err := New(Config{Traffic: m}, 1); err == nil || !strings.Contains(err.Error(), "traffic.yaml: traffic: expected a scale above 0") {
		t.Error(err)
	}
}

// The images of a model are those of each turn, and no two are the same.
func TestModelledImages(t *testing.T) {
	m := modelOf(traffic.Client{Images: stat.Constant(2), Sessions: &traffic.Sessions{Turns: stat.Constant(2)}})
	m.Image = media.Image{Format: media.PNG, Width: 8, Height: 8}
	seen := map[uint64]bool{}
	for _, session := range play(t, modelledSource(t, Config{Traffic: m}, 1), 3) {
		for _, r := range session {
			last := r.Messages[len(r.Messages)-1]
			if len(last.Images) != 2 || last.Images[0].Width != 8 || last.Images[0].Format != media.PNG {
				t.Fatalf("%+v", last.Images)
			}
			for _, i := range last.Images {
				seen[i.ID] = true
			}
		}
	}
	if len(seen) != 12 {
		t.Errorf("%d different images of 3 sessions of 2 turns of 2", len(seen))
	}
}
