package acceptance

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"
)

// otlpSpan is what the test reads of a span.
type otlpSpan struct {
	Trace, Parent string
	Tokens        int64
	TTFT          float64
}

// collector keeps the spans that are posted to it.
type collector struct {
	mu    sync.Mutex
	spans []otlpSpan
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var m struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID      string `json:"traceId"`
					ParentSpanID string `json:"parentSpanId"`
					Attributes   []struct {
						Key   string
						Value struct {
							IntValue    string
							DoubleValue float64
						}
					}
				}
			}
		}
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range m.ResourceSpans {
		for _, sc := range r.ScopeSpans {
			for _, s := range sc.Spans {
				o := otlpSpan{Trace: s.TraceID, Parent: s.ParentSpanID}
				for _, a := range s.Attributes {
					switch a.Key {
					case "gen_ai.usage.completion_tokens":
						o.Tokens, _ = strconv.ParseInt(a.Value.IntValue, 10, 64)
					case "gen_ai.latency.time_to_first_token":
						o.TTFT = a.Value.DoubleValue
					}
				}
				c.spans = append(c.spans, o)
			}
		}
	}
}

// wait returns the spans once there are n.
func (c *collector) wait(n int) []otlpSpan {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c.mu.Lock()
		list := append([]otlpSpan(nil), c.spans...)
		c.mu.Unlock()
		if len(list) >= n || time.Now().After(deadline) {
			return list
		}
	}
}

// The traceparent that each request of a run carries is the parent of the
// engine's span, whose counts are the client's and whose time to the first token
// is within what the client saw.
func TestSpansBelongToTheRunsRequests(t *testing.T) {
	c := &collector{}
	server := httptest.NewServer(c)
	defer server.Close()
	e := startEngine(t, "sim://llama3-8b@a100-80g", "--otlp-endpoint", server.URL)
	o := run(t, "--url", e.url, "--rate", "20", "--duration", "2s", "--output-tokens", "uniform:1..30", "--inconclusive-ok")
	rows := attempts(t, o.dir)
	spans := map[string]otlpSpan{}
	for _, s := range c.wait(len(rows)) {
		spans[s.Trace] = s
	}
	if len(rows) == 0 || len(spans) != len(rows) {
		t.Fatalf("%d requests, %d spans", len(rows), len(spans))
	}
	for _, a := range rows {
		s, ok := spans[a.TraceID]
		switch {
		case !ok:
			t.Errorf("no span of trace %q", a.TraceID)
		case s.Parent != a.TraceID[16:]:
			t.Errorf("the parent is %q, the request's span %q", s.Parent, a.TraceID[16:])
		case s.Tokens < 1 || s.Tokens > 30 || s.TTFT <= 0:
			t.Errorf("%+v", s)
		}
	}
}
