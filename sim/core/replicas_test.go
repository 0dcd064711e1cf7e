package core

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// replicated runs requests on two replicas and tells where each went.
func replicated(t *testing.T, router Router, list ...arrival) (ends map[string]string, homes []int) {
	t.Helper()
	c := fine(VLLM)
	c.PrefixCache, c.Replicas = true, Replicas{N: 2, Router: router}
	r := newRig(t, c)
	r.run(list...)
	for _, a := range list {
		homes = append(homes, slices.Index(r.engine.replicas, r.reqs[a.id].home))
	}
	if s := r.engine.State(); s.Running+s.Waiting != 0 || s.KVUsage != 0 || s.Counts.PromptTokens == 0 {
		t.Errorf("%+v", s)
	}
	return r.ends, homes
}

func TestReplicas(t *testing.T) {
	// a and c share a prefix of 20; b and d another. Each needs 22 of 40 tokens.
	list := []arrival{{"a", 0, only(1, 20), 2}, {"b", 0, only(2, 20), 9}, {"c", 100, []Span{{1, 20}, {3, 2}}, 1}, {"d", 100, []Span{{2, 20}, {3, 2}}, 1}, {"e", 200, []Span{{2, 20}, {4, 2}}, 1}}
	ends, homes := replicated(t, RoundRobin, list...)
	if want := []int{0, 1, 0, 1, 0}; !slices.Equal(homes, want) {
		t.Errorf("round robin: %v", homes)
	}
	want := map[string]string{"a": "length 20/0/2 at 20", "b": "length 20/0/9 at 90", "c": "length 22/20/1 at 110", "d": "length 22/20/1 at 110", "e": "length 22/0/1 at 210"}
	if d := cmp.Diff(want, ends); d != "" {
		t.Error(d)
	}
	// e finds b's prompt where b was.
	ends, homes = replicated(t, PrefixAware, list...)
	if want := []int{0, 1, 0, 1, 1}; !slices.Equal(homes, want) || ends["e"] != "length 22/20/1 at 210" {
		t.Errorf("prefix: %v, %v", homes, ends)
	}
	// At 30 a has ended and b runs: c goes to 0. At 31 both run one: d goes to the
	// first, and e, as d waits there, to the other.
	_, homes = replicated(t, LeastLoaded, arrival{"a", 0, only(1, 4), 2}, arrival{"b", 0, only(2, 4), 9}, arrival{"c", 30, only(3, 4), 9}, arrival{"d", 31, only(4, 4), 1}, arrival{"e", 31, only(5, 4), 1})
	if want := []int{0, 1, 0, 0, 1}; !slices.Equal(homes, want) {
		t.Errorf("least loaded: %v", homes)
	}
}

func TestReplicasDieTogether(t *testing.T) {
	c := tight()
	deaths := 0
	c.Died, c.Replicas = func(int64) { deaths++ }, Replicas{N: 2}
	r := newRig(t, c)
	r.clock.At(25, func() { r.engine.replicas[1].Kill(25) })
	r.clock.At(15, func() { r.engine.Abort(r.reqs["c"]) })
	r.run(arrival{"a", 0, tokens(8), 8}, arrival{"b", 0, tokens(8), 8}, arrival{"c", 0, tokens(4), 8})
	if want := map[string]string{"a": "died 8/0/2 at 25", "b": "died 8/0/2 at 25", "c": "abort 4/0/1 at 15"}; !cmp.Equal(r.ends, want) || deaths != 1 {
		t.Error(r.ends, deaths)
	}
}
