package openai

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

const (
	maxRateFields = 24
	maxFieldText  = 128
)

// head reads the fields of the response's head.
func (d *decoder) head(x *wire.Exchange) {
	a := &d.a
	for _, f := range x.Header {
		name := strings.ToLower(f.Name)
		switch {
		case strings.HasPrefix(name, "x-ratelimit-"), strings.HasPrefix(name, "ratelimit-"), name == "ratelimit":
			if len(a.RateLimit) < maxRateFields {
				a.RateLimit = append(a.RateLimit, clean(name, maxFieldText)+"="+clean(f.Value, maxFieldText))
			}
		case name == "x-request-id" && a.ServerID == "":
			if f.Value != d.c.RequestID {
				a.ServerID = clean(f.Value, maxFieldText)
			}
		case name == "x-queue-time": // TGI: milliseconds
			if ms, err := strconv.ParseFloat(f.Value, 64); err == nil && ms >= 0 && ms < 1e12 {
				a.Queue = engine.Count{N: int64(ms * 1e6), Known: true}
			}
		}
	}
	d.retryAfter(x)
}

// retryAfter reads when the server wants to be asked again: retry-after-ms, or
// Retry-After as seconds or as a date, counted from the response's own Date.
func (d *decoder) retryAfter(x *wire.Exchange) {
	set := func(ns float64) bool {
		if math.IsNaN(ns) || ns < 0 || ns > 1e18 {
			return false
		}
		d.a.RetryAfter = engine.Count{N: int64(ns), Known: true}
		return true
	}
	if v := x.HeaderValue("Retry-After-Ms"); v != "" {
		if ms, err := strconv.ParseFloat(v, 64); err == nil && set(ms*1e6) {
			return
		}
	}
	v := strings.TrimSpace(x.HeaderValue("Retry-After"))
	if v == "" {
		return
	}
	if s, err := strconv.ParseFloat(v, 64); err == nil && set(s*1e9) {
		return
	}
	at, err := http.ParseTime(v)
	now, err2 := http.ParseTime(x.HeaderValue("Date"))
	if err == nil && err2 == nil && set(float64(max(at.Sub(now), 0)/time.Nanosecond)) {
		return
	}
	d.note(retryUnreadable)
}
