package openai

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

// maxErrorBody is how much of an error body is looked at.
const maxErrorBody = 64 << 10

// apiError is what the various envelopes of errors have in common.
type apiError struct {
	message, kind, code string
	fields              []string // what the server names as the cause: param, loc
}

// parseError reads an error in any of the envelopes seen: OpenAI's object,
// vLLM's flat one, TGI's {error, error_type}, FastAPI's detail, a list with one
// of them, plain text, HTML.
func parseError(body []byte) *apiError {
	body = bytes.TrimSpace(body)
	e := &apiError{}
	var v any
	if len(body) <= maxErrorBody && json.Unmarshal(body, &v) == nil {
		e.value(v, 0)
		if *e.text() != "" || len(e.fields) > 0 {
			return e
		}
	}
	if len(body) > maxErrorBody {
		body = body[:maxErrorBody]
	}
	e.message = string(body)
	if len(body) > 0 && body[0] == '<' {
		e.message = htmlText(body)
	}
	return e
}

// text returns the message, or where there is none the kind or code.
func (e *apiError) text() *string {
	for _, s := range []*string{&e.message, &e.kind, &e.code} {
		if *s != "" {
			return s
		}
	}
	return &e.message
}

func (e *apiError) value(v any, depth int) {
	if depth > 4 {
		return
	}
	switch v := v.(type) {
	case string:
		e.addMessage(v)
	case []any:
		for i, item := range v {
			if i == 8 {
				break
			}
			e.value(item, depth+1)
		}
	case map[string]any:
		e.members(v, depth)
	}
}

func (e *apiError) members(m map[string]any, depth int) {
	for _, k := range []string{"error", "errors", "detail"} {
		e.value(m[k], depth+1)
	}
	for _, k := range []string{"message", "msg"} {
		if s, ok := m[k].(string); ok {
			e.addMessage(s)
		}
	}
	for _, k := range []string{"type", "error_type"} {
		if s := word(m[k]); s != "" && s != "error" && e.kind == "" {
			e.kind = s
		}
	}
	for _, k := range []string{"code", "status_code"} {
		if s := word(m[k]); s != "" && e.code == "" {
			e.code = s
		}
	}
	if s, ok := m["param"].(string); ok && s != "" {
		e.fields = append(e.fields, s)
	}
	// The path to the field, of which the last part is its name.
	if loc, ok := m["loc"].([]any); ok && len(loc) > 0 {
		if s, ok := loc[len(loc)-1].(string); ok {
			e.fields = append(e.fields, s)
		}
	}
}

func (e *apiError) addMessage(s string) {
	switch {
	case s == "" || len(e.message) > 2000:
	case e.message == "":
		e.message = s
	default:
		e.message += "; " + s
	}
}

// word returns a string or a number as text.
func word(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// htmlText returns the title of a page, or its first words.
func htmlText(b []byte) string {
	s := string(b)
	lower := strings.ToLower(s)
	if i := strings.Index(lower, "<title>"); i >= 0 && len(lower) == len(s) {
		if j := strings.Index(lower[i:], "</title>"); j >= 0 {
			return "HTML page: " + s[i+len("<title>"):i+j]
		}
	}
	var out strings.Builder
	out.WriteString("HTML page: ")
	in := false
	for _, r := range s[:min(len(s), 4096)] {
		switch {
		case r == '<':
			in = true
			out.WriteByte(' ')
		case r == '>':
			in = false
		case !in:
			out.WriteRune(r)
		}
	}
	return out.String()
}

func (d *decoder) setError(e *apiError) {
	if d.err == nil {
		d.err = e
	}
}

// errorText is the server's words in one redacted line.
func (d *decoder) errorText(e *apiError) string {
	text := *e.text()
	for _, s := range []string{e.kind, e.code} {
		if s != "" && !strings.Contains(text, s) {
			text = s + ": " + text
		}
	}
	return d.redact(text)
}

// badStatus classifies a response that is no 2xx.
func (d *decoder) badStatus(x *wire.Exchange) {
	a := &d.a
	a.Failure = engine.BadStatus
	if x.Status == 429 || x.Status == 503 {
		a.Failure = engine.Rejected
	}
	e := d.err
	if e == nil {
		e = parseError(d.raw)
	}
	d.raw = nil
	a.ErrorText = d.errorText(e)
	if x.Status >= 300 && x.Status < 400 {
		if to := x.HeaderValue("Location"); to != "" {
			a.ErrorText = d.redact("redirected to " + withoutUser(to) + "; give that address as the target")
		}
	}
	a.ErrorClass = errorClass(x.Status, e)
	if x.Status == 400 || x.Status == 422 {
		if f := d.refusedFields(x, e); f != "" {
			a.RefusedField, a.ErrorClass = f, classRefusedField
		}
	}
}

// withoutUser removes user information and query from a location.
func withoutUser(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "an unreadable address"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

func errorClass(status int, e *apiError) string {
	all := strings.ToLower(e.kind + " " + e.code + " " + e.message)
	switch {
	case status == 429 && strings.Contains(all, "insufficient_quota"):
		return classQuota
	case status == 429:
		return classRateLimited
	case status == 503:
		return classOverloaded
	case status >= 400 && status < 500 && isContextLength(all):
		return classContextLength
	}
	switch status {
	case 400:
		return classBadRequest
	case 401:
		return classUnauthorized
	case 403:
		return classForbidden
	case 404:
		return classNotFound
	case 422:
		return classUnprocessable
	}
	switch status / 100 {
	case 3:
		return classRedirect
	case 4:
		return classClientError
	case 5:
		return classServerError
	}
	return classOtherStatus
}

func isContextLength(text string) bool {
	for _, s := range []string{"context_length", "context length", "exceed_context_size", "maximum context", "context size", "context window"} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}
