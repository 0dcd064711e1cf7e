package sim

import (
	"time"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/fault"
	"github.com/tokamak-bench/tokamak/sim/hardware"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// Options describe a simulated engine.
type Options struct {
	Engine string // whose behaviour and face: vllm
	// EngineVersion is the version whose step times to take, where measurements
	// tell versions apart; empty: all together.
	EngineVersion string
	Model         catalog.Model
	GPU           catalog.Accelerator
	TP            int64 // accelerators that share the model
	Weights       hardware.Precision
	KV            hardware.Precision // empty: what the preset was fitted with, else 16 bit
	Seed          uint64
	// Served is the model's name at /v1/models.
	Served string

	MaxSeqs           int
	MaxTokens         int64 // token budget of a step
	MaxModelLen       int64 // 0: what the model has, or less where it does not fit
	BlockSize         int64
	Blocks            int64 // 0: worked out from memory
	MemoryUtilization float64
	PrefixCache       bool
	ChunkedPrefill    bool
	PromptMustFit     bool
	LongPrefill       int64
	// Scheduler is whose scheduling the core follows; empty: vLLM's.
	Scheduler core.Policy
	// MaxRequests bounds requests that wait and run; 0: no bound.
	MaxRequests        int64
	WaitingServedRatio float64 // TGI
	MaxWaitingTokens   int64   // TGI
	// SpeculativeTokens are drafted for each sequence in a step, and each is
	// right with the probability Acceptance where those before it are.
	SpeculativeTokens int64
	Acceptance        float64
	// DP is how many replicas of engine and accelerators stand behind Router.
	DP int
	// Adapters are names of LoRA adapters that are served as models.
	Adapters []string
	Router   core.Router
	// MeanOutput is about how many tokens the model answers with when it is
	// left to end by itself.
	MeanOutput float64

	kv        hardware.Precision // of the preset
	versioned bool               // the preset knows EngineVersion

	Faults Faults
}

// Faults are what goes wrong on purpose.
type Faults struct {
	FreezeAt, FreezeFor time.Duration
	Fail                core.Share
	FailStatus          int
	Reject              core.Share
	RetryAfter          int64 // s
	// List are the faults of the table of package fault.
	List []fault.Fault
}

// Gate returns a new gate that refuses what the faults say.
func (f Faults) Gate() *core.Gate {
	return &core.Gate{Fail: f.Fail, FailStatus: f.FailStatus, Reject: f.Reject, RetryAfter: f.RetryAfter}
}

// Default returns the options of vLLM serving a model on a device: token budget
// and sequence limit by memory, as its API server sets them.
func Default(m catalog.Model, g catalog.Accelerator) Options {
	o := Options{Engine: "vllm", Model: m, GPU: g, TP: 1, Weights: hardware.BF16, Seed: 1, Served: m.Name,
		BlockSize: 16, MemoryUtilization: 0.92, PrefixCache: true, ChunkedPrefill: true, PromptMustFit: true, MeanOutput: 240, Acceptance: 0.7}
	const gib = 1 << 30
	switch {
	case g.Memory >= 160*gib:
		o.MaxTokens, o.MaxSeqs = 16384, 1024
	case g.Memory >= 70*gib && g.Name != "a100-80g":
		o.MaxTokens, o.MaxSeqs = 8192, 1024
	default:
		o.MaxTokens, o.MaxSeqs = 2048, 256
	}
	return o
}

// AnswerLength is how many tokens the model answers with, left to itself, to
// the prompt of a fingerprint.
func (o Options) AnswerLength(fingerprint uint64) int64 {
	return text.Length(core.Mix(o.Seed, fingerprint), o.MeanOutput)
}
