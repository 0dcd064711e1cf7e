package traffic

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/stat"
)

func TestRowByHand(t *testing.T) {
	m := &Model{Duration: time.Hour, Clients: []Client{{Name: `a "b"`, Rate: Curve{Rate: []float64{1}}, Lengths: []Lengths{{Input: stat.Constant(1)}},
		Prefix: &Prefix{Share: 1, Count: 3, Tokens: stat.Constant(1)}}}}
	s := sampler(t, m, SampleOptions{Scale: 2, ScaleBy: ByClients})
	for _, c := range []struct {
		d     Draw
		turns []Turn
		want  string
	}{
		{Draw{At: 0}, []Turn{{Input: 5}}, `{"at":0,"class":"a \"b\"","tenant":"a \"b\"","input_tokens":5}`},
		{Draw{At: 1_000_000_020, Index: 7, Input: 5, PrefixTokens: 70, Prefix: 2}, []Turn{{Input: 5, Output: 9, Images: 1}, {Input: 3, Output: 4, Reasoning: 2, Think: 2500 * time.Millisecond}, {Input: 8}},
			`{"at":1.00000002,"class":"a \"b\"","tenant":"a \"b\"","session_id":"a \"b\"-7","input_tokens":75,"output_tokens":9,"images":1,"hash_ids":[3101006985579791],"block_tokens":70,` +
				`"turns":[{"input_tokens":3,"output_tokens":4,"reasoning_tokens":2,"think":2.5},{"input_tokens":8}]}`},
		{Draw{At: 500_000_000, Replica: 1, Input: 5}, []Turn{{Input: 5, Output: 9}}, `{"at":0.5,"class":"a \"b\"","tenant":"a \"b\"#2","input_tokens":5,"output_tokens":9}`},
	} {
		c.d.Input = c.turns[0].Input
		if got := string(s.AppendRow(nil, &c.d, c.turns)); got != c.want+"\n" {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// An answer of a client whose reasoning is known says 0 where it has none; one of
// unknown length, or of a client of which nothing is known, says nothing.
func TestRowTellsNoReasoning(t *testing.T) {
	one := Client{Name: "a", Rate: Curve{Rate: []float64{1}}, Lengths: []Lengths{{Input: stat.Constant(1)}}}
	for _, c := range []struct {
		reasoning stat.Distribution
		want      string
	}{
		{stat.Constant(0), `{"at":0,"class":"a","tenant":"a","session_id":"a-0","input_tokens":5,"output_tokens":9,"reasoning_tokens":0,` +
			`"turns":[{"input_tokens":3,"output_tokens":4,"reasoning_tokens":2},{"input_tokens":8,"output_tokens":1,"reasoning_tokens":0},{"input_tokens":8}]}`},
		{nil, `{"at":0,"class":"a","tenant":"a","session_id":"a-0","input_tokens":5,"output_tokens":9,` +
			`"turns":[{"input_tokens":3,"output_tokens":4,"reasoning_tokens":2},{"input_tokens":8,"output_tokens":1},{"input_tokens":8}]}`},
	} {
		one.Reasoning = c.reasoning
		s := sampler(t, &Model{Duration: time.Hour, Clients: []Client{one}}, SampleOptions{})
		d := Draw{Input: 5}
		if got := string(s.AppendRow(nil, &d, []Turn{{Input: 5, Output: 9}, {Input: 3, Output: 4, Reasoning: 2}, {Input: 8, Output: 1}, {Input: 8}})); got != c.want+"\n" {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// By hand: sessions at 0, 0.5, 0.9 and 1.4 s in 4 s: three in the second from
// 0.5 s on; gaps 0.5, 0.4, 0.5; counts 3, 1, 0, 0: mean 1, variance 2.
func TestMeterByHand(t *testing.T) {
	m := NewMeter(4500 * time.Millisecond)
	for i, at := range []int64{0, 500e6, 900e6, 1400e6} {
		d := Draw{At: at, PrefixTokens: 10, Prefix: 1}
		turns := []Turn{{Input: 5, Output: 2}}
		if i == 3 {
			turns[0].Output, turns[0].Reasoning = 5, 3 // of which 2 come back
			turns = append(turns, Turn{Input: 4, Output: 1})
		}
		m.Add(&d, turns)
	}
	got := m.Summary()
	cv, second := math.Sqrt(0.02/3/2)/(1.4/3), 2.0
	want := Summary{Sessions: 4, Requests: 5, InputTokens: 4*15 + 21, PrefixTokens: 50, OutputTokens: 12, Duration: 4.5, Rate: 4 / 4.5, PeakRate: 3,
		CV: &cv, Dispersion: Dispersion{Second: &second}}
	if math.Abs(*got.CV-cv) > 1e-12 {
		t.Errorf("cv %v, want %v", *got.CV, cv)
	}
	got.CV = &cv
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s := NewMeter(time.Hour).Summary(); s.CV != nil || s.Dispersion.Second != nil {
		t.Errorf("of nothing: %+v", s)
	}
}
