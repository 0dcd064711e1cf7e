package fault

import (
	"math"
	"strconv"
	"time"
)

// bucket is a token bucket of requests and one of tokens.
type bucket struct {
	full             bool // was filled once
	last             int64
	requests, tokens float64
}

// limit takes a request out of the buckets; it returns why it is refused, or
// nil, and the fields that say how the buckets stand.
func (a *active) limit(r Arrival) (*Refusal, []string) {
	b := &a.bucket
	rpm, tpm := a.value("rpm"), a.value("tpm")
	most, mostTokens := max(1, rpm*a.value("burst")/60), tpm*a.value("burst")/60
	if !b.full {
		b.full, b.last, b.requests, b.tokens = true, r.At, most, mostTokens
	}
	minutes := float64(r.At-b.last) / 60e9
	b.last = r.At
	b.requests, b.tokens = min(most, b.requests+rpm*minutes), min(mostTokens, b.tokens+tpm*minutes)
	// A request above the whole bucket of tokens waits for a full one.
	cost := min(float64(r.Tokens), mostTokens)
	wait := max(until(1-b.requests, rpm), until(cost-b.tokens, tpm))
	var no *Refusal
	if wait > 0 {
		no = &Refusal{Status: 429, Message: "rate limit reached"}
		if a.value("hint") > 0 {
			no.RetryAfter = int64(math.Ceil(wait))
		}
	} else {
		b.requests--
		b.tokens -= cost
	}
	fields := state("requests", rpm, b.requests, most)
	if tpm > 0 {
		fields = append(fields, state("tokens", tpm, b.tokens, mostTokens)...)
	}
	return no, fields
}

// until is how many seconds a rate a minute needs for what is missing.
func until(missing, rate float64) float64 {
	const rounding = 1e-9
	if missing <= rounding || rate == 0 {
		return 0
	}
	return missing / rate * 60
}

func state(what string, rate, left, most float64) []string {
	reset := time.Duration(until(most-left, rate) * 1e9).Round(time.Millisecond)
	return []string{"x-ratelimit-limit-" + what, strconv.FormatFloat(rate, 'f', -1, 64),
		"x-ratelimit-remaining-" + what, strconv.FormatInt(int64(max(left, 0)), 10), "x-ratelimit-reset-" + what, reset.String()}
}
