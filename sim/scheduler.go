package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/sim/core"
)

// setScheduler takes a policy of the core and what its engine does by default.
func (o *Options) setScheduler(name string) error {
	var names []string
	for _, p := range core.Policies() {
		names = append(names, string(p))
	}
	if !slices.Contains(names, name) {
		return fmt.Errorf("expected one of %s", strings.Join(names, ", "))
	}
	o.follow(core.Policy(name))
	return nil
}

// setEngine takes an engine and the scheduling that goes with it.
func (o *Options) setEngine(known ...string) func(string) error {
	return func(name string) error {
		if err := oneOf(&o.Engine, known...)(name); err != nil {
			return err
		}
		o.follow(schedulerOf(name))
		return nil
	}
}

// schedulerOf is the policy of the engine behind a face.
func schedulerOf(engine string) core.Policy {
	switch engine {
	case "sglang":
		return core.SGLang
	case "tgi":
		return core.TGI
	case "triton", "tensorrt-llm", "trtllm":
		return core.NoEvict
	case "llamacpp", "llama.cpp", "ollama":
		return core.Slots
	}
	return core.VLLM
}

// follow sets what an engine's own defaults are beside vLLM's.
func (o *Options) follow(p core.Policy) {
	base := Default(o.Model, o.GPU)
	o.Scheduler = p
	o.BlockSize, o.MaxTokens, o.MaxSeqs, o.MaxRequests = base.BlockSize, base.MaxTokens, base.MaxSeqs, 0
	const gib = 1 << 30
	switch p {
	case core.SGLang: // a radix cache matches by token; a prefill step has chunked_prefill_size
		o.BlockSize, o.MaxSeqs = 1, 2048
		switch m := o.GPU.Memory; {
		case m >= 160*gib:
			o.MaxTokens = 16384
		case m >= 60*gib:
			o.MaxTokens = 8192
		case m >= 35*gib:
			o.MaxTokens = 4096
		default:
			o.MaxTokens = 2048
		}
	case core.NoEvict:
		o.BlockSize, o.MaxTokens, o.MaxSeqs = 32, 8192, 2048
	case core.Slots:
		o.BlockSize, o.MaxTokens, o.MaxSeqs = 1, 2048, 4
	case core.TGI:
		o.BlockSize, o.MaxTokens, o.MaxSeqs, o.MaxRequests = 1, 4096, 128, 128
		o.WaitingServedRatio, o.MaxWaitingTokens = 0.3, 20
	}
}

// setRouter takes how requests are spread over replicas.
func (o *Options) setRouter(name string) error {
	switch r := core.Router(name); r {
	case core.RoundRobin, core.LeastLoaded, core.PrefixAware:
		o.Router = r
		return nil
	}
	return fmt.Errorf("expected %s, %s or %s", core.RoundRobin, core.LeastLoaded, core.PrefixAware)
}

// setAdapters reads names separated by commas.
func (o *Options) setAdapters(names string) error {
	list := strings.Split(names, ",")
	for i, n := range list {
		if n == "" || slices.Contains(list[:i], n) || n == o.Served {
			return fmt.Errorf("expected names separated by commas, each once")
		}
	}
	o.Adapters = list
	return nil
}

// first are the parameters that set others' defaults: they are applied before.
func first(a, b string) int {
	rank := func(k string) int { return slices.Index([]string{"scheduler", "engine"}, k) }
	if d := rank(b) - rank(a); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}
