package dialect

func inferencePerf() Dialect {
	stamped := func(r *request) bool { return stamps(r, Text) > 1 }
	r := Rules{
		Fails:  failsOn("whatever came with a 200 is a success: an error object, a cut stream, nothing", false),
		Start:  fromSend(),
		Sees:   sees("text alone is output: reasoning and tool calls are not", Text),
		End:    atClose(),
		Output: countedElseUsage(),
		Input:  promptByUsage(),
		TTFT: perRequestRule{"a response of one token has no TTFT", func(r *request, s *seen) (float64, float64, bool) {
			if s.first == absent || s.start == absent || !stamped(r) {
				return 0, 0, false
			}
			return float64(s.first - s.start), 1, true
		}},
		TPOT: perRequestRule{"TPOT is (last token − first) ÷ (tokens − 1)", func(r *request, s *seen) (float64, float64, bool) {
			if s.first == absent || s.output <= 1 || !stamped(r) {
				return 0, 0, false
			}
			return float64(s.last-s.first) / float64(s.output-1), 1, true
		}},
		ITL:     Rule[latency]{"ITL gives all tokens of an event its time: gaps inside are 0", latency{gaps: tokenStamps}},
		Carried: successes(),
		Window: Rule[window]{"rates divide by the time from the first start to the last end of anything", window{
			of: func(r *request, s *seen, _ bool) (int64, int64, bool) { return s.start, r.ended, true }}},
		Quantile: linear(),
		Good: goodputRule{"goodput is a share of successes, over the time of successes alone", goodput{takes: []string{"ttft", "tpot", "itl", "e2e"},
			absentIs: unmet, own: true, share: func(n *counts) int { return n.ok }}},
	}
	p := []Print{
		{"requests.ok", "successes.count", "", 0},
		{"requests.failed", "failures.count", "", 0},
		{"duration", "benchmark_time_seconds", "s", 3},
		{"request_rate", "successes.throughput.requests_per_sec", "req/s", 3},
		{"input_rate", "successes.throughput.input_tokens_per_sec", "tok/s", 3},
		{"output_rate", "successes.throughput.output_tokens_per_sec", "tok/s", 3},
		{"total_rate", "successes.throughput.total_tokens_per_sec", "tok/s", 3},
		{"goodput", "successes.goodput_metrics.request_goodput", "req/s", 3},
		{"goodput_share", "successes.goodput_metrics.goodput_percentage", "%", 3},
	}
	for _, w := range []named{{"ttft", "time_to_first_token"}, {"tpot", "time_per_output_token"}, {"itl", "inter_token_latency"}, {"e2e", "request_latency"}} {
		for _, s := range []named{{"mean", "mean"}, {"p50", "median"}, {"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"}, {"max", "max"}} {
			p = append(p, Print{w.metric + "." + s.metric, "successes.latency." + w.word + "." + s.word, "s", 6})
		}
	}
	return Dialect{Name: "inference-perf", Tool: "inference-perf", Version: "0.7.0", Rules: r, Prints: p,
		Lacks: map[string]string{"icl": "its ITL is pooled over tokens", "output_peak": "it has no peak"}}
}

func aiperf() Dialect {
	r := Rules{
		Fails:  failsOn("an error object inside a 200 that brought content is a success; so is a cut stream", true),
		Start:  fromSend(),
		Sees:   sees("text, reasoning and tool calls are output", Text|Reasoning|Tool),
		End:    atLastOutput(),
		Output: countedElseUsage(),
		Input:  promptByClient(),
		TTFT:   ttft("a TTFT that was not measured is left out", leftOut),
		ITL: Rule[latency]{"ITL is one mean a request, (last event − first) ÷ (tokens − 1): a stall does not show", latency{one: func(_ *request, s *seen) (float64, float64, bool) {
			if s.output < 2 || s.first == absent {
				return 0, 0, false
			}
			return float64(s.last-s.first) / float64(s.output-1), 1, true
		}}},
		ICL:     Rule[latency]{"ICL is the gap between events", latency{gaps: eventGaps}},
		Carried: successes(),
		Window: Rule[window]{"rates divide by the time from the first start to the last output of successes", window{
			of: func(_ *request, s *seen, ok bool) (int64, int64, bool) { return s.start, s.end, ok }}},
		Quantile: linear(),
		Good: goodputRule{"goodput holds its ITL against an objective on TPOT; its share is of successes and failures", goodput{takes: []string{"ttft", "tpot", "itl", "e2e"},
			tpot: ofITL, absentIs: unmet, share: func(n *counts) int { return n.ok + n.failed }}},
	}
	p := []Print{
		{"requests.ok", "Request Count", "", 0},
		{"requests.failed", "Error Request Count", "", 0},
		{"duration", "Benchmark Duration", "s", 2},
		{"request_rate", "Request Throughput", "req/s", 2},
		{"output_rate", "Output Token Throughput", "tok/s", 2},
		{"total_rate", "Total Token Throughput", "tok/s", 2},
		{"goodput", "Goodput", "req/s", 2},
		{"goodput_share", "Good Request Fraction", "%", 2},
	}
	for _, w := range []named{{"ttft", "Time to First Token"}, {"e2e", "Request Latency"}, {"itl", "Inter Token Latency"}, {"icl", "Inter Chunk Latency"}} {
		for _, s := range []named{{"mean", "avg"}, {"p50", "p50"}, {"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"}, {"max", "max"}} {
			p = append(p, Print{w.metric + "." + s.metric, w.word + " " + s.word, "ms", 2})
		}
	}
	return Dialect{Name: "aiperf", Tool: "AIPerf", Version: "0.13.0", Rules: r, Prints: p,
		Lacks: map[string]string{"tpot": "it calls the mean time of a token ITL", "output_peak": "it has no peak", "input_rate": "it prints output and total"}}
}

func evalscope() Dialect {
	r := byEvent()
	r.Fails = failsOn("a stream without terminator or finish is a success, even one without output", false, inBand)
	r.Sees = sees("text, reasoning and tool calls are output", Text|Reasoning|Tool)
	r.End = atLastData()
	r.TTFT = ttft("a TTFT that was not measured is 0", zero)
	r.TPOT = afterFirst("TPOT is (last data event − first output event) ÷ (tokens − 1)", true)
	r.Window = Rule[window]{"rates divide by the time from the first start to the last data event of streams that opened", window{
		of: func(r *request, s *seen, _ bool) (int64, int64, bool) {
			opened := r.ending == whole || r.ending == garbled || r.ending == inBand
			return s.start, s.end, opened && s.end != absent && s.end >= s.start
		}}}
	r.Quantile = ceiling()
	r.Good = goodputRule{"", goodput{}}
	p := []Print{
		{"requests.ok", "Success Requests", "", 0},
		{"requests.failed", "Failed Requests", "", 0},
		{"duration", "Test Duration (s)", "s", 4},
		{"request_rate", "Req Throughput (req/s)", "req/s", 4},
		{"output_rate", "Output Throughput (tok/s)", "tok/s", 4},
		{"total_rate", "Total Throughput (tok/s)", "tok/s", 4},
		{"ttft.mean", "Avg TTFT (ms)", "ms", 2},
		{"tpot.mean", "Avg TPOT (ms)", "ms", 2},
		{"itl.mean", "Avg ITL (ms)", "ms", 2},
		{"e2e.mean", "Avg Latency (s)", "s", 4},
	}
	for _, w := range []struct{ metric, word, unit string }{{"ttft", "TTFT (ms)", "ms"}, {"tpot", "TPOT (ms)", "ms"}, {"itl", "ITL (ms)", "ms"}, {"e2e", "Latency (s)", "s"}} {
		for _, s := range []named{{"p50", "50%"}, {"p90", "90%"}, {"p95", "95%"}, {"p99", "99%"}, {"max", "max"}} {
			p = append(p, Print{w.metric + "." + s.metric, w.word + " " + s.word, w.unit, 4})
		}
	}
	return Dialect{Name: "evalscope", Tool: "EvalScope", Version: "1.14.1", Rules: r, Prints: p,
		Lacks: map[string]string{"icl": noICL, "goodput": "it prints no goodput", "goodput_share": "it prints no goodput",
			"output_peak": "it has no peak", "input_rate": "it prints output and total"}}
}

// loadgen is the Server scenario with token latencies. Whole nanoseconds are
// divided as it does.
func loadgen() Dialect {
	tokens := func(s *seen) int64 {
		if s.output == 1 {
			return 0 // it takes one for an error of the system under test
		}
		return max(s.output, 0)
	}
	r := Rules{
		Fails: failsOn("every sample must complete", true, garbled, inBand),
		Start: Rule[func(*request) int64]{"counts latency from the scheduled time", func(r *request) int64 { return r.intended }},
		Sees:  sees("output is what the system under test says it is: text, reasoning, tool calls", Content),
		End:   atLastOutput(),
		Output: tokenRule{"tokens are what the system under test says; one token counts as none", func(r *request, s *seen) int64 {
			n := *s
			n.output = firstKnown(int64(r.usage), int64(r.counted))
			return tokens(&n)
		}},
		Input: promptByUsage(),
		TTFT:  ttft("a TTFT that was not measured is left out", leftOut),
		TPOT: perRequestRule{"TPOT is (end − first token) ÷ (tokens − 1) in whole nanoseconds", func(_ *request, s *seen) (float64, float64, bool) {
			if s.first == absent || s.end == absent || s.output == 1 {
				return 0, 0, false
			}
			return float64((s.end - s.first) / (s.output - 1)), 1, true
		}},
		Carried: successes(),
		Window: Rule[window]{"rates divide by the time from the start to the last completion, and the last request is not counted", window{begins: true, less: 1,
			of: func(_ *request, s *seen, ok bool) (int64, int64, bool) { return s.start, s.end, ok }}},
		Quantile: truncated(),
		Good:     goodputRule{"", goodput{}},
	}
	p := []Print{
		{"request_rate", "Completed samples per second", "req/s", 2},
		{"output_rate", "Completed tokens per second", "tok/s", 2},
	}
	for _, w := range []named{{"e2e", "latency (ns)"}, {"ttft", "First Token latency (ns)"}, {"tpot", "Time per Output Token (ns)"}} {
		for _, s := range []named{{"mean", "Mean"}, {"p50", "50.00 percentile"}, {"p90", "90.00 percentile"}, {"p95", "95.00 percentile"}, {"p99", "99.00 percentile"}, {"max", "Max"}} {
			p = append(p, Print{w.metric + "." + s.metric, s.word + " " + w.word, "ns", 0})
		}
	}
	return Dialect{Name: "loadgen", Tool: "MLPerf LoadGen (Server)", Version: "6.0.17", Rules: r, Prints: p,
		Needs: func(n *counts) string {
			if n.failed+n.stopped > 0 {
				return "LoadGen ends a test only when every sample has completed"
			}
			return ""
		},
		Lacks: map[string]string{"itl": "it knows the first token and the end alone", "icl": "it knows the first token and the end alone",
			"goodput": "it says VALID or INVALID", "goodput_share": "it says VALID or INVALID", "output_peak": "it has no peak",
			"total_rate": "it does not count prompts", "input_rate": "it does not count prompts", "duration": "it does not print it",
			"requests.ok": "it prints no count", "requests.failed": "it has no failure"}}
}
