package sim

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/fault"
	"github.com/tokamak-bench/tokamak/sim/hardware"
)

// Scheme starts the URL of a simulated engine.
const Scheme = "sim://"

// ParseTarget reads sim://MODEL@GPU?parameter=value&…: a model of the
// catalogue or the path of a config.json, a GPU of the catalogue or the path of
// a YAML file. What is left out is llama3-8b, a100-80g and the engine's
// defaults. An error names what is unknown and the nearest valid name.
func ParseTarget(target string) (Options, error) {
	rest, ok := strings.CutPrefix(target, Scheme)
	if !ok {
		return Options{}, fmt.Errorf("%q does not start with %s", target, Scheme)
	}
	rest, query, _ := strings.Cut(rest, "?")
	name, device := rest, ""
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		name, device = rest[:i], rest[i+1:]
	}
	if name == "" {
		name = "llama3-8b"
	}
	if device == "" {
		device = "a100-80g"
	}
	m, err := catalog.FindModel(name)
	if err != nil {
		return Options{}, err
	}
	g, err := catalog.FindAccelerator(device)
	if err != nil {
		return Options{}, err
	}
	o := Default(m, g)
	values, err := url.ParseQuery(query)
	if err != nil {
		return Options{}, fmt.Errorf("parameters of %s: %w", target, err)
	}
	return o, o.Set(values)
}

// Set applies parameters by name; dashes and underscores mean the same.
func (o *Options) Set(values url.Values) error {
	table := parameters(o)
	names := ParameterNames()
	keys := make([]string, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, first) // the first error must not depend on chance
	for _, k := range keys {
		name := strings.ReplaceAll(k, "-", "_")
		set, ok := table[name]
		if !ok {
			return fmt.Errorf("unknown parameter %q: did you mean %q? known: %s", k, catalog.Nearest(name, names), strings.Join(names, ", "))
		}
		if len(values[k]) != 1 && name != "fault" {
			return fmt.Errorf("parameter %q is given %d times", k, len(values[k]))
		}
		for _, v := range values[k] {
			if err := set(v); err != nil {
				return fmt.Errorf("parameter %s=%s: %w", k, v, err)
			}
		}
	}
	o.backing()
	return nil
}

// ParameterNames are the names of all parameters of a target, in order.
func ParameterNames() []string { return slices.Sorted(maps.Keys(parameters(&Options{}))) }

func parameters(o *Options) map[string]func(string) error {
	return map[string]func(string) error{
		"engine":                 o.setEngine("vllm", "sglang", "tgi", "llamacpp", "ollama", tritonEngine),
		"engine_version":         func(s string) error { o.EngineVersion = s; return nil },
		"scheduler":              o.setScheduler,
		"max_requests":           integer(&o.MaxRequests, 0, 1<<30),
		"waiting_served_ratio":   number(&o.WaitingServedRatio, 0, 100),
		"max_waiting_tokens":     integer(&o.MaxWaitingTokens, 0, 1<<20),
		"speculative_tokens":     integer(&o.SpeculativeTokens, 0, 64),
		"dp":                     integer(&o.DP, 1, 1024),
		"router":                 o.setRouter,
		"lora":                   o.setAdapters,
		"acceptance":             number(&o.Acceptance, 0, 1),
		"seed":                   unsigned(&o.Seed),
		"tp":                     integer(&o.TP, 1, 1024),
		"dtype":                  precision(&o.Weights, hardware.BF16, hardware.FP8, hardware.FP4, hardware.INT4),
		"kv_dtype":               precision(&o.KV, hardware.BF16, hardware.FP8),
		"served_model_name":      func(s string) error { o.Served = s; return nil },
		"max_num_seqs":           integer(&o.MaxSeqs, 1, 1<<20),
		"max_num_batched_tokens": integer(&o.MaxTokens, 1, 1<<24),
		"max_model_len":          integer(&o.MaxModelLen, 2, 1<<27),
		"block_size":             integer(&o.BlockSize, 1, 4096),
		"num_gpu_blocks":         integer(&o.Blocks, 2, 1<<26),
		"gpu_memory_utilization": number(&o.MemoryUtilization, 0.01, 1),
		"prefix_caching":         boolean(&o.PrefixCache),
		"chunked_prefill":        boolean(&o.ChunkedPrefill),
		"prompt_must_fit":        boolean(&o.PromptMustFit),
		"long_prefill_threshold": integer(&o.LongPrefill, 0, 1<<24),
		"mean_output":            number(&o.MeanOutput, 1, 1e6),
		"freeze":                 o.Faults.setFreeze,
		"fail":                   o.Faults.setFail,
		"reject":                 o.Faults.setReject,
		"fault":                  o.Faults.add,
	}
}

func oneOf(to *string, names ...string) func(string) error {
	return func(s string) error {
		if !slices.Contains(names, s) {
			return fmt.Errorf("expected %s", strings.Join(names, ", "))
		}
		*to = s
		return nil
	}
}

func precision(to *hardware.Precision, known ...hardware.Precision) func(string) error {
	return func(s string) error {
		s = strings.ToLower(s)
		switch s {
		case "bfloat16", "float16", "fp16", "half", "auto":
			s = string(hardware.BF16)
		}
		if !slices.Contains(known, hardware.Precision(s)) {
			return fmt.Errorf("expected one of %v", known)
		}
		*to = hardware.Precision(s)
		return nil
	}
}

func unsigned(to *uint64) func(string) error {
	return func(s string) (err error) {
		if *to, err = strconv.ParseUint(s, 10, 64); err != nil {
			return fmt.Errorf("expected a whole number from 0")
		}
		return nil
	}
}

func integer[T int | int64](to *T, low, high int64) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < low || n > high {
			return fmt.Errorf("expected a whole number from %d to %d", low, high)
		}
		*to = T(n)
		return nil
	}
}

func number(to *float64, low, high float64) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || !(n >= low && n <= high) {
			return fmt.Errorf("expected a number from %v to %v", low, high)
		}
		*to = n
		return nil
	}
}

func boolean(to *bool) func(string) error {
	return func(s string) (err error) {
		if *to, err = strconv.ParseBool(s); err != nil {
			return fmt.Errorf("expected true or false")
		}
		return nil
	}
}

// add reads NAME or NAME:key=value,….
func (f *Faults) add(s string) error {
	one, err := fault.Parse(s)
	if err == nil {
		f.List = append(f.List, one)
	}
	return err
}

// setFreeze reads AT:DURATION.
func (f *Faults) setFreeze(s string) error {
	at, long, ok := strings.Cut(s, ":")
	a, err1 := time.ParseDuration(at)
	d, err2 := time.ParseDuration(long)
	if !ok || err1 != nil || err2 != nil || a < 0 || d <= 0 || a > 1000*time.Hour || d > 1000*time.Hour {
		return fmt.Errorf("expected AT:DURATION with units, as in 5s:2s")
	}
	f.FreezeAt, f.FreezeFor = a, d
	return nil
}

// setFail reads SHARE or SHARE:STATUS.
func (f *Faults) setFail(s string) error {
	share, status, ok := strings.Cut(s, ":")
	n := int64(500)
	if ok {
		if err := integer(&n, 400, 599)(status); err != nil {
			return fmt.Errorf("status %q: %w", status, err)
		}
	}
	f.FailStatus = int(n)
	return setShare(&f.Fail, share)
}

// setReject reads SHARE or SHARE:SECONDS for Retry-After.
func (f *Faults) setReject(s string) error {
	share, seconds, ok := strings.Cut(s, ":")
	if ok {
		if err := integer(&f.RetryAfter, 0, 1<<20)(seconds); err != nil {
			return fmt.Errorf("seconds of Retry-After %q: %w", seconds, err)
		}
	}
	return setShare(&f.Reject, share)
}

// setShare reads K/N, a number from 0 to 1, or a percentage (in a URL: 10%25).
func setShare(to *core.Share, s string) error {
	k, n, ok := strings.Cut(s, "/")
	if ok {
		if integer(&to.N, 1, 1<<30)(n) != nil || integer(&to.K, 0, to.N)(k) != nil {
			return fmt.Errorf("expected K/N, as in 250/256")
		}
		return nil
	}
	digits, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(digits, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return fmt.Errorf("expected a share from 0 to 1, as 250/256 or 0.1")
	}
	*to = core.Share{K: int64(v*1e6 + 0.5), N: 1e6}
	return nil
}
