package sim

import (
	"fmt"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/fault"
	"github.com/tokamak-bench/tokamak/sim/hardware"
)

// The core's types, under the name that users of the engine know.
type (
	// Engine is the simulated engine; its methods belong to its loop.
	Engine = core.Engine
	// Request is one sequence.
	Request = core.Request
	// Span is prompt content by identity.
	Span = core.Span
	// Listener hears of one request.
	Listener = core.Listener
	// Usage is what a request used.
	Usage = core.Usage
	// Finish says why a request ended.
	Finish = core.Finish
	// State is an engine's load at one moment.
	State = core.State
	// Gate refuses requests on purpose.
	Gate = core.Gate
	// Refusal is a request refused on purpose.
	Refusal = core.Refusal
	// FaultSet is the faults of one engine through all its lives.
	FaultSet = fault.Set
)

// The finish reasons.
const (
	Stop   = core.Stop
	Length = core.Length
	Abort  = core.Abort
	Died   = core.Died
)

// ErrOverloaded says that as many requests as allowed are waiting or running.
var ErrOverloaded = core.ErrOverloaded

// NewEngine returns an engine as o describes it, on a loop. What does not fit
// (weights, or a sequence of the asked length) is an error that says by how much.
func NewEngine(o Options, loop clock.Loop) (*Engine, error) {
	cfg, err := o.Config()
	if err != nil {
		return nil, err
	}
	return core.New(cfg, loop)
}

// FaultSet returns the faults that o asks for, on an engine's loop.
func (o Options) FaultSet(loop clock.Loop) *FaultSet {
	return fault.NewSet(o.Faults.List, loop, o.Seed)
}

// NewFaultyEngine returns an engine that a set of faults disturbs; died, where
// it is not nil, hears of its death. After Revival a new one may follow it.
func NewFaultyEngine(o Options, loop clock.Loop, set *FaultSet, died func(at int64)) (*Engine, error) {
	cfg, err := o.Config()
	if err != nil {
		return nil, err
	}
	cfg.Disturbance, cfg.Died = set, died
	return core.New(cfg, loop)
}

// Check tells whether an engine can be made of the options: weights and the
// asked length fit. The options of an engine that Serve takes pass it.
func (o Options) Check() error {
	_, err := NewEngine(o, nil)
	return err
}

// Config works out what the core needs from the options: block count, limits
// and step times.
func (o Options) Config() (core.Config, error) {
	s := o.Setup()
	if o.TP > 1 && o.GPU.Link <= 0 {
		return core.Config{}, fmt.Errorf("%s has no link_gb_per_s, which tp=%d needs", o.GPU.Name, o.TP)
	}
	blocks := o.Blocks
	if blocks == 0 {
		var err error
		blocks, err = s.Blocks(hardware.Memory{Utilization: o.MemoryUtilization, MaxTokens: o.MaxTokens, MaxSeqs: int64(o.MaxSeqs), BlockSize: o.BlockSize})
		if err != nil {
			return core.Config{}, err
		}
	}
	length := o.MaxModelLen
	if length == 0 {
		// What fits, as vLLM's "auto" does; an asked length must fit.
		length = min(o.Model.MaxPositions, (blocks-1)*o.BlockSize)
		if o.Scheduler == core.Slots { // each slot has a context of its own
			length = min(length, (blocks-1)/int64(o.MaxSeqs))
		}
	}
	if !o.ChunkedPrefill {
		o.MaxTokens = max(o.MaxTokens, length)
	}
	return core.Config{MaxSeqs: o.MaxSeqs, MaxTokens: o.MaxTokens, MaxModelLen: length, BlockSize: o.BlockSize, Blocks: blocks,
		PrefixCache: o.PrefixCache, LongPrefill: o.LongPrefill, WholePrompts: !o.ChunkedPrefill, PromptMustFit: o.PromptMustFit,
		APIDelay: int64(o.GPU.Efficiency.APIMicros * 1e3), Freeze: core.Freeze{At: int64(o.Faults.FreezeAt), For: int64(o.Faults.FreezeFor)},
		Policy: o.Scheduler, MaxRequests: o.MaxRequests, WaitingServedRatio: o.WaitingServedRatio, MaxWaitingTokens: o.MaxWaitingTokens,
		Speculative: core.Speculative{Drafts: o.SpeculativeTokens, Acceptance: o.Acceptance, Seed: o.Seed},
		Replicas:    core.Replicas{N: o.DP, Router: o.Router},
		Timer:       hardware.NewTimer(s)}, nil
}
