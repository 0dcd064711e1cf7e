package openai

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

func TestBadStatus(t *testing.T) {
	tests := map[string]struct {
		status  int
		body    string
		header  []wire.Field
		failure engine.Failure
		class   string
		text    string
		refused string
	}{
		"OpenAI":               {status: 401, body: `{"error":{"message":"Incorrect API key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, class: classUnauthorized, text: "invalid_api_key: invalid_request_error: Incorrect API key"},
		"integer code":         {status: 404, body: `{"error":{"message":"no model x","type":"NotFoundError","param":"model","code":404}}`, class: classNotFound, text: "404: NotFoundError: no model x"},
		"vLLM flat":            {status: 500, body: `{"object":"error","message":"boom","type":"InternalServerError","param":null,"code":500}`, class: classServerError, text: "500: InternalServerError: boom"},
		"TGI":                  {status: 422, body: `{"error":"Input validation error","error_type":"validation"}`, class: classUnprocessable, text: "Input validation error"},
		"FastAPI":              {status: 422, body: `{"detail":[{"type":"missing","loc":["body","messages"],"msg":"Field required","input":{"ignore_eos":true,"max_tokens":4}}]}`, class: classUnprocessable, text: "missing: Field required"},
		"list":                 {status: 400, body: `[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}]`, class: classBadRequest, text: "400: bad"},
		"text":                 {status: 502, body: "upstream\nunreachable", class: classServerError, text: "upstream unreachable"},
		"HTML":                 {status: 502, body: "<html><head><TITLE>502 Bad Gateway</TITLE></head><body>x</body></html>", class: classServerError, text: "HTML page: 502 Bad Gateway"},
		"HTML without title":   {status: 500, body: "<h1>Oh</h1><p>no</p>", class: classServerError, text: "HTML page: Oh no"},
		"empty":                {status: 500, class: classServerError},
		"event stream":         {status: 500, body: "data: {\"error\":{\"message\":\"boom\"}}\n\n", class: classServerError, text: "boom"},
		"context":              {status: 400, body: `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":2048}}`, class: classContextLength, text: "400: exceed_context_size_error: the request exceeds the available context size"},
		"429":                  {status: 429, body: `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, failure: engine.Rejected, class: classRateLimited, text: "rate_limit_exceeded: slow down"},
		"quota":                {status: 429, body: `{"error":{"message":"pay","code":"insufficient_quota"}}`, failure: engine.Rejected, class: classQuota, text: "insufficient_quota: pay"},
		"503":                  {status: 503, body: `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`, failure: engine.Rejected, class: classOverloaded, text: "503: unavailable_error: Loading model"},
		"redirect":             {status: 301, header: []wire.Field{{Name: "Location", Value: "https://u:secret@h/v1?key=secret"}}, class: classRedirect, text: "redirected to https://h/v1; give that address as the target"},
		"teapot":               {status: 418, class: classClientError},
		"secrets":              {status: 401, body: `{"error":{"message":"Incorrect API key provided: sk-abcdefghijk. Authorization: Bearer the.credential, see https://u:pw@h/"}}`, class: classUnauthorized, text: "Incorrect API key provided: [redacted] [redacted], see https[redacted]h/"},
		"own credential":       {status: 401, body: "no such user: topsecretvalue", class: classUnauthorized, text: "no such user: [redacted]"},
		"echo of the prompt":   {status: 400, body: `{"error":{"message":"cannot say 'this is a private prompt that nobody must see' now"}}`, class: classBadRequest, text: "cannot say '[redacted]' now"},
		"refused ignore_eos":   {status: 400, body: `{"error":{"message":"Unknown parameter: 'ignore_eos'.","type":"invalid_request_error","param":"ignore_eos","code":"unknown_parameter"}}`, class: classRefusedField, refused: "ignore_eos", text: "unknown_parameter: invalid_request_error: Unknown parameter: 'ignore_eos'."},
		"refused max_tokens":   {status: 400, body: `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`, class: classRefusedField, refused: "max_tokens", text: "unsupported_parameter: Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."},
		"max_tokens too big":   {status: 400, body: `{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 5000.","param":"max_tokens"}}`, class: classBadRequest, text: "'max_tokens' or 'max_completion_tokens' is too large: 5000."},
		"several refused":      {status: 422, body: `{"detail":[{"type":"extra_forbidden","loc":["body","ignore_eos"],"msg":"Extra inputs are not permitted","input":true},{"type":"extra_forbidden","loc":["body","min_tokens"],"msg":"Extra inputs are not permitted","input":4}]}`, class: classRefusedField, refused: "ignore_eos,min_tokens", text: "extra_forbidden: Extra inputs are not permitted; Extra inputs are not permitted"},
		"refused in the text":  {status: 422, body: "unknown field `stream_options`, expected one of `model`, `max_tokens`, `ignore_eos`", class: classRefusedField, refused: "stream_options", text: "unknown field `stream_options`, expected one of `model`, `max_tokens`, `ignore_eos`"},
		"inside a longer name": {status: 400, body: `{"error":{"message":"no_ignore_eos_here"}}`, class: classBadRequest, text: "no_ignore_eos_here"},
		"user's own field":     {status: 400, body: `{"error":{"message":"bad top_k","param":"top_k"}}`, class: classBadRequest, text: "bad top_k"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, APIChat, func(o *Options) {
				o.Auth = wire.Field{Name: "X-Key", Value: "Token topsecretvalue"}
				o.Extra = []byte(`{"top_k":1}`)
			})
			c := &engine.Call{MaxTokens: 4, Messages: []engine.Message{{Content: "Say: this is a private prompt that nobody must see"}}}
			a := play(t, d, c, response{status: tt.status, body: tt.body, header: tt.header})
			if tt.failure == 0 {
				tt.failure = engine.BadStatus
			}
			got := []any{a.Failure, a.ErrorClass, a.ErrorText, a.RefusedField}
			if diff := cmp.Diff([]any{tt.failure, tt.class, tt.text, tt.refused}, got); diff != "" {
				t.Errorf("failure, class, text, refused (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEchoIsHidden(t *testing.T) {
	prompt := "It was the best of times, it was the worst of times, it was the age of wisdom"
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, len(prompt)-echoLength).Draw(t, "from")
		n := rapid.IntRange(echoLength, len(prompt)-from).Draw(t, "n")
		before := rapid.StringMatching(`[0-9 ]{0,40}`).Draw(t, "before")
		got := hideEcho(before+prompt[from:from+n]+"#", prompt)
		for i := 0; i+echoLength <= len(prompt); i++ {
			if strings.Contains(got, prompt[i:i+echoLength]) {
				t.Fatalf("%q still shows %q", got, prompt[i:i+echoLength])
			}
		}
		if !strings.Contains(got, hidden) {
			t.Fatalf("nothing hidden in %q", got)
		}
	})
	if s := "unlike anything in the prompt"; hideEcho(s, prompt) != s {
		t.Error("hidden without a reason")
	}
}

func TestErrorTextIsShort(t *testing.T) {
	a := play(t, newDriver(t, APIChat, nil), hi(), response{status: 500, body: strings.Repeat("é\n", 5000)})
	if n := len(a.ErrorText); n > maxErrorText || n < maxErrorText/2 || strings.ContainsAny(a.ErrorText, "\n\r") {
		t.Errorf("error text of %d bytes: %q", n, a.ErrorText)
	}
}

func TestRefuse(t *testing.T) {
	d := newDriver(t, APIChat, nil)
	c := &engine.Call{MaxTokens: 4, Messages: []engine.Message{{Content: "p"}}}
	steps := []struct {
		refuse string
		again  bool
		want   string
	}{
		{"ignore_eos,min_tokens", true, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"p"}],"max_tokens":4}`},
		{"ignore_eos", true, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"p"}],"max_tokens":4}`},
		{"stream_options", true, `{"model":"m","stream":true,"messages":[{"role":"user","content":"p"}],"max_tokens":4}`},
		{"max_tokens", true, `{"model":"m","stream":true,"messages":[{"role":"user","content":"p"}],"max_completion_tokens":4}`},
		{"max_completion_tokens", false, `{"model":"m","stream":true,"messages":[{"role":"user","content":"p"}],"max_completion_tokens":4}`},
		{"temperature", false, `{"model":"m","stream":true,"messages":[{"role":"user","content":"p"}],"max_completion_tokens":4}`},
	}
	for _, s := range steps {
		if got := d.Refuse(s.refuse); got != s.again {
			t.Errorf("Refuse(%s) = %v", s.refuse, got)
		}
		if got, _ := encode(t, d, c); got != s.want {
			t.Errorf("after %s:\n%s, want\n%s", s.refuse, got, s.want)
		}
	}
	want := []string{"ignore_eos dropped", "max_tokens sent as max_completion_tokens", "min_tokens dropped", "stream_options dropped"}
	if diff := cmp.Diff(want, d.Adapted()); diff != "" {
		t.Error(diff)
	}
	own := newDriver(t, APIChat, func(o *Options) { o.Extra = []byte(`{"ignore_eos":true}`) })
	if own.Refuse("ignore_eos") {
		t.Error("a field that the user gave was dropped")
	}
}

func TestRetryAfterAndRates(t *testing.T) {
	date := wire.Field{Name: "Date", Value: "Tue, 01 Dec 2026 10:00:00 GMT"}
	tests := map[string]struct {
		header []wire.Field
		want   engine.Count
		notes  []string
	}{
		"none":          {},
		"seconds":       {header: []wire.Field{{Name: "retry-after", Value: "2"}}, want: engine.Count{N: 2e9, Known: true}},
		"fraction":      {header: []wire.Field{{Name: "Retry-After", Value: "0.5"}}, want: engine.Count{N: 5e8, Known: true}},
		"milliseconds":  {header: []wire.Field{{Name: "Retry-After", Value: "9"}, {Name: "retry-after-ms", Value: "250"}}, want: engine.Count{N: 25e7, Known: true}},
		"date":          {header: []wire.Field{date, {Name: "Retry-After", Value: "Tue, 01 Dec 2026 10:01:00 GMT"}}, want: engine.Count{N: 60e9, Known: true}},
		"date gone by":  {header: []wire.Field{date, {Name: "Retry-After", Value: "Tue, 01 Dec 2026 09:01:00 GMT"}}, want: engine.Count{Known: true}},
		"date alone":    {header: []wire.Field{{Name: "Retry-After", Value: "Tue, 01 Dec 2026 10:01:00 GMT"}}, notes: []string{retryUnreadable}},
		"negative":      {header: []wire.Field{{Name: "Retry-After", Value: "-1"}}, notes: []string{retryUnreadable}},
		"no number":     {header: []wire.Field{{Name: "Retry-After", Value: "NaN"}}, notes: []string{retryUnreadable}},
		"without bound": {header: []wire.Field{{Name: "Retry-After", Value: "1e300"}}, notes: []string{retryUnreadable}},
	}
	for name, tt := range tests {
		a := play(t, newDriver(t, APIChat, nil), hi(), response{status: 429, header: tt.header})
		if a.RetryAfter != tt.want || !cmp.Equal(a.Notes, tt.notes) {
			t.Errorf("%s: %v %v, want %v %v", name, a.RetryAfter, a.Notes, tt.want, tt.notes)
		}
	}
	a := play(t, newDriver(t, APIChat, nil), hi(), response{status: 429, header: []wire.Field{
		{Name: "X-RateLimit-Remaining-Tokens", Value: "0"}, {Name: "x-ratelimit-reset-tokens", Value: "6m0s"}, {Name: "X-Request-Id", Value: "srv"}}})
	if diff := cmp.Diff([]string{"x-ratelimit-remaining-tokens=0", "x-ratelimit-reset-tokens=6m0s"}, a.RateLimit); diff != "" {
		t.Error(diff)
	}
	if a.ServerID != "srv" {
		t.Errorf("server id %q", a.ServerID)
	}
}
