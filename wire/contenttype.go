package wire

import "strings"

// framing is how the response's body falls into events: what its head says,
// else what the request expects.
func (x *Exchange) framing() Framing {
	if x.Status < 200 || x.Status > 299 {
		return Whole
	}
	media, _, _ := strings.Cut(x.HeaderValue("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(media)) {
	case "text/event-stream":
		return SSE
	case "application/x-ndjson", "application/jsonl", "application/jsonlines":
		return NDJSON
	case "application/json", "application/problem+json":
		return Whole
	}
	return x.Request.Framing
}
