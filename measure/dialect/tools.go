package dialect

// Dialect is one version of one tool.
type Dialect struct {
	Name    string // as --dialect takes it
	Tool    string // as people call it
	Version string // the version whose source the rules were read from
	Rules   Rules
	// Prints are the figures that the tool prints, in its own names and units.
	Prints []Print
	// Lacks says of metrics that other tools print why this one has none.
	Lacks map[string]string
	// Needs says why the tool prints nothing of a run at all; nil: it prints
	// something of every run.
	Needs func(n *counts) string
}

// Print is one figure in the terms of a tool.
type Print struct {
	Metric   string // see Metrics
	Name     string // as the tool prints it
	Unit     string // ms, s, ns, req/s, tok/s, tok, %, or none for a count
	Decimals int    // to which it rounds
}

// Dialects returns every dialect, in the order of the documents.
func Dialects() []Dialect {
	return []Dialect{vllm(), vllmRust(), vllmBench(), sglang(), guidellm(), inferencePerf(), aiperf(), evalscope(), loadgen()}
}

// Find returns the dialect called name.
func Find(name string) (Dialect, bool) {
	for _, d := range Dialects() {
		if d.Name == name {
			return d, true
		}
	}
	return Dialect{}, false
}

type goodputRule = Rule[goodput]

func successes() Rule[func(*request, *seen, bool) carried] {
	return Rule[func(*request, *seen, bool) carried]{"rates count successes", func(_ *request, _ *seen, ok bool) carried {
		return carried{ok, ok, ok}
	}}
}

// wallClock is from the load's start to the last end of anything.
func wallClock() Rule[window] {
	return Rule[window]{"rates divide by the whole run, drain and tail included", window{begins: true,
		of: func(r *request, s *seen, _ bool) (int64, int64, bool) { return s.start, r.ended, true }}}
}

// byEvent is the kind of client that times events: latency from the send, TPOT
// (end − first) ÷ (n − 1), ITL the plain gap between events.
func byEvent() Rules {
	return Rules{
		Start:    fromSend(),
		End:      atLastOutput(),
		Output:   usageElseCounted(),
		Input:    promptByUsage(),
		TTFT:     ttft("a response without output fails", leftOut),
		TPOT:     afterFirst("TPOT is (end − first output event) ÷ (tokens − 1)", false),
		ITL:      Rule[latency]{"ITL is the gap between events, however many tokens one holds", latency{gaps: eventGaps}},
		Carried:  successes(),
		Window:   wallClock(),
		Quantile: linear(),
	}
}

func perWall() goodputRule {
	return goodputRule{"goodput divides good requests by the whole run; an answer of one token has a TPOT of 0",
		goodput{takes: []string{"ttft", "tpot", "e2e"}}}
}

const noICL = "it calls the gap between events ITL"

func vllm() Dialect {
	r := byEvent()
	r.Fails = failsOn("an error object inside a 200 is a success; so is a stream without terminator or finish", true, garbled)
	r.Sees = sees("text, reasoning and tool calls are output, and so is an empty text without a role", Text|Reasoning|Tool|Empty)
	r.Good = perWall()
	return Dialect{Name: "vllm", Tool: "vLLM bench", Version: "0.33.0", Rules: r,
		Prints: benchPrints(), Lacks: map[string]string{"icl": noICL, "goodput_share": "it prints the rate alone"}}
}

// benchPrints are the lines of vLLM bench with --percentile-metrics
// ttft,tpot,itl,e2el and --metric-percentiles 90,95,99.
func benchPrints() []Print {
	p := []Print{
		{"requests.ok", "Successful requests", "", 0},
		{"requests.failed", "Failed requests", "", 0},
		{"duration", "Benchmark duration (s)", "s", 2},
		{"input_tokens", "Total input tokens", "tok", 0},
		{"output_tokens", "Total generated tokens", "tok", 0},
		{"request_rate", "Request throughput (req/s)", "req/s", 2},
		{"goodput", "Request goodput (req/s)", "req/s", 2},
		{"output_rate", "Output token throughput (tok/s)", "tok/s", 2},
		{"output_peak", "Peak output token throughput (tok/s)", "tok/s", 2},
		{"total_rate", "Total token throughput (tok/s)", "tok/s", 2},
	}
	return append(p, latencyPrints([]named{{"ttft", "TTFT"}, {"tpot", "TPOT"}, {"itl", "ITL"}, {"e2e", "E2EL"}}, "ms", 2)...)
}

type named struct{ metric, word string }

func latencyPrints(words []named, unit string, decimals int) []Print {
	var p []Print
	for _, w := range words {
		for _, s := range []named{{"mean", "Mean"}, {"p50", "Median"}, {"p90", "P90"}, {"p95", "P95"}, {"p99", "P99"}} {
			p = append(p, Print{w.metric + "." + s.metric, s.word + " " + w.word + " (" + unit + ")", unit, decimals})
		}
	}
	return p
}

func vllmRust() Dialect {
	r := byEvent()
	r.Fails = failsOn("an error object inside a 200 is a success; so is a stream without terminator or finish", true)
	r.Sees = sees("every event that names a choice is output: role, empty text and finish too", Content|Role|Empty|Bare)
	r.Output = usageElseChunks()
	r.Input = promptByClient()
	r.Good = perWall()
	return Dialect{Name: "vllm-rust", Tool: "vLLM bench (Rust)", Version: "0.33.0", Rules: r,
		Prints: benchPrints(), Lacks: map[string]string{"icl": noICL, "goodput_share": "it prints the rate alone"}}
}

// vllmBench is the Rust client as it was before it moved into vLLM's tree.
func vllmBench() Dialect {
	d := vllmRust()
	d.Name, d.Tool, d.Version = "vllm-bench", "vllm-bench", "0.1.0"
	d.Rules.Fails = failsOn("whatever came with a 200 is a success, even nothing", false)
	d.Rules.End = endRule{"a response ends with its last data event, usage included", atLastData().Of}
	d.Rules.TTFT = ttft("a TTFT that was not measured is 0", zero)
	d.Rules.TPOT = afterFirst("TPOT is (usage event − first event) ÷ (tokens − 1)", true)
	return d
}

func sglang() Dialect {
	r := byEvent()
	r.Fails = failsOn("whatever came with a 200 is a success: an error object, a cut stream, nothing", false, garbled)
	r.Sees = sees("text and reasoning are output", Text|Reasoning)
	r.End = atClose()
	r.Output = usageElseAsked()
	r.Input = promptByClient()
	r.TTFT = ttft("a TTFT that was not measured is 0", zero)
	r.TPOT = afterFirst("TPOT is (terminator − first output event) ÷ (tokens − 1)", true)
	r.Good = goodputRule{"goodput's share is of all requests sent; an answer of one token has a TPOT of 0",
		goodput{takes: []string{"ttft", "tpot", "e2e"}, share: func(n *counts) int { return n.sent }}}
	p := []Print{
		{"requests.ok", "Successful requests", "", 0},
		{"duration", "Benchmark duration (s)", "s", 2},
		{"input_tokens", "Total input tokens", "tok", 0},
		{"output_tokens", "Total generated tokens", "tok", 0},
		{"request_rate", "Request throughput (req/s)", "req/s", 2},
		{"input_rate", "Input token throughput (tok/s)", "tok/s", 2},
		{"output_rate", "Output token throughput (tok/s)", "tok/s", 2},
		{"output_peak", "Peak output token throughput (tok/s)", "tok/s", 2},
		{"total_rate", "Total token throughput (tok/s)", "tok/s", 2},
		{"goodput", "Request goodput (req/s)", "req/s", 2},
		{"goodput_share", "SLO attainment (%)", "%", 2},
	}
	p = append(p, latencyPrints([]named{{"e2e", "E2E Latency"}, {"ttft", "TTFT"}, {"tpot", "TPOT"}, {"itl", "ITL"}}, "ms", 2)...)
	p = append(p, Print{"itl.max", "Max ITL (ms)", "ms", 2})
	return Dialect{Name: "sglang", Tool: "SGLang bench_serving", Version: "0.5.23", Rules: r, Prints: p,
		Lacks: map[string]string{"icl": noICL, "requests.failed": "it prints successes alone"}}
}

func guidellm() Dialect {
	r := Rules{
		Fails:  failsOn("a stream without terminator or finish is a success", true, garbled, inBand),
		Start:  fromWrite(),
		Sees:   sees("text, reasoning and tool calls are output", Text|Reasoning|Tool),
		End:    atClose(),
		Output: completedElseEvents(),
		Input:  promptByUsage(),
		TTFT:   ttft("a TTFT that was not measured is left out", leftOut),
		TPOT: perRequestRule{"TPOT is (last token − start) ÷ tokens, prefill included, weighted by tokens", func(r *request, s *seen) (float64, float64, bool) {
			last := s.last
			if last == absent {
				last = s.end
			}
			if s.start == absent || last == absent || s.output <= 0 {
				return 0, 0, false
			}
			return float64(last-s.start) / float64(s.output), float64(s.output), true
		}},
		ITL: Rule[latency]{"ITL is one mean a request, (last token − first) ÷ (tokens − 1), weighted by tokens: a stall does not show", latency{one: func(_ *request, s *seen) (float64, float64, bool) {
			if s.output <= 1 || s.first == absent {
				return 0, 0, false
			}
			return float64(s.last-s.first) / float64(s.output-1), float64(s.output - 1), true
		}}},
		Carried: Rule[func(*request, *seen, bool) carried]{"rates count every request that ended, failed ones too", func(*request, *seen, bool) carried {
			return carried{true, true, true}
		}},
		Window: Rule[window]{"rates divide by the time from the first start to the last end of anything", window{
			of: func(r *request, s *seen, _ bool) (int64, int64, bool) { return s.start, r.ended, true }}},
		Quantile: cumulative(),
		Good: goodputRule{"goodput leaves out what lacks a value; its share is of that and of failures, and it holds its ITL against an objective on TPOT",
			goodput{takes: []string{"ttft", "tpot", "e2e"}, tpot: ofITL, absentIs: undetermined,
				share: func(n *counts) int { return n.determined + n.failed }}},
	}
	p := []Print{
		{"requests.ok", "request_totals.successful", "", 0},
		{"requests.failed", "request_totals.errored", "", 0},
		{"request_rate", "requests_per_second.total.mean", "req/s", 1},
		{"output_rate", "output_tokens_per_second.total.mean", "tok/s", 1},
		{"input_rate", "prompt_tokens_per_second.total.mean", "tok/s", 1},
		{"total_rate", "tokens_per_second.total.mean", "tok/s", 1},
		{"goodput", "request_goodput.total.mean", "req/s", 1},
		{"goodput_share", "slo_attainment", "%", 1},
	}
	p = append(p, jsonPrints([]named{{"e2e", "request_latency"}}, "s", 3)...)
	p = append(p, jsonPrints([]named{{"ttft", "time_to_first_token_ms"}, {"itl", "inter_token_latency_ms"}, {"tpot", "time_per_output_token_ms"}}, "ms", 1)...)
	return Dialect{Name: "guidellm", Tool: "GuideLLM", Version: "0.8.1", Rules: r, Prints: p,
		Lacks: map[string]string{"icl": "it keeps no time of single events", "output_peak": "its maximum is of a rate between two events",
			"duration": "it prints the two ends"}}
}

func jsonPrints(words []named, unit string, decimals int) []Print {
	var p []Print
	for _, w := range words {
		for _, s := range []named{{"mean", "mean"}, {"p50", "median"}, {"p90", "percentiles.p90"}, {"p95", "percentiles.p95"}, {"p99", "percentiles.p99"}, {"max", "max"}} {
			p = append(p, Print{w.metric + "." + s.metric, w.word + ".successful." + s.word, unit, decimals})
		}
	}
	return p
}
