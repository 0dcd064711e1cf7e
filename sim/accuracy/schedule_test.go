package accuracy

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/sim/hardware"
)

// client is one of a closed loop's clients: it submits the next request when
// its last has ended.
type client struct {
	run *loopRun
	q   *sim.Request
}

type loopRun struct {
	t    *testing.T
	l    Loop
	e    *sim.Engine
	v    *clock.Virtual
	sent int64
	// sums of TPOT and TTFT in ms, and of requests.
	tpot, ttft, n float64
}

func (r *loopRun) submit() {
	if r.sent == r.l.Requests {
		return
	}
	s := schedule{loop: r.l, sent: r.sent}
	s.send()
	m := s.coming[0]
	id := uint64(r.sent) + 1
	if r.l.Unique > 0 {
		id = uint64(r.sent%r.l.Unique) + 1
	}
	r.sent++
	c := &client{run: r, q: &sim.Request{Prompt: []sim.Span{{ID: id, Tokens: m.prompt}}, MaxTokens: m.output, Output: 1 << 40}}
	c.q.Output += uint64(r.sent)
	c.q.Listener = c
	if err := r.e.Submit(c.q); err != nil {
		r.t.Fatal(err)
	}
}

func (c *client) Tokens(int64, int64) {}

func (c *client) Finished(_ sim.Finish, _ sim.Usage, at int64) {
	st := &c.q.Stats
	c.run.n++
	c.run.ttft += float64(st.FirstToken-st.Arrived) / 1e6
	if st.Output > 1 {
		c.run.tpot += float64(st.LastToken-st.FirstToken) / float64(st.Output-1) / 1e6
	}
	// A client's round trip ends within the next step.
	c.run.v.At(at+1, c.run.submit)
}

// The schedule that rows are fitted on is the engine's: the mean TPOT that it
// gives is that of the engine in virtual time, for bursts, ragged lengths, short
// answers under load, repeated prompts and a cache that runs out.
func TestScheduleIsTheEngines(t *testing.T) {
	for _, tc := range []struct {
		row  Row
		loop Loop
		kv   hardware.Precision
		// the greatest difference in percent
		tpot, ttft float64
	}{
		{Row{GPU: "h100", Model: "llama3.1-70b", DType: hardware.FP8, TP: 4}, Loop{Clients: 16, Requests: 160, ISL: 1024, OSL: 1024, Ragged: true}, hardware.BF16, 0.1, 1},
		{Row{GPU: "h100", Model: "qwen3-32b", DType: hardware.BF16, TP: 2}, Loop{Clients: 64, Requests: 640, ISL: 4096, OSL: 128}, hardware.BF16, 0.1, 1},
		{Row{GPU: "h100", Model: "qwen3-32b", DType: hardware.BF16, TP: 4}, Loop{Clients: 64, Requests: 64, ISL: 1024, OSL: 256}, hardware.BF16, 0.1, 1},
		{Row{GPU: "h200", Model: "llama3.1-8b", DType: hardware.FP8, TP: 1}, Loop{Clients: 64, Requests: 640, ISL: 2000, OSL: 100, Unique: 100}, hardware.FP8, 0.1, 1},
		{Row{GPU: "h100", Model: "llama3.1-70b", DType: hardware.FP8, TP: 2}, Loop{Clients: 64, Requests: 256, ISL: 1024, OSL: 4096, Ragged: true}, hardware.BF16, 1, 5},
		{Row{GPU: "b200", Model: "gpt-oss-120b", DType: hardware.FP4, TP: 1}, Loop{Clients: 128, Requests: 512, ISL: 1024, OSL: 512}, hardware.BF16, 0.1, 1},
		{Row{GPU: "h200", Engine: "sglang", Model: "llama3.1-8b", DType: hardware.FP8, TP: 1}, Loop{Clients: 96, Requests: 960, ISL: 2000, OSL: 200}, hardware.BF16, 0.1, 1},
		{Row{GPU: "h100", Engine: "sglang", Model: "qwen3-32b", DType: hardware.BF16, TP: 2}, Loop{Clients: 128, Requests: 128, ISL: 4096, OSL: 256}, hardware.BF16, 3, 10},
		{Row{GPU: "h100", Engine: "trtllm", Model: "llama3.1-8b", DType: hardware.BF16, TP: 1}, Loop{Clients: 64, Requests: 640, ISL: 1024, OSL: 128}, hardware.BF16, 0.1, 1},
		{Row{GPU: "h200", Engine: "trtllm", Model: "llama3.1-70b", DType: hardware.FP8, TP: 1}, Loop{Clients: 64, Requests: 256, ISL: 1024, OSL: 4096, Ragged: true}, hardware.BF16, 1, 5},
	} {
		s, err := tc.row.Setup()
		if err != nil {
			t.Fatal(err)
		}
		s.KV = tc.kv
		o := sim.Default(s.Model, s.GPU)
		if err := o.Set(url.Values{"engine": {simulated(cmp.Or(tc.row.Engine, "vllm"))}}); err != nil {
			t.Fatal(err)
		}
		o.TP, o.Weights, o.KV = tc.row.TP, tc.row.DType, tc.kv
		o.GPU.Efficiency = catalog.Unfitted()
		o.GPU.Efficiency.APIMicros = 0
		blocks, err := s.Blocks(hardware.Memory{Utilization: o.MemoryUtilization, MaxTokens: o.MaxTokens, MaxSeqs: int64(o.MaxSeqs), BlockSize: o.BlockSize})
		if err != nil {
			t.Fatal(err)
		}
		sch := newSchedule(tc.loop, Limits{Seqs: int64(o.MaxSeqs), Tokens: o.MaxTokens, KV: (blocks - 1) * o.BlockSize, Policy: o.Scheduler})
		c := Case{setup: s, phases: sch.features()}
		tpot, ttft := c.Predict(&o.GPU.Efficiency)

		v := clock.NewVirtual(time.Unix(0, 0))
		e, err := sim.NewEngine(o, v)
		if err != nil {
			t.Fatal(err)
		}
		r := &loopRun{t: t, l: tc.loop, e: e, v: v}
		for range tc.loop.Clients {
			r.submit()
		}
		v.Wait(clock.Forever)
		off := func(a, b float64) float64 { return 100 * (a/b - 1) }
		dp, df := off(tpot, r.tpot/r.n), off(ttft, r.ttft/r.n)
		t.Logf("%s %+v: TPOT %.3f ms, the engine's %.3f (%+.2f %%); TTFT %.1f, %.1f (%+.1f %%); %d and %d preemptions", tc.row.Model, tc.loop, tpot, r.tpot/r.n, dp, ttft, r.ttft/r.n, df, sch.Preemptions, e.State().Counts.Preemptions)
		if math.Abs(dp) > tc.tpot || math.Abs(df) > tc.ttft {
			t.Errorf("%s %+v: TPOT %+.2f %%, TTFT %+.1f %% from the engine", tc.row.Model, tc.loop, dp, df)
		}
	}
}

// What a row is predicted with is what a target of its name simulates: preset,
// precision of the KV cache, limits. One row of each set of the InferenceX harness,
// served in virtual time through sim://.
func TestTargetsGiveThePredictions(t *testing.T) {
	rows, err := Sample()
	if err != nil {
		t.Fatal(err)
	}
	why := apart(rows)
	seen := map[Set]bool{}
	for i, r := range rows {
		if !r.ragged() || r.OSL > 1024 || r.Concurrency != 8 || why[i] != "" || seen[r.Set()] {
			continue
		}
		seen[r.Set()] = true
		o, err := sim.ParseTarget(fmt.Sprintf("sim://%s@%s?engine=%s&dtype=%s&tp=%d&engine_version=%s", r.Model, r.GPU, simulated(r.Engine), r.DType, r.TP, r.Version))
		if err != nil {
			t.Fatal(err)
		}
		c, err := NewCase(r, o.Setup().KV)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := c.Predict(&o.GPU.Efficiency)
		v := clock.NewVirtual(time.Unix(0, 0))
		e, err := sim.NewEngine(o, v)
		if err != nil {
			t.Fatal(err)
		}
		l := loopRun{t: t, l: r.loop(), e: e, v: v}
		for range l.l.Clients {
			l.submit()
		}
		v.Wait(clock.Forever)
		got := l.tpot / l.n
		t.Logf("%s %s: TPOT measured %.2f ms, predicted %.2f, the engine's %.2f", r.Set(), r.Regime(), r.TPOT, want, got)
		if d := 100 * (got/want - 1); math.Abs(d) > 1.5 {
			t.Errorf("%s: the engine is %+.1f %% from the prediction", r.key(), d)
		}
	}
	if len(seen) < 8 {
		t.Errorf("only %d sets", len(seen))
	}
}
