package conformance_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/engine/openai"
)

// broken changes the answers of a good engine on their way. A stream loses its
// pace by it, so STREAM-12 fails besides.
type broken struct {
	stream func(body string) string // of streams
	whole  func(body string) string // of whole answers and errors
	head   func(r *http.Response)
}

func (b broken) between(rt http.RoundTripper) http.Handler {
	p := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "engine"})
	p.Transport = rt
	p.ModifyResponse = func(r *http.Response) error {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil // the client went away
		}
		change := b.whole
		if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
			change = b.stream
		}
		if change != nil {
			body = []byte(change(string(body)))
		}
		if b.head != nil {
			b.head(r)
		}
		r.Header.Del("Content-Length")
		r.ContentLength = -1
		r.Body = io.NopCloser(bytes.NewReader(body))
		return nil
	}
	return p
}

func swap(old, new string) func(string) string {
	return func(s string) string { return strings.ReplaceAll(s, old, new) }
}

func again(pattern, new string) func(string) string {
	re := regexp.MustCompile(pattern)
	return func(s string) string { return re.ReplaceAllString(s, new) }
}

func once(old, new string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, new, 1) }
}

// Each rule that no fault of the engine breaks is broken here.
func TestBrokenOnTheWay(t *testing.T) {
	for name, tt := range map[string]struct {
		broken
		want []string
	}{
		"nothing changed": {broken{}, nil},
		"content type":    {broken{head: func(r *http.Response) { r.Header.Set("Content-Type", "text/plain") }}, []string{"HTTP-03 fail"}},
		"coding": {broken{head: func(r *http.Response) {
			if r.Request.Method == http.MethodPost {
				r.Header.Set("Content-Encoding", "zstd")
			}
		}}, []string{"HTTP-06 fail"}},
		"connection closed": {broken{head: func(r *http.Response) { r.Close = true; r.Header.Set("Connection", "close") }}, []string{"HTTP-04 note"}},
		"405 without Allow": {broken{head: func(r *http.Response) { r.Header.Del("Allow") }}, []string{"HTTP-05 note"}},
		"every error is 500": {broken{head: func(r *http.Response) {
			if r.StatusCode >= 400 {
				r.StatusCode = 500
			}
		}}, []string{"ANSWER-01 fail", "ERROR-01 fail", "ERROR-04 fail", "ERROR-06 fail", "HTTP-05 fail"}},
		"every error is 200":       {broken{head: func(r *http.Response) { r.StatusCode = 200 }}, []string{"ERROR-01 fail", "ERROR-02 note", "ERROR-06 fail"}},
		"errors as text":           {broken{whole: again(`^\{"error".*`, "sorry")}, []string{"ERROR-07 fail"}},
		"errors without message":   {broken{whole: swap(`{"error":{"message"`, `{"error":{"text"`)}, []string{"ERROR-07 fail"}},
		"lines between":            {broken{stream: once("\n\ndata: ", "\n\noops\n\ndata: ")}, []string{"STREAM-01 fail"}},
		"a line that is no field":  {broken{stream: once("data: ", "oops\ndata: ")}, []string{"STREAM-01 fail"}},
		"no blank line at the end": {broken{stream: func(s string) string { return strings.TrimSuffix(s, "\n") }}, []string{"STREAM-01 fail"}},
		"no JSON":                  {broken{stream: once(`"choices":[`, `"choices":[[`)}, []string{"STREAM-02 fail"}},
		"two ends":                 {broken{stream: swap("data: [DONE]\n\n", "data: [DONE]\n\ndata: [DONE]\n\n")}, []string{"STREAM-03 fail"}},
		"data after the end":       {broken{stream: func(s string) string { return s + "data: {}\n\n" }}, []string{"STREAM-03 fail"}},
		"another object":           {broken{stream: swap(".chunk", "")}, []string{"STREAM-04 fail"}},
		"no object":                {broken{whole: swap(`"object":"chat.completion"`, `"was":"chat.completion"`)}, []string{"STREAM-04 fail"}},
		"an id a chunk":            {broken{stream: once(`"id":"chatcmpl-`, `"id":"x`)}, []string{"STREAM-05 fail"}},
		"one id for all":           {broken{stream: again(`"id":"chatcmpl-[^"]*`, `"id":"x`)}, []string{"CONC-01 fail"}},
		"milliseconds":             {broken{stream: again(`"created":(\d+)`, `"created":${1}000`)}, []string{"STREAM-06 note"}},
		"another model":            {broken{stream: once(`"model":"llama3-8b"`, `"model":"other"`)}, []string{"STREAM-06 fail"}},
		"a role of the user":       {broken{stream: swap(`"role":"assistant"`, `"role":"user"`)}, []string{"STREAM-07 fail"}},
		"no role":                  {broken{stream: swap(`"role":"assistant",`, ``)}, []string{"STREAM-07 note"}},
		"no reason":                {broken{stream: again(`"finish_reason":"\w+"`, `"finish_reason":null`)}, []string{"STREAM-08 fail"}},
		"a reason in each":         {broken{stream: swap(`"finish_reason":null`, `"finish_reason":"length"`)}, []string{"STREAM-08 fail", "STREAM-09 fail"}},
		"a reason of its own":      {broken{stream: again(`"finish_reason":"\w+"`, `"finish_reason":"eos"`), whole: again(`"finish_reason":"\w+"`, `"finish_reason":"eos"`)}, []string{"LIMIT-06 fail", "LIMIT-01 fail"}},
		"a wrong type":             {broken{stream: again(`"id":"[^"]*"`, `"id":7`)}, []string{"STREAM-10 fail"}},
		"content of a wrong type":  {broken{stream: again(`"content":"[^"]*"`, `"content":7`)}, []string{"STREAM-10 fail"}},
		"no index":                 {broken{stream: swap(`"index":0,"delta"`, `"delta"`)}, []string{"STREAM-10 note"}},
		"no content":               {broken{stream: again(`"content":"[^"]*"`, `"content":""`)}, []string{"TEXT-04 fail"}},
		"half a pair":              {broken{stream: swap(`"content":" good"`, `"content":"\ud83d"`)}, []string{"TEXT-01 fail"}},
		"a pair in two":            {broken{stream: again(`"content":" good"(.*\n\ndata: .*)"content":"`, `"content":"\ud83d"$1"content":"\ude00`)}, []string{"TEXT-02 fail"}},
		"a lost character":         {broken{stream: swap(`"content":" good"`, `"content":"`+"\uFFFD"+`"`)}, []string{"TEXT-02 note"}},
		"think in the text":        {broken{whole: swap(`"content":"`, `"content":"<think>hm</think>`)}, []string{"TEXT-05 note"}},
		"another end":              {broken{stream: swap(`"finish_reason":"length"`, `"finish_reason":"stop"`)}, []string{"SAME-04 fail"}},
		"usage of zeros":           {broken{whole: again(`_tokens":\d+`, `_tokens":0`)}, []string{"USAGE-01 fail"}},
		"sums":                     {broken{whole: again(`"total_tokens":\d+`, `"total_tokens":1`)}, []string{"USAGE-04 fail"}},
		"half a usage":             {broken{whole: again(`"total_tokens":\d+,`, ``)}, []string{"USAGE-04 fail"}},
		"more cached than there":   {broken{whole: again(`"cached_tokens":\d+`, `"cached_tokens":9000`)}, []string{"USAGE-04 fail"}},
		"usage with a choice":      {broken{stream: swap(`"choices":[],"usage"`, `"choices":[{"index":0,"delta":{}}],"usage"`)}, []string{"USAGE-02 note"}},
		"other prompt tokens":      {broken{stream: again(`"prompt_tokens":(\d+),"total_tokens":(\d+)`, `"prompt_tokens":1,"total_tokens":25`)}, []string{"SAME-03 fail"}},
		"cut arguments":            {broken{stream: once(`{"arguments":"{\"`, `{"arguments":"\"`)}, []string{"TOOL-01 fail"}},
		"another function":         {broken{whole: swap(`"name":"forecast"`, `"name":"other"`)}, []string{"TOOL-02 fail"}},
		"no call's id":             {broken{stream: swap(`"id":"call_`, `"ident":"call_`)}, []string{"TOOL-01 fail"}},
		"another schema":           {broken{whole: swap(`\"days\":`, `\"nights\":`)}, []string{"JSON-01 fail"}},
		"all text so far": {broken{stream: func(s string) string {
			said := ""
			return regexp.MustCompile(`"content":"([^"]*)"`).ReplaceAllStringFunc(s, func(m string) string {
				if m == `"content":""` {
					return m
				}
				said += m[len(`"content":"`) : len(m)-1]
				return `"content":"` + said + `"`
			})
		}}, []string{"SAME-02 fail"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := asked{api: openai.APIChat}.through(t, target+"vllm", tt.between)
			got := slices.DeleteFunc(findings(r), func(f string) bool { return f == "STREAM-12 fail" })
			for _, want := range tt.want {
				if !slices.Contains(got, want) {
					t.Errorf("findings %v lack %s\n%s", got, want, text(r))
				}
			}
			if tt.want == nil && len(got) > 0 {
				t.Errorf("findings %v, want none", got)
			}
		})
	}
}
