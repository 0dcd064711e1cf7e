package conformance

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

func answerJudges() []judge {
	return []judge{
		{httpStream, func(_ *battery, r *reply) (Verdict, string) {
			if !answers(r) || !r.q.stream {
				return NA, ""
			}
			if kind := r.x.HeaderValue("Content-Type"); !strings.HasPrefix(strings.ToLower(kind), "text/event-stream") {
				return Fail, "Content-Type " + quoted(kind)
			}
			return Pass, ""
		}},
		{httpJSON, wholeType},
		{httpCoding, func(_ *battery, r *reply) (Verdict, string) {
			if r.x.Status == 0 {
				return NA, ""
			}
			if c := r.x.HeaderValue("Content-Encoding"); c != "" && !strings.EqualFold(c, "identity") {
				return Fail, "Content-Encoding " + quoted(c)
			}
			return Pass, ""
		}},
		{answered, heard},
		{answerCut, func(_ *battery, r *reply) (Verdict, string) {
			switch {
			case r.x.Status < 200 || r.x.Status > 299 || left(r):
				return NA, ""
			case r.x.Cause != wire.Completed:
				return Fail, r.x.Cause.String() + " after " + count(len(r.events), "event")
			case r.has("empty_body"):
				return Fail, "an empty body"
			case r.has("answer_too_long"):
				return Fail, "beyond all bounds"
			}
			return Pass, ""
		}},
		{answerError, func(_ *battery, r *reply) (Verdict, string) {
			switch {
			case !answers(r) || r.q.bad:
				return NA, ""
			case r.answer.Failure == engine.ErrorEvent:
				return Fail, "under status " + itoa(r.x.Status) + ": " + short(r.answer.ErrorText, 160)
			}
			return Pass, ""
		}},
		{errorShape, shapeOfError},
		{errorRetry, func(_ *battery, r *reply) (Verdict, string) {
			switch {
			case r.x.Status != http.StatusTooManyRequests:
				return NA, ""
			case r.has("retry_after_unreadable"):
				return Fail, "Retry-After " + quoted(r.x.HeaderValue("Retry-After"))
			case !r.answer.RetryAfter.Known:
				return Note, "429 without Retry-After"
			}
			return Pass, "Retry-After " + quoted(r.x.HeaderValue("Retry-After"))
		}},
	}
}

func quoted(s string) string {
	if s == "" {
		return "missing"
	}
	b, _ := json.Marshal(short(s, 80))
	return string(b)
}

// heard judges whether a question was answered at all.
func heard(b *battery, r *reply) (Verdict, string) {
	switch {
	case left(r) || r.adapted:
		return NA, ""
	case r.x.Status == 0:
		return Fail, r.lost()
	case r.x.Status == http.StatusTooManyRequests && b.impatient:
		return Note, "429: the endpoint limits how much it is asked; the battery waited (" + longWait.String() + " at most, " + itoa(patience) + " times a question) and then went on without an answer"
	case r.x.Status == http.StatusTooManyRequests:
		return Note, "429: the endpoint limits how much it is asked; the battery waited and asked again"
	case r.x.Status >= 500:
		return Fail, r.lost()
	case r.q.bad:
		return NA, ""
	case r.x.Status >= 400 && r.q.optional:
		return NA, ""
	case r.x.Status < 200 || r.x.Status > 299:
		return Fail, r.lost()
	}
	return Pass, ""
}

// wholeType judges the Content-Type of what is no stream.
func wholeType(_ *battery, r *reply) (Verdict, string) {
	kind := r.x.HeaderValue("Content-Type")
	isJSON := strings.Contains(strings.ToLower(kind), "json")
	switch {
	case r.x.Status == 0 || r.x.Status == http.StatusMethodNotAllowed || r.sse || left(r):
		return NA, ""
	case answers(r) && r.q.stream: // another rule's
		return NA, ""
	case answers(r) && !isJSON:
		return Fail, "Content-Type " + quoted(kind)
	case !isJSON:
		return Note, "status " + itoa(r.x.Status) + " with Content-Type " + quoted(kind)
	}
	return Pass, ""
}

// shapeOfError judges the body of an error.
func shapeOfError(_ *battery, r *reply) (Verdict, string) {
	if !r.q.bad || !r.refused() || r.x.Status == http.StatusMethodNotAllowed {
		return NA, ""
	}
	var body bytes.Buffer
	for _, e := range r.events {
		body.Write(e.Data)
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(body.Bytes(), &top) != nil {
		return Fail, "the body is no JSON object"
	}
	var e map[string]json.RawMessage
	if json.Unmarshal(top["error"], &e) != nil || e == nil {
		return Fail, "no object error, but " + keys(top)
	}
	var message string
	if json.Unmarshal(e["message"], &message) != nil || message == "" {
		return Fail, "an error without message: " + keys(e)
	}
	var lacks []string
	for _, k := range []string{"type", "param", "code"} {
		if _, ok := e[k]; !ok {
			lacks = append(lacks, k)
		}
	}
	if len(lacks) > 0 {
		return Note, "an error without " + strings.Join(lacks, " and ")
	}
	return Pass, ""
}

// keys names the members of an object.
func keys(m map[string]json.RawMessage) string {
	var out []string
	for k := range m {
		out = append(out, short(k, 24))
	}
	sortStrings(out)
	return strings.Join(out[:min(len(out), 8)], ", ")
}
