package spans

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTraceparent(t *testing.T) {
	const trace, span = "0123456789abcdef0123456789abcdef", "0123456789abcdef"
	for header, want := range map[string]parent{
		"00-" + trace + "-" + span + "-01":       {trace, span, true},
		"00-" + trace + "-" + span + "-00":       {trace, span, false},
		"00-" + trace + "-" + span + "-ff":       {trace, span, true},
		"cc-" + trace + "-" + span + "-01-later": {trace, span, true},
	} {
		got, ok := parse(header)
		if !ok || got != want {
			t.Errorf("%s: %+v %v", header, got, ok)
		}
	}
	for _, header := range []string{"", "x", "00-" + trace + "-" + span, "00-" + trace + "-" + span + "-01-x", "ff-" + trace + "-" + span + "-01",
		"00-" + strings.ToUpper(trace) + "-" + span + "-01", "00-" + strings.Repeat("0", 32) + "-" + span + "-01", "00-" + trace + "-0000000000000000-01",
		"00-" + trace[1:] + "-" + span + "-01", "00-" + trace + "-" + span + "-1", "0x-" + trace + "-" + span + "-01", "00-" + trace + "-" + span[2:] + "zz-01"} {
		if got, ok := parse(header); ok {
			t.Errorf("%q is taken as %+v", header, got)
		}
	}
}

func FuzzTraceparent(f *testing.F) {
	f.Add("00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
	f.Fuzz(func(t *testing.T, s string) {
		if p, ok := parse(s); ok && (len(p.trace) != 32 || len(p.span) != 16 || !strings.Contains(s, p.trace+"-"+p.span)) {
			t.Errorf("%q: %+v", s, p)
		}
	})
}

// posts is a collector that answers as told, the last answer again and again.
type posts struct {
	mu     sync.Mutex
	status []int
	bodies []string
	hold   chan struct{} // where set, answers wait for it
}

func (p *posts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	if p.hold != nil {
		<-p.hold
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bodies = append(p.bodies, string(b))
	w.WriteHeader(p.status[min(len(p.bodies), len(p.status))-1])
}

func exporter(t *testing.T, p *posts) *Exporter {
	t.Helper()
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	e, err := New(s.URL, "sim")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestMessage(t *testing.T) {
	p := &posts{status: []int{200}}
	e := exporter(t, p)
	e.put(span{Trace: "t", ID: "s", Name: "llm_request", Kind: server, Start: "1", End: "2", Attributes: []attribute{{"a", text("x")}, {"b", whole(3)}, {"c", number(1e-7)}}})
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"sim"}}]},"scopeSpans":[{"scope":{"name":"vllm.llm_engine"},"spans":[` +
		`{"traceId":"t","spanId":"s","name":"llm_request","kind":2,"startTimeUnixNano":"1","endTimeUnixNano":"2","attributes":[{"key":"a","value":{"stringValue":"x"}},` +
		`{"key":"b","value":{"intValue":"3"}},{"key":"c","value":{"doubleValue":1e-07}}],"status":{}}]}]}]}`
	if d := cmp.Diff([]string{want}, p.bodies); d != "" {
		t.Error(d)
	}
}

// A collector that is overloaded is asked again; one that refuses is not.
func TestRetries(t *testing.T) {
	p := &posts{status: []int{503, 429, 200}}
	e := exporter(t, p)
	e.put(span{})
	if err := e.Close(context.Background()); err != nil || len(p.bodies) != 3 {
		t.Errorf("%v after %d posts", err, len(p.bodies))
	}
	p = &posts{status: []int{400}}
	e = exporter(t, p)
	e.put(span{})
	if err := e.Close(context.Background()); err == nil || !strings.Contains(err.Error(), "1 of 1 spans") || !strings.Contains(err.Error(), "400") || len(p.bodies) != 1 {
		t.Errorf("%v after %d posts", err, len(p.bodies))
	}
}

// A collector that does not answer holds nobody up: the queue is bounded, what
// does not fit is counted, and Close ends when it must.
func TestADeafCollector(t *testing.T) {
	p := &posts{status: []int{200}, hold: make(chan struct{})}
	e := exporter(t, p)
	for range queued + 3*batch {
		e.put(span{}) // would hang here
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err := e.Close(ctx)
	close(p.hold)
	if err == nil || e.lost.Load() < batch {
		t.Errorf("%v, %d lost", err, e.lost.Load())
	}
}

func TestManySpansAreAllPosted(t *testing.T) {
	p := &posts{status: []int{200}}
	e := exporter(t, p)
	const n = 2*batch + 7
	for range n {
		e.put(span{})
	}
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := 0
	for _, b := range p.bodies {
		var m message
		if err := json.Unmarshal([]byte(b), &m); err != nil {
			t.Fatal(err)
		}
		k := len(m.Resources[0].Scopes[0].Spans)
		if k > batch {
			t.Errorf("%d spans in a post", k)
		}
		got += k
	}
	if got != n {
		t.Errorf("%d spans arrived, want %d", got, n)
	}
}

func TestEndpoints(t *testing.T) {
	for _, bad := range []string{"", "127.0.0.1:4318", "grpc://127.0.0.1:4317", "http://", "http://user:secret@127.0.0.1", "http://%zz"} {
		if _, err := New(bad, "x"); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for endpoint, want := range map[string]string{"http://127.0.0.1:1": "http://127.0.0.1:1/v1/traces", "http://127.0.0.1:1/own": "http://127.0.0.1:1/own"} {
		e, err := New(endpoint, "x")
		if err != nil || e.url != want {
			t.Errorf("%s: %v %v", endpoint, e, err)
			continue
		}
		_ = e.Close(context.Background())
	}
}
