package spans

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
)

// span is a span in OTLP's JSON.
type span struct {
	Trace      string      `json:"traceId"`
	ID         string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Status     struct{}    `json:"status"`
}

// server is OTLP's number of the kind of span that answers a remote caller.
const server = 2

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

// value is OTLP's union; 64-bit integers are strings in its JSON.
type value struct {
	String *string      `json:"stringValue,omitempty"`
	Int    *string      `json:"intValue,omitempty"`
	Double *json.Number `json:"doubleValue,omitempty"`
}

func text(s string) value { return value{String: &s} }

func whole(n int64) value {
	s := strconv.FormatInt(n, 10)
	return value{Int: &s}
}

func number(x float64) value {
	n := json.Number(strconv.FormatFloat(x, 'g', -1, 64))
	return value{Double: &n}
}

// parent is what a traceparent header says.
type parent struct {
	trace, span string
	sampled     bool
}

// parse reads a traceparent (W3C Trace Context, level 1).
func parse(header string) (p parent, ok bool) {
	f := strings.Split(header, "-")
	if len(f) < 4 || f[0] == "00" && len(f) != 4 || f[0] == "ff" || !lowHex(f[0], 1) || !lowHex(f[1], 16) || !lowHex(f[2], 8) || !lowHex(f[3], 1) {
		return parent{}, false
	}
	if strings.Trim(f[1], "0") == "" || strings.Trim(f[2], "0") == "" {
		return parent{}, false
	}
	flags, err := strconv.ParseUint(f[3], 16, 8)
	if err != nil {
		return parent{}, false
	}
	return parent{trace: f[1], span: f[2], sampled: flags&1 == 1}, true
}

// lowHex tells whether s is n bytes in lower-case hexadecimal.
func lowHex(s string, n int) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 2*n && s == strings.ToLower(s)
}

// of makes the spans of a request that has ended: one for each sequence that
// was not aborted, as vLLM has them. A caller that does not sample gets none.
func of(x *face.Exchange, h http.Header) []span {
	p, ok := parse(h.Get("traceparent"))
	switch {
	case !ok:
		p.trace = fmt.Sprintf("%016x%016x", rand.Uint64()|1, rand.Uint64())
	case !p.sampled:
		return nil
	}
	var out []span
	for i := range x.Choices {
		st := x.Choices[i].Stats()
		if st.Finish != core.Stop && st.Finish != core.Length {
			continue
		}
		out = append(out, span{Trace: p.trace, ID: fmt.Sprintf("%016x", rand.Uint64()|1), Parent: p.span, Name: "llm_request", Kind: server,
			Start: strconv.FormatInt(x.Unix(st.Arrived), 10), End: strconv.FormatInt(x.Unix(st.Ended), 10), Attributes: attributes(x, st)})
	}
	return out
}

// attributes are vLLM's; times are in s.
func attributes(x *face.Exchange, st *core.Stats) []attribute {
	s := func(ns int64) value { return number(float64(ns) / 1e9) }
	ask := x.Asked()
	limit := ask.MaxTokens
	if limit == 0 {
		limit = x.MaxModelLen() - st.Prompt
	}
	orOne := func(v *float64) value {
		if v == nil {
			return number(1)
		}
		return number(*v)
	}
	list := []attribute{
		{"gen_ai.latency.time_to_first_token", s(st.FirstToken - st.Arrived)},
		{"gen_ai.latency.e2e", s(st.Ended - st.Arrived)},
		{"gen_ai.latency.time_in_queue", s(st.Scheduled - st.Queued)},
		{"gen_ai.usage.prompt_tokens", whole(st.Prompt)},
		{"gen_ai.usage.completion_tokens", whole(st.Output)},
		{"gen_ai.latency.time_in_model_prefill", s(st.FirstToken - st.Scheduled)},
		{"gen_ai.latency.time_in_model_decode", s(st.LastToken - st.FirstToken)},
		{"gen_ai.latency.time_in_model_inference", s(st.LastToken - st.Scheduled)},
		{"gen_ai.request.id", text(x.ID)},
		{"gen_ai.request.top_p", orOne(ask.TopP)},
		{"gen_ai.request.max_tokens", whole(limit)},
		{"gen_ai.request.temperature", orOne(ask.Temperature)},
		{"gen_ai.request.n", whole(int64(max(ask.N, 1)))},
	}
	if st.Preempted > 0 {
		list = append(list, attribute{"sim.preemptions", whole(st.Preempted)})
	}
	return list
}
