package openai

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

func TestEndpoint(t *testing.T) {
	tests := []struct{ raw, api, want, err string }{
		{raw: "http://h:8000", api: APIChat, want: "http://h:8000/v1/chat/completions"},
		{raw: "http://h:8000/", api: APICompletions, want: "http://h:8000/v1/completions"},
		{raw: "http://h/v1", api: APIChat, want: "http://h/v1/chat/completions"},
		{raw: "http://h/v1/", api: APIChat, want: "http://h/v1/chat/completions"},
		{raw: "http://h/llm", api: APIChat, want: "http://h/llm/v1/chat/completions"},
		{raw: "http://h/v2x", api: APIChat, want: "http://h/v2x/v1/chat/completions"},
		{raw: "http://[::1]:80/v1", api: APIChat, want: "http://[::1]:80/v1/chat/completions"},
		{raw: "https://h/api/paas/v4", api: APIChat, want: "https://h/api/paas/v4/chat/completions"},
		{raw: "https://h/v1beta/openai/", api: APIChat, want: "https://h/v1beta/openai/chat/completions"},
		{raw: "https://h/v1beta1/projects/p", api: APIChat, want: "https://h/v1beta1/projects/p/chat/completions"},
		{raw: "https://h/openai", api: APIChat, want: "https://h/openai/chat/completions"},
		{raw: "https://h/openai/deployments/g?api-version=2", api: APIChat, want: "https://h/openai/deployments/g/chat/completions?api-version=2"},
		{raw: "https://h/v1/chat/completions?a=b", api: APIChat, want: "https://h/v1/chat/completions?a=b"},
		{raw: "https://h/own/completions", api: APIChat, want: "https://h/own/completions"},
		{raw: "https://h/v1/completions", api: APICompletions, want: "https://h/v1/completions"},
		{raw: "https://h/v1/completions", api: APIChat, err: "openai-completions"},
		{raw: "https://h/v1/chat/completions", api: APICompletions, err: "openai-chat"},
		{raw: "https://u:secret@h/v1", api: APIChat, want: "https://u:secret@h/v1/chat/completions"},
		{raw: "localhost:8000", api: APIChat, err: "expected http://"},
		{raw: "h", api: APIChat, err: "expected http://"},
		{raw: "http://", api: APIChat, err: "no host"},
		{raw: "http://u:secret@h:x", api: APIChat, err: "target URL"},
		{raw: "http://h/#f", api: APIChat, err: "fragment"},
		{raw: "http://h", api: "other", err: "openai-chat"},
	}
	for _, tt := range tests {
		u, err := Endpoint(tt.raw, tt.api)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("Endpoint(%q, %s): error %v, want one with %q", tt.raw, tt.api, err, tt.err)
			}
			continue
		}
		if err != nil || u.String() != tt.want {
			t.Errorf("Endpoint(%q, %s) = %v, %v, want %s", tt.raw, tt.api, u, err, tt.want)
			continue
		}
		if again, err := Endpoint(tt.want, tt.api); err != nil || again.String() != tt.want {
			t.Errorf("Endpoint(%q, %s) = %v, %v: not itself", tt.want, tt.api, again, err)
		}
	}
}

func TestModelsURL(t *testing.T) {
	tests := []struct{ raw, models, page string }{
		{"http://h:1", "http://h:1/v1/models", "http://h:1/metrics"},
		{"http://h/v1/chat/completions", "http://h/v1/models", "http://h/metrics"},
		{"http://h/llm/v1/completions", "http://h/llm/v1/models", "http://h/llm/metrics"},
		{"http://h/openai/deployments/g?v=1", "http://h/openai/deployments/g/models?v=1", "http://h/openai/deployments/g/metrics"},
	}
	for _, tt := range tests {
		m, err := ModelsURL(tt.raw)
		if err != nil || m.String() != tt.models {
			t.Errorf("ModelsURL(%q) = %v, %v, want %s", tt.raw, m, err, tt.models)
		}
		p, err := PageURL(tt.raw, "metrics")
		if err != nil || p.String() != tt.page || p.Path[0] != '/' {
			t.Errorf("PageURL(%q) = %v, %v, want %s", tt.raw, p, err, tt.page)
		}
	}
}

func encode(t *testing.T, d *Driver, c *engine.Call) (string, *wire.Request) {
	t.Helper()
	r, err := d.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(r.Body) {
		t.Fatalf("no JSON: %s", r.Body)
	}
	return string(r.Body), r
}

func TestEncode(t *testing.T) {
	half := 0.5
	msgs := []engine.Message{{Content: "a\"\n"}, {Role: "assistant", Content: "é"}}
	tests := map[string]struct {
		api     string
		options func(*Options)
		call    engine.Call
		want    string
		whole   bool
	}{
		"chat": {call: engine.Call{Messages: msgs, MaxTokens: 7},
			want: `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"a\"\n"},{"role":"assistant","content":"é"}],"max_tokens":7,"ignore_eos":true,"min_tokens":7}`},
		"no length asked": {call: engine.Call{Messages: msgs[:1]},
			want: `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"a\"\n"}]}`},
		"cap, whole, temperature, n": {call: engine.Call{Messages: msgs[:1], MaxTokens: 7}, whole: true,
			options: func(o *Options) {
				o.OutputMode, o.NoStream, o.Temperature, o.N, o.MaxTokens = Cap, true, &half, 2, "max_completion_tokens"
			},
			want: `{"model":"m","stream":false,"temperature":0.5,"n":2,"messages":[{"role":"user","content":"a\"\n"}],"max_completion_tokens":7}`},
		"completions": {api: APICompletions, call: engine.Call{Messages: []engine.Message{{Content: "p"}, {Content: "q"}}},
			want: `{"model":"m","stream":true,"stream_options":{"include_usage":true},"prompt":"p\nq"}`},
		"merged fields win": {call: engine.Call{Messages: msgs[:1], MaxTokens: 7},
			options: func(o *Options) {
				o.Extra = []byte(`{"model":"x","max_tokens":3,"ignore_eos":null,"top_k":1,"stream":false}`)
			}, whole: true,
			want: `{"max_tokens":3,"model":"x","stream":false,"top_k":1,"messages":[{"role":"user","content":"a\"\n"}],"min_tokens":7}`},
		"body as it is": {call: engine.Call{Body: []byte(` {"model":"o", "stream":false,"stream_options":null}`), MaxTokens: 7}, whole: true,
			want: ` {"model":"o", "stream":false,"stream_options":null}`},
		"body with what it lacks": {call: engine.Call{Body: []byte(`{"messages":[ ],"a":1}`), MaxTokens: 7},
			want: `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[ ],"a":1}`},
		"open body": {call: engine.Call{Body: []byte(`{"messages":[ ],"min_tokens":1}`), Open: true, MaxTokens: 7},
			want: `{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":7,"ignore_eos":true,"messages":[ ],"min_tokens":1}`},
		"body and merged fields": {call: engine.Call{Body: []byte(`{"a":1,"b":2,"c":3}`)},
			options: func(o *Options) { o.Extra = []byte(`{"a":9,"b":null}`); o.Model = "" },
			want:    `{"stream":true,"stream_options":{"include_usage":true},"a":9,"c":3}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.api == "" {
				tt.api = APIChat
			}
			got, r := encode(t, newDriver(t, tt.api, tt.options), &tt.call)
			if got != tt.want {
				t.Errorf("body\n%s, want\n%s", got, tt.want)
			}
			if (r.Framing == wire.Whole) != tt.whole {
				t.Errorf("framing %v", r.Framing)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	d := newDriver(t, APIChat, func(o *Options) {
		o.Base = &url.URL{Scheme: "http", Host: "h", User: url.UserPassword("u", "p")}
		o.Header = []wire.Field{{Name: "accept", Value: "x/y"}, {Name: "X-A", Value: "b"}}
	})
	c := hi()
	c.RequestID, c.TraceID = "run-7", "0123456789abcdef0123456789abcdef"
	_, r := encode(t, d, c)
	want := []wire.Field{{Name: "Content-Type", Value: "application/json"}, {Name: "User-Agent", Value: "tokamak"},
		{Name: "Authorization", Value: "Basic dTpw"}, {Name: "accept", Value: "x/y"}, {Name: "X-A", Value: "b"},
		{Name: "X-Request-Id", Value: "run-7"},
		{Name: "traceparent", Value: "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"}}
	if diff := cmp.Diff(want, r.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if r.URL.User != nil || d.URL().User != nil {
		t.Error("user information stays in the URL")
	}
}

func TestNewRefuses(t *testing.T) {
	for _, change := range []func(*Options){
		func(o *Options) { o.Base = nil },
		func(o *Options) { o.OutputMode = "some" },
		func(o *Options) { o.MaxTokens = "tokens" },
		func(o *Options) { o.Extra = []byte(`["secret"]`) },
		func(o *Options) { o.Extra = []byte(`null`) },
	} {
		o := Options{Base: &url.URL{Scheme: "http", Host: "h"}}
		change(&o)
		if _, err := New(APIChat, o); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("New: error %v", err)
		}
	}
	d := newDriver(t, APIChat, nil)
	if _, err := d.Encode(&engine.Call{Body: []byte(`["secret"]`)}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("Encode: error %v", err)
	}
}

func TestAppendString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "s")
		var got string
		if err := json.Unmarshal(appendString(nil, s), &got); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); strings.ReplaceAll(got, "\uFFFD", "") != strings.ReplaceAll(want, "\uFFFD", "") {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
