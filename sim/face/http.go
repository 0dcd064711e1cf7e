package face

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// maxBody bounds a request body.
const maxBody = 64 << 20

// Body reads a request's body.
func Body(r *http.Request) ([]byte, *Problem) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig):
		return nil, &Problem{Kind: TooLarge, Message: "the request body is too large"}
	case err != nil:
		return nil, Bad("", "the request body could not be read")
	}
	return body, nil
}

// Parse reads a JSON object, and nothing after it.
func Parse(body []byte, to any) *Problem {
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(to); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return Bad(wrong.Field, "%s: got %s, expected %s", wrong.Field, wrong.Value, wrong.Type)
		}
		return Bad("", "the body is not valid JSON: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Bad("", "the body is not valid JSON: something follows the object")
	}
	return nil
}

// ParseBody reads a request's body as JSON.
func ParseBody(r *http.Request, to any) *Problem {
	body, problem := Body(r)
	if problem != nil {
		return problem
	}
	return Parse(body, to)
}

// WriteJSON answers with v.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// WriteDetail is how the framework below several engines answers what no route takes.
func WriteDetail(w http.ResponseWriter, status int, text string) {
	WriteJSON(w, status, map[string]string{"detail": text})
}

// RetryAfter sets the header where p has it.
func RetryAfter(w http.ResponseWriter, p *Problem) {
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(p.RetryAfter, 10))
	}
}

// AppendString appends s as a JSON string.
func AppendString(b []byte, s string) []byte {
	q, err := json.Marshal(s)
	if err != nil {
		return append(b, `""`...)
	}
	return append(b, q...)
}

// AppendJSON appends v; what cannot be marshalled is null.
func AppendJSON(b []byte, v any) []byte {
	q, err := json.Marshal(v)
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, q...)
}

// OtherMethod tells whether m has a route for r with another method, and names
// that in the answer's Allow.
func OtherMethod(w http.ResponseWriter, m *http.ServeMux, r *http.Request) bool {
	method := http.MethodPost
	if r.Method == http.MethodPost {
		method = http.MethodGet
	}
	_, pattern := m.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host})
	if pattern == "/" || pattern == "" {
		return false
	}
	w.Header().Set("Allow", method)
	return true
}

// EchoRequestID gives a client's X-Request-Id back.
func EchoRequestID(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id := r.Header.Get("X-Request-Id"); id != "" {
			w.Header().Set("X-Request-Id", id)
		}
		h.ServeHTTP(w, r)
	})
}
