package accuracy

import (
	"fmt"
	"math"
	"net/url"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/sim/hardware"
)

// Case is a row with what its prediction needs: the setup, and the steps that
// its loop is made of, which do not depend on the efficiencies.
type Case struct {
	Row
	setup  hardware.Setup
	phases []phase
	// Preemptions in the simulated loop.
	Preemptions int64
}

// NewCase works out the steps of a row with a KV cache of a precision.
func NewCase(r Row, kv hardware.Precision) (*Case, error) {
	s, err := r.Setup()
	if err != nil {
		return nil, err
	}
	o := sim.Default(s.Model, s.GPU)
	if err := o.Set(url.Values{"engine": {simulated(r.Engine)}}); err != nil {
		return nil, err
	}
	o.TP, o.Weights, o.KV = s.TP, s.Weights, kv
	if b := r.budget(); b > 0 {
		o.MaxTokens = b
	}
	return NewLoopCase(r, o, r.loop())
}

// simulated is the simulated engine that follows a row's: TensorRT-LLM's
// scheduling is that behind Triton.
func simulated(engine string) string {
	if engine == "trtllm" {
		return "triton"
	}
	return engine
}

// NewLoopCase works out the steps of a row on an engine of one's own and under
// a load of one's own.
func NewLoopCase(r Row, o sim.Options, l Loop) (*Case, error) {
	s := o.Setup()
	blocks := o.Blocks
	if blocks == 0 {
		var err error
		blocks, err = s.Blocks(hardware.Memory{Utilization: o.MemoryUtilization, MaxTokens: o.MaxTokens, MaxSeqs: int64(o.MaxSeqs), BlockSize: o.BlockSize})
		if err != nil {
			return nil, err
		}
	}
	if l.Requests < 1 || l.ISL < 1 || l.OSL < 1 || l.ISL+1 > (blocks-1)*o.BlockSize {
		return nil, fmt.Errorf("a loop of %d requests of %d and %d tokens: expected at least 1 of each, and prompts that fit into the KV cache", l.Requests, l.ISL, l.OSL)
	}
	sch := newSchedule(l, Limits{Seqs: int64(o.MaxSeqs), Tokens: o.MaxTokens, KV: (blocks - 1) * o.BlockSize, Policy: o.Scheduler})
	return &Case{Row: r, setup: s, phases: sch.features(), Preemptions: sch.Preemptions}, nil
}

// loop is the load behind a row, as far as its source tells or its times show.
func (r *Row) loop() Loop {
	l := Loop{Clients: r.Concurrency, Requests: 10 * r.Concurrency, ISL: r.ISL, OSL: r.OSL, Ragged: r.ragged()}
	switch {
	case r.GPU == "h100" && r.Engine == "sglang":
		l.Requests = r.Concurrency // the times to first token are those of one burst
	case r.GPU == "h200" && r.Engine == "vllm" && !l.Ragged:
		// With all prompts different these rows would need up to 94 % of the
		// compute peak. 100 different prompts are the default of the usual client,
		// and the engine's prefix cache is on.
		l.Unique = 100
	}
	return l
}

// budget is the token budget of a step where a row's source sets one, else 0:
// aiconfigurator's own measurements run with the configurations that it makes.
func (r *Row) budget() int64 {
	if r.ragged() || r.Engine != "trtllm" && r.Engine != "vllm" {
		return 0
	}
	return r.Concurrency + r.ISL + 1500
}

// ragged tells whether a row is of the InferenceX harness, which draws lengths
// from 0.8 to 1 of the nominal ones: its lengths are 1,024 and 8,192.
func (r *Row) ragged() bool {
	x := func(n int64) bool { return n == 1024 || n == 8192 }
	return x(r.ISL) && x(r.OSL) && r.DType != hardware.BF16
}

// Predict returns the mean TPOT and TTFT of a case in ms under some efficiencies.
func (c *Case) Predict(e *catalog.Efficiency) (tpot, ttft float64) {
	s := c.setup
	s.GPU.Efficiency = *e
	t := hardware.NewTimer(s)
	for i := range c.phases {
		p := &c.phases[i]
		at := float64(t.StepTime(&p.step)) / 1e6
		tpot += p.tpot * at
		ttft += p.ttft * at
	}
	return tpot, ttft + e.APIMicros/1e3
}

// off is the logarithm of predicted over measured.
func off(predicted, measured float64) float64 { return math.Log(predicted / measured) }
