package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"reflect"
	"runtime"
	"slices"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/sim/face"
)

type simCommand struct {
	Listen string `name:"listen" default:"127.0.0.1:8000" placeholder:"HOST:PORT" help:"Address to serve on; port 0 takes a free one."`
	Target string `name:"target" placeholder:"sim://…" help:"The engine as a target names it; the flags below change it."`
	Model  string `name:"model" placeholder:"NAME" help:"Model of the catalogue, or a config.json (default llama3-8b)."`
	GPU    string `name:"gpu" placeholder:"NAME" help:"Accelerator of the catalogue, or a YAML file (default a100-80g)."`
	simParameters
	Log       string `name:"log" placeholder:"FILE" help:"One JSON line for each ended request."`
	LogTokens bool   `name:"log-tokens" help:"With the moment at which each token was written."`
	simPorts
	Child bool `name:"child" hidden:"" help:"Serve the run that started this process."`
	output
}

// simParameters are the parameters of a sim:// target as flags, by the same
// names; the flags' other tags are for help.
type simParameters struct {
	Engine        *string `name:"engine" group:"engine" placeholder:"NAME" help:"Engine whose scheduling and API to follow (default vllm)."`
	EngineVersion *string `name:"engine-version" group:"engine" placeholder:"V" help:"Version whose step times to take, where measurements tell versions apart."`
	Seed          *string `name:"seed" group:"engine" placeholder:"N" help:"Seed of lengths and faults."`
	Served        *string `name:"served-model-name" group:"engine" placeholder:"NAME" help:"Name that clients ask for."`
	TP            *string `name:"tp" group:"engine" placeholder:"N" help:"Tensor parallelism."`
	DType         *string `name:"dtype" group:"engine" placeholder:"TYPE" help:"Precision of the weights."`
	KVDType       *string `name:"kv-dtype" group:"engine" placeholder:"TYPE" help:"Precision of the KV cache."`
	MaxSeqs       *string `name:"max-num-seqs" group:"engine" placeholder:"N" help:"Sequences in a step."`
	MaxTokens     *string `name:"max-num-batched-tokens" group:"engine" placeholder:"N" help:"Token budget of a step."`
	MaxLen        *string `name:"max-model-len" group:"engine" placeholder:"N" help:"Longest sequence."`
	BlockSize     *string `name:"block-size" group:"engine" placeholder:"N" help:"Tokens in a block of the KV cache."`
	Blocks        *string `name:"num-gpu-blocks" group:"engine" placeholder:"N" help:"Blocks of the KV cache; default: what fits."`
	Utilization   *string `name:"gpu-memory-utilization" group:"engine" placeholder:"X" help:"Share of the memory to use."`
	PrefixCaching *string `name:"prefix-caching" group:"engine" placeholder:"BOOL" help:"Reuse the KV cache of equal prefixes."`
	Chunked       *string `name:"chunked-prefill" group:"engine" placeholder:"BOOL" help:"Cut long prompts to the token budget."`
	MustFit       *string `name:"prompt-must-fit" group:"engine" placeholder:"BOOL" help:"Admit a request only when its whole prompt fits into free blocks (default true)."`
	LongPrefill   *string `name:"long-prefill-threshold" group:"engine" placeholder:"N" help:"Most prompt tokens of one request in a step (default: no limit but the budget)."`
	ServedRatio   *string `name:"waiting-served-ratio" group:"engine" placeholder:"X" help:"TGI: waiting requests for each running one at which new ones are let in (default 0.3)."`
	WaitingTokens *string `name:"max-waiting-tokens" group:"engine" placeholder:"N" help:"TGI: decode steps after which new requests are let in anyway (default 20)."`
	Scheduler     *string `name:"scheduler" group:"engine" placeholder:"NAME" help:"Scheduling to follow, where it is not the engine's own: vllm, priority, sglang, tensorrt-llm, llama.cpp, tgi."`
	LoRA          *string `name:"lora" group:"engine" placeholder:"NAME,…" help:"Names of LoRA adapters, served as models."`
	DP            *string `name:"dp" group:"engine" placeholder:"N" help:"Replicas of engine and accelerators behind a router."`
	Router        *string `name:"router" group:"engine" placeholder:"NAME" help:"How requests are spread over replicas: round_robin, least_loaded, prefix."`
	MaxRequests   *string `name:"max-requests" group:"engine" placeholder:"N" help:"Requests that may wait and run; one more gets 429."`
	Speculative   *string `name:"speculative-tokens" group:"engine" placeholder:"N" help:"Tokens drafted for each sequence in a step."`
	Acceptance    *string `name:"acceptance" group:"engine" placeholder:"P" help:"Probability that a draft is right (default 0.7)."`
	MeanOutput    *string `name:"mean-output" group:"engine" placeholder:"N" help:"Mean length of answers that end by themselves."`
	Freeze        *string `name:"freeze" group:"faults" placeholder:"AT:D" help:"Stand still, e.g. 5s:2s."`
	Fail          *string `name:"fail" group:"faults" placeholder:"SHARE[:STATUS]" help:"Fail a share of the requests."`
	Reject        *string `name:"reject" group:"faults" placeholder:"RULE" help:"Refuse requests as when overloaded."`
	// Faults is repeatable, unlike the parameters above.
	Faults []string `name:"fault" group:"faults" sep:"none" placeholder:"NAME[:KEY=VALUE,…]" help:"A fault of the table in docs/simulated-engine.md; repeatable."`
}

// options are the engine's, from target and flags.
func (c *simCommand) options() (sim.Options, error) {
	target := c.Target
	if target == "" {
		target = sim.Scheme + c.Model + "@" + c.GPU
	} else if c.Model != "" || c.GPU != "" {
		return sim.Options{}, fmt.Errorf("--target names model and accelerator: leave --model and --gpu out")
	}
	o, err := sim.ParseTarget(target)
	if err != nil {
		return o, err
	}
	values := url.Values{}
	v := reflect.ValueOf(c.simParameters)
	for i := range v.NumField() {
		if s, ok := reflect.TypeAssert[*string](v.Field(i)); ok && s != nil {
			values.Set(v.Type().Field(i).Tag.Get("name"), *s)
		}
	}
	for _, f := range c.Faults {
		values.Add("fault", f)
	}
	return o, o.Set(values)
}

// Run serves the engine until it is interrupted or, as a child, until its
// standard input closes.
func (c *simCommand) Run(ctx context.Context, std streams) (err error) {
	o, err := c.options()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if err := o.Check(); err != nil {
		return exit.With(exit.Usage, err)
	}
	so := sim.ServeOptions{LogTokens: c.LogTokens}
	if c.Log != "" {
		f, err := os.Create(c.Log) // read while it grows
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		so.Log = f
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return exit.With(exit.Usage, fmt.Errorf("--listen: %w", err))
	}
	if err := c.open(ctx, &o, &so); err != nil {
		return exit.With(exit.Usage, errors.Join(err, listener.Close()))
	}
	if so.Spans != nil {
		defer c.closeSpans(ctx, so.Spans, std)
	}
	base := "http://" + listener.Addr().String()
	if o.Engine != "triton" {
		base += "/v1"
	}
	if c.Child || c.json() {
		hello, err := json.Marshal(c.addresses(base, &so))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(std.out, "%s\n", hello); err != nil {
			return err
		}
	} else {
		tell(std.err, "simulating %s on %s at %s", o.Served, o.GPU.Name, base)
		c.introduce(&o, std)
		so.Emitted = func(l face.Lateness) { tellEmission(&l, std) }
		beside := c.addresses("", &so)
		for _, what := range slices.Sorted(maps.Keys(beside)) {
			tell(std.err, "%s at %s", what, beside[what])
		}
	}
	if c.Child {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() {
			_, _ = io.Copy(io.Discard, std.in) // ends when the parent closes it or is gone
			cancel()
		}()
	}
	if os.Getenv("GOMAXPROCS") == "" {
		// The engine's loop waits in the kernel, where the scheduler lends its
		// processor late: one more keeps the writers of streams on all of them.
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
	return sim.Serve(ctx, listener, o, so)
}

// introduce says what the engine is and what it cannot know.
func (c *simCommand) introduce(o *sim.Options, std streams) {
	tell(std.err, "a simulation without a model: scheduling, KV cache and API of %s, times from a model of the hardware, answers made up from the seed", o.Engine)
	b := o.Backing()
	if b.Fitted != "" {
		tell(std.err, "step times were fitted on %s; errors on other rows: tokamak sim accuracy", b.Fitted)
	}
	for _, w := range b.Warnings {
		tell(std.err, "warning: %s", w)
	}
}

// tellEmission says how late tokens were written.
func tellEmission(l *face.Lateness, std streams) {
	if l.Late == nil {
		return
	}
	tell(std.err, "wrote %d tokens in %d writes; late p50 %.2f ms, p99 %.2f ms, max %.2f ms; %d more waited for clients that did not read",
		l.Tokens, l.Writes, l.Late.P50, l.Late.P99, l.Late.Max, l.Held)
}
