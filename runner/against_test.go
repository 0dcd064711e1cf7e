package runner

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure/compare"
	"github.com/tokamak-bench/tokamak/scenario"
)

func twoTargets(t *testing.T, more string) (*scenario.Scenario, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ab")
	s, err := scenario.Parse("x.yaml", []byte(`{"target": {"url": "sim://llama3-8b@a100-80g", "against": "sim://llama3-8b@h100", "virtual": true},
		"workload": {"input-tokens": "16", "output-tokens": "4"}, "out": {"dir": "`+dir+`"}, "load": {"rate": 20, "requests": 30, `+more+`}}`), scenario.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

// Each pair has both targets and the same requests; which comes first is drawn.
func TestAgainstAlternates(t *testing.T) {
	s, dir := twoTargets(t, `"pairs": 6, "seed": 5`)
	p := NewAgainst(s, Options{})
	var order []string
	seeds := map[int][]uint64{}
	p.Began = func(b Block) func() {
		order = append(order, side(b.Other))
		seeds[b.Pair] = append(seeds[b.Pair], b.Scenario.Seed)
		return func() {}
	}
	c, err := p.Do(context.Background(), compare.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]int{}
	for i := 0; i < len(order); i += 2 {
		first[order[i]]++
		if order[i] == order[i+1] {
			t.Errorf("pair %d is %s %s", i/2+1, order[i], order[i+1])
		}
		if got := seeds[i/2+1]; got[0] != uint64(5+i/2) || got[1] != got[0] {
			t.Errorf("pair %d has the seeds %v", i/2+1, got)
		}
	}
	if first["a"] != 3 || first["b"] != 3 {
		t.Errorf("the first of a pair: %v, want each in half", first)
	}
	if c.Contrasts[0].Method != compare.Pairs || c.Contrasts[0].Pairs != 6 || c.Contrasts[0].Word != compare.Better {
		t.Errorf("%+v", c.Contrasts[0])
	}
	// What is on disk says the same as what came back.
	sides, notes, err := ReadSides([]string{dir}, compare.All)
	if err != nil || len(notes) > 0 {
		t.Fatal(err, notes)
	}
	again, err := compare.Compare(sides, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range again.Contrasts[0].Figures {
		if e := c.Contrasts[0].Figures[i]; !d.Change.Equal(e.Change) || !d.Low.Equal(e.Low) || d.Word != e.Word {
			t.Errorf("%s: %v from %v %q, was %v from %v %q", d.Figure, d.Change, d.Low, d.Word, e.Change, e.Low, e.Word)
		}
	}
	read, err := ReadComparison(dir)
	if err != nil || read.Contrasts[0].Reason != c.Contrasts[0].Reason || read.Dir != dir {
		t.Errorf("%v, %v", read, err)
	}
}

// The order follows from the seed alone, and differs between seeds.
func TestAgainstOrderIsDrawn(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(20) {
		s := &scenario.Scenario{Seed: seed}
		s.Load.Pairs = 8
		a, b := (&Against{scenario: s}).order(), (&Against{scenario: s}).order()
		if d := cmp.Diff(a, b); d != "" {
			t.Error(d)
		}
		text := ""
		for _, x := range a {
			text += side(x)
		}
		if strings.Count(text, "a") != 4 {
			t.Errorf("seed %d: %s", seed, text)
		}
		orders[text] = true
	}
	if len(orders) < 10 {
		t.Errorf("20 seeds have %d orders", len(orders))
	}
}

// Interrupted in the third pair, it compares the two that are whole.
func TestAgainstInterrupted(t *testing.T) {
	s, dir := twoTargets(t, `"pairs": 5`)
	p := NewAgainst(s, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	p.Began = func(b Block) func() {
		if b.Pair == 3 {
			cancel()
		}
		return func() {}
	}
	c, err := p.Do(ctx, compare.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Contrasts[0].Pairs != 2 || c.Verdict.Exit != int(exit.Interrupted) || !strings.HasPrefix(c.Verdict.Reason, "interrupted by the user; until then ") {
		t.Errorf("%d pairs, %+v", c.Contrasts[0].Pairs, c.Verdict)
	}
	// So does compare with what lies there; the broken block counts for nothing.
	sides, notes, err := ReadSides([]string{dir}, compare.All)
	if err != nil || len(sides[0].Runs) != 2 || len(sides[1].Runs) != 2 {
		t.Errorf("%d and %d runs, %v, %v", len(sides[0].Runs), len(sides[1].Runs), notes, err)
	}
	cancel()
	if _, err := NewAgainst(s, Options{}).Do(ctx, compare.Options{}, nil); exit.Of(err) != exit.Usage {
		t.Errorf("the directory is there: %v", err)
	}
	s.Out.Dir = ""
	s.Out.None = true
	if _, err := NewAgainst(s, Options{}).Do(ctx, compare.Options{}, nil); exit.Of(err) != exit.Interrupted {
		t.Errorf("interrupted at once: %v", err)
	}
}

// A target without one success ends it: there is nothing to compare.
func TestAgainstADeadTarget(t *testing.T) {
	s, _ := twoTargets(t, `"pairs": 3`)
	s.Target.Against.RawQuery = "fail=1"
	blocks := 0
	p := NewAgainst(s, Options{})
	p.Began = func(Block) func() { blocks++; return func() {} }
	_, err := p.Do(context.Background(), compare.Options{}, nil)
	if exit.Of(err) != exit.Target || !strings.Contains(err.Error(), "pair-01-b: not one of 30 requests succeeded") || blocks > 2 {
		t.Errorf("after %d blocks: %v", blocks, err)
	}
}

// A target that nobody answers for is found out before the other one is sent
// anything, whichever of the two it is.
func TestAgainstLooksAtBothFirst(t *testing.T) {
	requests := 0
	live := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	defer live.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := "http://" + closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for _, urls := range [][2]string{{live.URL, dead}, {dead, live.URL}} {
		dir := filepath.Join(t.TempDir(), "ab")
		s, err := scenario.Parse("x.yaml", []byte(`{"target": {"url": "`+urls[0]+`", "against": "`+urls[1]+`", "model": "m"},
			"out": {"dir": "`+dir+`"}, "load": {"rate": 20, "requests": 30}}`), scenario.Flags{})
		if err != nil {
			t.Fatal(err)
		}
		p := NewAgainst(s, Options{})
		p.Began = func(Block) func() { t.Error("a block began"); return func() {} }
		_, err = p.Do(context.Background(), compare.Options{}, nil)
		if exit.Of(err) != exit.Target || !strings.Contains(err.Error(), dead) || !strings.Contains(err.Error(), "cannot be reached") {
			t.Errorf("%v", err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("a directory was made")
		}
	}
	if requests > 0 {
		t.Errorf("%d requests were sent", requests)
	}
}

func TestSidesFromArguments(t *testing.T) {
	s, dir := twoTargets(t, `"pairs": 2`)
	if _, err := NewAgainst(s, Options{}).Do(context.Background(), compare.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		runs []int
		want string
	}{
		{[]string{filepath.Join(dir, "pair-*-a"), filepath.Join(dir, "pair-01-b")}, []int{2, 1}, ""},
		{[]string{dir, dir}, nil, "holds both sides of a comparison"},
		{[]string{filepath.Dir(dir), dir}, nil, "expected a run directory, or a directory of runs"},
		{[]string{filepath.Join(dir, "nothing*"), dir}, nil, "nothing"},
	} {
		sides, _, err := ReadSides(c.args, compare.All)
		if c.want != "" {
			if exit.Of(err) != exit.Usage || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v, want %s", c.args, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range c.runs {
			if len(sides[i].Runs) != n {
				t.Errorf("%v: side %d has %d runs, want %d", c.args, i, len(sides[i].Runs), n)
			}
		}
	}
	// A block without its summary takes its pair with it, and says so.
	if err := os.Remove(filepath.Join(dir, "pair-02-b", "summary.json")); err != nil {
		t.Fatal(err)
	}
	sides, notes, err := ReadSides([]string{dir}, compare.All)
	if err != nil || len(sides[0].Runs) != 1 || len(notes) != 1 || notes[0] != "pair 2 is incomplete, left out" {
		t.Errorf("%d runs, %v, %v", len(sides[0].Runs), notes, err)
	}
	// So does a block that is not there at all, of either side.
	if err := os.RemoveAll(filepath.Join(dir, "pair-02-a")); err != nil {
		t.Fatal(err)
	}
	if _, notes, err := ReadSides([]string{dir}, compare.All); err != nil || len(notes) != 1 || notes[0] != "pair 2 is incomplete, left out" {
		t.Errorf("%v, %v", notes, err)
	}
	// A damaged table ends it, whatever figures are compared.
	table := filepath.Join(dir, "pair-01-b", "requests.parquet")
	if err := os.Truncate(table, 100); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadSides([]string{dir}, compare.All); exit.Of(err) != exit.Usage || !strings.Contains(err.Error(), table+" is damaged") {
		t.Errorf("%v", err)
	}
}
