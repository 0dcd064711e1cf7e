package fault

import (
	"fmt"
	"strings"
)

// Kind says where a fault strikes.
type Kind string

// The kinds.
const (
	OnRequest Kind = "request" // single requests: share, count, seed and X-Sim-Fault apply
	OnEngine  Kind = "engine"  // the engine's steps, while the window lasts
	OnServer  Kind = "server"  // the process or its metrics page, while the window lasts
)

// Parameter is a number that a fault takes.
type Parameter struct {
	Name    string  `json:"name"`
	Default float64 `json:"default"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Seconds bool    `json:"seconds,omitempty"` // a duration: 5s, 200ms or a number of seconds
	About   string  `json:"about"`
}

// Definition is one fault of the table.
type Definition struct {
	Name       string      `json:"fault"`
	Kind       Kind        `json:"kind"`
	Does       string      `json:"does"`
	Client     string      `json:"client"` // what a client should see
	Parameters []Parameter `json:"parameters,omitempty"`
}

func nth(about string) Parameter {
	return Parameter{Name: "chunk", Default: 2, Low: 1, High: 1e6, About: about}
}

func restart(after float64) Parameter {
	return Parameter{Name: "restart", Default: after, High: 1e6, Seconds: true, About: "from death to the next life; 0: none"}
}

// Table returns every fault there is.
func Table() []Definition {
	return []Definition{
		{"usage_wrong", OnRequest, "the usage's count of output tokens is off", "usage unlike the client's own count",
			[]Parameter{{Name: "by", Default: 7, Low: -1e6, High: 1e6, About: "tokens added, at least down to 0"}}},
		{"usage_missing", OnRequest, "the usage is left out", "no usage: note usage_missing", nil},
		{"chunk_missing", OnRequest, "a content chunk is lost", "fewer tokens received than the usage counts", []Parameter{nth("number of the lost content chunk")}},
		{"chunk_duplicate", OnRequest, "a content chunk comes twice", "more tokens received than the usage counts: note usage_below_chunks", []Parameter{nth("number of the doubled content chunk")}},
		{"chunk_reorder", OnRequest, "two content chunks change places", "another text than without the fault, the same usage", []Parameter{nth("number of the first of the two")}},
		{"no_end", OnRequest, "the stream's last event is left out", "a whole answer without its end marker: violation no_terminator", nil},
		{"split_utf8", OnRequest, "a two-byte character is added, its bytes in two chunks", "note split_utf8; the joined text is valid", []Parameter{nth("number of the content chunk with the first byte")}},
		{"error_after_200", OnRequest, "an error object comes inside the stream, then the end marker", "outcome stream_error under status 200",
			[]Parameter{{Name: "after", Default: 2, High: 1e6, About: "content chunks before it"}}},
		{"cut", OnRequest, "the connection is closed inside the stream", "outcome stream_broken: the body ends too early",
			[]Parameter{{Name: "after", Default: 2, High: 1e6, About: "content chunks before it"}}},
		{"ignore_max_tokens", OnRequest, "the limit of the answer is not kept", "more output tokens than asked for: note over_max_tokens",
			[]Parameter{{Name: "times", Default: 2, Low: 1, High: 1000, About: "length of the answer over the limit"}}},
		{"ignore_stop", OnRequest, "stop strings are not kept", "text goes on after a stop string: note stop_ignored", nil},
		{"ignore_n", OnRequest, "one answer whatever n", "fewer choices than asked for: note missing_choices", nil},
		{"truncate_prompt", OnRequest, "the front of each prompt text is dropped and nobody told", "prompt tokens of the usage below the client's own count",
			[]Parameter{{Name: "keep", Default: 0.5, Low: 0.01, High: 1, About: "share of the prompt that is kept"}}},
		{"unstable", OnRequest, "the answer hangs on chance, also at temperature zero", "another text for the same request and seed", nil},
		{"garbage", OnRequest, "the weights are corrupt", "text without sense: exclamation marks", nil},
		{"cache_poison", OnRequest, "the answer is that of another session, and cache salts do not keep sessions apart", "text that answers another prompt; cached tokens across salts", nil},
		{"buffered", OnRequest, "something on the way holds the stream back and sends it in one piece", "TTFT near E2E, chunks all at once: note buffered", nil},
		{"refuse", OnRequest, "the request is refused", "the status, with Retry-After where it is given",
			[]Parameter{{Name: "status", Default: 429, Low: 400, High: 599, About: "HTTP status"}, {Name: "retry_after", High: 1e6, Seconds: true, About: "whole seconds in Retry-After; 0: no such field"}}},
		{"rate_limit", OnRequest, "a limit of requests and tokens a minute, as a token bucket", "x-ratelimit-* fields in every answer; 429 over the limit",
			[]Parameter{{Name: "rpm", Default: 60, Low: 1, High: 1e9, About: "requests a minute"}, {Name: "tpm", High: 1e12, About: "prompt tokens a minute, four bytes of the body each; 0: no limit"},
				{Name: "burst", Default: 10, Low: 1, High: 3600, Seconds: true, About: "how long unused rate is kept"}, {Name: "hint", Default: 1, High: 1, About: "1: with Retry-After, 0: without"}}},
		{"loading", OnServer, "the model is being loaded, from the start of each life", "503 of every route, /health included",
			[]Parameter{{Name: "time", Default: 20, Low: 0.001, High: 1e6, Seconds: true, About: "of loading"}}},
		{"frozen_metrics", OnServer, "the metrics page stands still", "counters that do not move while requests end", nil},
		{"ttft_without_queue", OnEngine, "the TTFT metric leaves the queue out", "a TTFT at /metrics below the client's", nil},
		{"false_hits", OnEngine, "prefix hits are counted, yet computed again", "cached tokens in the usage, TTFT as without a cache", nil},
		{"head_of_line", OnEngine, "nothing waiting is taken in while the running go on", "TTFT up to the window's length, ITL as before", nil},
		{"freeze", OnEngine, "nothing is computed", "a gap as long as the window in every stream", nil},
		{"nccl_stall", OnEngine, "a collective never returns: nothing is computed until a watchdog ends the process at the window's end", "streams stand still while /health is well, then connections are reset",
			[]Parameter{restart(10)}},
		{"preemption_storm", OnEngine, "most of the KV cache is out of use, so that running requests preempt each other", "preemptions at /metrics and in the log, long gaps in streams",
			[]Parameter{{Name: "blocks", Default: 0.9, Low: 0, High: 0.999, About: "share of the KV blocks out of use"}}},
		{"neighbour", OnEngine, "a second tenant uses the device by turns", "ITL and TTFT stretched in some stretches of time",
			[]Parameter{{Name: "slowdown", Default: 1.8, Low: 1, High: 1000, About: "of steps while the neighbour computes"}, {Name: "busy", Default: 0.5, High: 1, About: "share of periods in which it computes"},
				{Name: "period", Default: 1, Low: 0.001, High: 1e6, Seconds: true, About: "length of its turns"}}},
		{"leak", OnEngine, "KV blocks leak until one sequence finds no room, and the device's free memory at the same pace; then the process dies of it", "KV usage and framebuffer that only rise, preemptions, then connections reset, /health too, counters from zero after the restart",
			[]Parameter{{Name: "rate", Default: 0.01, Low: 1e-9, High: 1e3, About: "share of the KV blocks that leaks in a second"}, restart(10)}},
		{"crash", OnServer, "the process dies once, at the window's beginning", "connections reset, /health too, counters from zero after the restart", []Parameter{restart(10)}},
	}
}

// find returns the definition of a name.
func find(name string) (Definition, bool) {
	for _, d := range Table() {
		if d.Name == name {
			return d, true
		}
	}
	return Definition{}, false
}

// Row is a fault's line in a Markdown table: what it does, its parameters with
// their defaults, and what a client should see.
func Row(d Definition) string {
	var own []string
	for _, p := range d.Parameters {
		unit := ""
		if p.Seconds {
			unit = "s"
		}
		own = append(own, fmt.Sprintf("`%s=%v%s`: %s", p.Name, p.Default, unit, p.About))
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |", d.Name, d.Does, strings.Join(own, "; "), d.Client)
}
