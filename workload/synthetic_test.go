package workload

import (
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/stat"
)

func distribution(t testing.TB, s string) stat.Distribution {
	t.Helper()
	d, err := stat.ParseDistribution(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustNew(t testing.TB, c Config, seed uint64) Source {
	t.Helper()
	s, err := New(c, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// playSession returns all requests of session i, each answered in full.
func playSession(t testing.TB, s Source, i int64) []*Request {
	t.Helper()
	session, err := s.Session(i)
	if err != nil {
		t.Fatal(err)
	}
	var list []*Request
	var answer *Answer
	for {
		r, ok := session.Next(answer)
		if !ok {
			return list
		}
		list = append(list, r)
		answer = &Answer{Text: "answer", Tokens: r.OutputTokens}
	}
}

func promptTokens(r *Request) int64 {
	n := int64(0)
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			n += b.Tokens
		}
	}
	return n
}

func chat(t testing.TB) Config {
	return Config{Classes: []Class{
		{Name: "chat", Tenant: "a", Weight: 3, Input: distribution(t, "lognormal:mean=200,cv=0.8@4..2000"),
			Output: distribution(t, "gamma:mean=100,cv=1"), Turns: distribution(t, "uniform:1..4"),
			Think: stat.Exponential{Average: 2}, PrefixTokens: 50, Prefixes: 3},
		{Name: "off", Input: stat.Constant(1)},
		{Name: "batch", Tenant: "b", Weight: 1, Input: stat.Constant(1000), Output: stat.Constant(10), Patience: stat.Constant(30)},
	}}
}

// Session i is the same whatever else was drawn, and in whatever order.
func TestSessionFollowsFromItsNumber(t *testing.T) {
	c := chat(t)
	forward := mustNew(t, c, 7)
	var want [][]*Request
	for i := range int64(100) {
		want = append(want, playSession(t, forward, i))
	}
	backward := mustNew(t, c, 7)
	for i := int64(99); i >= 0; i-- {
		if diff := cmp.Diff(want[i], playSession(t, backward, i)); diff != "" {
			t.Fatalf("session %d: %s", i, diff)
		}
	}
	same := 0
	other := mustNew(t, c, 8)
	for i := range int64(100) {
		if cmp.Equal(want[i], playSession(t, other, i)) {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d sessions of another seed are the same", same)
	}
}

func TestSessionGolden(t *testing.T) {
	var got []int64
	s := mustNew(t, chat(t), 1)
	for i := range int64(4) {
		for _, r := range playSession(t, s, i) {
			got = append(got, r.InputTokens, r.OutputTokens, int64(r.Think), int64(r.Messages[0].Blocks[0].ID>>40))
		}
	}
	want := []int64{
		361, 119, 0, 11947047, 607, 195, 2508309899, 11947047, 1028, 193, 60271412, 11947047, 141, 105, 0, 11947047,
		1000, 10, 0, 9195995,
		196, 6, 0, 6093666, 359, 251, 4171635708, 6093666, 765, 30, 3171696642, 6093666,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestClassesHaveTheirShare(t *testing.T) {
	s := mustNew(t, chat(t), 3)
	const n = 4000
	chats, requests, input := 0.0, 0.0, 0.0
	for i := range int64(n) {
		list := playSession(t, s, i)
		if r := list[0]; r.Class == "chat" {
			if r.Tenant != "a" || r.Patience != 0 {
				t.Fatalf("%+v", r)
			}
			chats++
			requests += float64(len(list))
			input += float64(r.InputTokens - 50)
		} else if r.Tenant != "b" || r.InputTokens != 1000 || r.OutputTokens != 10 || len(list) != 1 || r.Patience != 30*time.Second {
			t.Fatalf("%+v", r)
		}
	}
	if share := chats / n; math.Abs(share-0.75) > 0.035 {
		t.Errorf("share of chats %v, want 0.75", share)
	}
	if turns := requests / chats; math.Abs(turns-2.5) > 0.1 {
		t.Errorf("%v turns, want 2.5", turns)
	}
	if mean := input / chats; math.Abs(mean/200-1) > 0.08 {
		t.Errorf("mean input %v, want 200", mean)
	}
}

func TestClassesWithoutWeightsAreAlike(t *testing.T) {
	s := mustNew(t, Config{Classes: []Class{{Name: "a", Input: stat.Constant(1)}, {Name: "b", Input: stat.Constant(1)}}}, 1)
	count := map[string]int{}
	for i := range int64(1000) {
		count[playSession(t, s, i)[0].Class]++
	}
	if count["a"] < 430 || count["b"] < 430 {
		t.Errorf("%v", count)
	}
}

// Sessions may be drawn from several goroutines.
func TestSessionsInParallel(t *testing.T) {
	s, alone := mustNew(t, chat(t), 7), mustNew(t, chat(t), 7)
	var want []*Request
	for i := range int64(200) {
		want = append(want, playSession(t, alone, i)[0])
	}
	var wg sync.WaitGroup
	for g := range int64(4) {
		wg.Go(func() {
			for i := g; i < 200; i += 4 {
				session, err := s.Session(i)
				if err != nil {
					t.Error(err)
					return
				}
				if r, _ := session.Next(nil); !cmp.Equal(want[i], r) {
					t.Errorf("session %d: %s", i, cmp.Diff(want[i], r))
				}
			}
		})
	}
	wg.Wait()
}

// Turn k's prompt is all earlier prompts and answers and new text; its length
// is the sum of what it holds.
func TestHistoryCarriesAnswers(t *testing.T) {
	c := Config{Classes: []Class{{Input: stat.Constant(20), Output: stat.Constant(7), Turns: stat.Constant(3), PrefixTokens: 5,
		Think: stat.Constant(1.5)}}}
	list := playSession(t, mustNew(t, c, 1), 3)
	if len(list) != 3 {
		t.Fatalf("%d turns", len(list))
	}
	for k, r := range list {
		want := int64(5 + 20*(k+1) + 7*k)
		if r.InputTokens != want || promptTokens(r)+7*int64(k) != want || len(r.Messages) != 2*k+1 || r.Turn != int64(k) || r.SessionID != "3" {
			t.Errorf("turn %d: %+v", k, r)
		}
		if k > 0 {
			if diff := cmp.Diff(list[k-1].Messages, r.Messages[:2*k-1]); diff != "" {
				t.Errorf("turn %d has another history: %s", k, diff)
			}
			if a := r.Messages[2*k-1]; a.Role != "assistant" || a.Text != "answer" {
				t.Errorf("turn %d: answer %+v", k, a)
			}
			if r.SharedTokens != list[k-1].InputTokens+7 || r.Think != 1500*time.Millisecond {
				t.Errorf("turn %d: %d shared, think %v", k, r.SharedTokens, r.Think)
			}
		}
	}
	if list[0].SharedTokens != 5 || list[0].Think != 0 {
		t.Errorf("first turn: %+v", list[0])
	}
}

func TestVirtualAnswersStayBlocks(t *testing.T) {
	s, err := mustNew(t, Config{Classes: []Class{{Input: stat.Constant(4), Turns: stat.Constant(2)}}}, 1).Session(0)
	if err != nil {
		t.Fatal(err)
	}
	s.Next(nil)
	b := Block{ID: 77, Tokens: 9}
	r, ok := s.Next(&Answer{Tokens: 9, Block: b})
	if !ok || r.InputTokens != 17 || r.Messages[1].Blocks[0] != b {
		t.Errorf("%v %+v", ok, r)
	}
}

func TestFailedTurnEndsTheSession(t *testing.T) {
	s, err := mustNew(t, Config{Classes: []Class{{Input: stat.Constant(4), Turns: stat.Constant(5)}}}, 1).Session(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Next(nil); !ok {
		t.Fatal("no first turn")
	}
	if _, ok := s.Next(nil); ok {
		t.Error("a turn after a failed one")
	}
}

// No two salted prompts have a block in common but for their prefix; without
// salt they do, and then the reuse that is possible is known.
func TestColdMeansCold(t *testing.T) {
	c := Config{Classes: []Class{{Name: "x", Input: stat.Constant(9), Turns: stat.Constant(2)}}}
	seen := map[uint64]bool{}
	for _, salt := range []uint64{0, 1} {
		c.Salt = salt
		s := mustNew(t, c, 1)
		for i := range int64(200) {
			for k, r := range playSession(t, s, i) {
				id := r.Messages[2*k].Blocks[0].ID
				if seen[id] {
					t.Fatalf("salt %d: block %x comes twice", salt, id)
				}
				seen[id] = true
				if k == 0 && r.SharedTokens != 0 {
					t.Fatalf("%d tokens shared", r.SharedTokens)
				}
			}
		}
	}
}

func TestPossibleReuse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Classes: []Class{
			{Name: "p", Input: stat.Constant(10), PrefixTokens: 100, Prefixes: rapid.Int64Range(0, 4).Draw(t, "prefixes")},
			{Name: "r", Input: stat.Uniform{Low: 10, High: 50}, Reuse: true},
			{Name: "q", Input: stat.Uniform{Low: 10, High: 50}, Reuse: true, PrefixTokens: 30, Prefixes: 2},
			{Name: "n", Input: stat.Constant(10)},
		}}
		s, err := New(c, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		// The longest common beginning with any earlier prompt, block by block.
		var earlier [][]Block
		for i := range int64(60) {
			session, err := s.Session(i)
			if err != nil {
				t.Fatal(err)
			}
			r, _ := session.Next(nil)
			now, want := r.Messages[0].Blocks, int64(0)
			for _, e := range earlier {
				want = max(want, common(now, e))
			}
			earlier = append(earlier, now)
			if r.SharedTokens != want {
				t.Fatalf("session %d (%s): %d shared, want %d", i, r.Class, r.SharedTokens, want)
			}
		}
	})
}

// common returns how many tokens at their beginnings two prompts share.
func common(a, b []Block) int64 {
	n := int64(0)
	for i := range min(len(a), len(b)) {
		if a[i].ID != b[i].ID {
			break
		}
		n += min(a[i].Tokens, b[i].Tokens)
		if a[i].Tokens != b[i].Tokens {
			break
		}
	}
	return n
}

func TestSessionsEnd(t *testing.T) {
	c := Config{Classes: []Class{{Input: stat.Constant(1)}}, MaxSessions: 3}
	s := mustNew(t, c, 1)
	if _, err := s.Session(2); err != nil {
		t.Error(err)
	}
	if _, err := s.Session(3); !errors.Is(err, ErrEnd) {
		t.Error(err)
	}
	if n, known := s.(Totaler).Total(); n != 3 || !known {
		t.Errorf("total %d %v", n, known)
	}
}

func TestDescribe(t *testing.T) {
	c := Config{Classes: []Class{{Input: stat.Constant(20), Output: stat.Constant(7), Turns: stat.Constant(3), PrefixTokens: 5}}}
	got, ok := Describe(mustNew(t, c, 1), 1e9)
	want := Expected{Requests: 3, InputTokens: 25 + 52 + 79, OutputTokens: 21, LongestInput: 79}
	if !ok || got != want {
		t.Errorf("%v %+v, want %+v", ok, got, want)
	}
	if _, ok := Describe(mustNew(t, c, 1), 0); ok {
		t.Error("something is expected of nothing")
	}
}

func TestConfigsThatCannotBe(t *testing.T) {
	for name, c := range map[string]Config{
		"no class":      {},
		"no input":      {Classes: []Class{{}}},
		"weight":        {Classes: []Class{{Input: stat.Constant(1), Weight: math.NaN()}}},
		"prefix":        {Classes: []Class{{Input: stat.Constant(1), PrefixTokens: -1}}},
		"prefixes":      {Classes: []Class{{Input: stat.Constant(1), Prefixes: -1}}},
		"sessions":      {Classes: []Class{{Input: stat.Constant(1)}}, MaxSessions: -1},
		"empty dataset": {Dataset: &Dataset{}},
	} {
		if _, err := New(c, 1); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func BenchmarkSession(b *testing.B) {
	s := mustNew(b, chat(b), 1)
	b.ReportAllocs()
	for i := range b.N {
		session, err := s.Session(int64(i))
		if err != nil {
			b.Fatal(err)
		}
		session.Next(nil)
	}
}
