package calibrate

import (
	"math"
	"testing"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/sim/accuracy"
	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/hardware"
	"github.com/tokamak-bench/tokamak/stat"
)

// truth is what the simulated engine of the tests is made of.
func truth() catalog.Efficiency {
	e := catalog.Unfitted()
	e.Matmul, e.Weights, e.KV, e.Attention, e.StepMicros, e.SeqMicros, e.APIMicros = 0.55, 0.71, 0.52, 0.28, 2300, 34, 6000
	return e
}

func engine(t *testing.T, target string) sim.Options {
	t.Helper()
	o, err := sim.ParseTarget(target)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// measured is a run of the engine: waves of load from idle to full.
func measured(t *testing.T, o sim.Options, n int) []Request {
	t.Helper()
	var list []Request
	at := 0.0
	for i := range n {
		r := stat.Random(3, "calibrate", uint64(i))
		rate := []float64{1, 4, 12}[i*6/n%3]
		at += r.ExpFloat64() / rate
		list = append(list, Request{Sent: int64(at * 1e9), Prompt: 20 + r.Int64N(3000), Output: 2 + r.Int64N(300)})
	}
	p, err := replay(o, truth(), list)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		tpot, ttft := p.predict(i)
		list[i].First = list[i].Sent + int64(ttft)
		list[i].Last = list[i].First + int64(tpot*float64(list[i].Output-1))
	}
	return list
}

// near fails where a fit's step times are further from the truth than limit
// percent, on decodes of all sizes and on prompts.
func near(t *testing.T, o sim.Options, got catalog.Efficiency, limit float64) {
	t.Helper()
	s := o.Setup()
	time := func(e catalog.Efficiency, step core.Step) float64 {
		s.GPU.Efficiency = e
		return float64(hardware.NewTimer(s).StepTime(&step))
	}
	for _, step := range []core.Step{
		{Sequences: 1, Tokens: 1, Samples: 1, Context: 500}, {Sequences: 16, Tokens: 16, Samples: 16, Context: 16000},
		{Sequences: 64, Tokens: 64, Samples: 64, Context: 100000}, {Sequences: 1, Tokens: 2000, Samples: 1, Context: 2000, Attention: 2e6},
	} {
		if off := 100 * (time(got, step)/time(truth(), step) - 1); math.Abs(off) > limit {
			t.Errorf("a step of %d tokens, %d sequences, context %d: %+.1f %%", step.Tokens, step.Sequences, step.Context, off)
		}
	}
}

// A run of the engine with known parameters gives them back: step times within
// 1 %, and those that a run can tell apart within 10 %. Weights and step, which
// only differ where computing takes as long as reading, are within 20 %.
func TestRunGivesKnownParametersBack(t *testing.T) {
	o := engine(t, "sim://llama3-8b@a100-80g")
	r, err := Run(o, measured(t, o, 240))
	if err != nil {
		t.Fatal(err)
	}
	got, want := r.Efficiency, truth()
	t.Logf("%+v", got)
	t.Logf("in-sample %+v, held out %+v", r.InSample, r.HeldOut)
	for _, p := range []struct {
		name      string
		got, want float64
		within    float64
	}{
		{"matmul", got.Matmul, want.Matmul, 0.1}, {"kv", got.KV, want.KV, 0.1}, {"attention", got.Attention, want.Attention, 0.2}, {"sequence_us", got.SeqMicros, want.SeqMicros, 0.1},
		{"weights", got.Weights, want.Weights, 0.2}, {"step_us", got.StepMicros, want.StepMicros, 0.2}, {"api_us", got.APIMicros, want.APIMicros, 0.2},
	} {
		if math.Abs(p.got/p.want-1) > p.within {
			t.Errorf("%s is %.4g, the truth is %.4g", p.name, p.got, p.want)
		}
	}
	near(t, o, got, 1)
	if r.HeldOut.TPOT > 1 || r.HeldOut.N != 240 {
		t.Errorf("held out %+v", r.HeldOut)
	}
}

// A table of closed loops does so too.
func TestTableGivesKnownParametersBack(t *testing.T) {
	o := engine(t, "sim://llama3-8b@a100-80g")
	var rows []accuracy.Row
	e := truth()
	for _, c := range []int64{1, 4, 16, 48, 96} {
		for _, l := range [][2]int64{{128, 512}, {1024, 256}, {4000, 128}} {
			row := accuracy.Row{ISL: l[0], OSL: l[1], Concurrency: c}
			lc, err := accuracy.NewLoopCase(row, o, accuracy.Loop{Clients: c, Requests: 10 * c, ISL: l[0], OSL: l[1]})
			if err != nil {
				t.Fatal(err)
			}
			row.TPOT, row.TTFT = lc.Predict(&e)
			rows = append(rows, row)
		}
	}
	r, err := Table(o, rows)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", r.Efficiency)
	t.Logf("in-sample %+v, held out %+v", r.InSample, r.HeldOut)
	near(t, o, r.Efficiency, 2)
	if r.HeldOut.TPOT > 2 {
		t.Errorf("held out %+v", r.HeldOut)
	}
}
