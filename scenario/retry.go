package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/load"
)

// retryWords are the failures that can be sent again.
var retryWords = []string{
	"rejected",   // status 429 or 503
	"error",      // another 5xx
	"connection", // not one byte of a response
	"timeout",    // a deadline struck
	"broken",     // the stream broke, or held an error
	"abandoned",  // its user gave up, and tries anew
}

// defaultRetryOn is what clients of these APIs send again.
var defaultRetryOn = retryWords[:3]

// retryOn reads which failures are sent again.
func (r *resolver) retryOn() []string {
	r.needsSome("target.retry-on", "target.retries")
	text := r.text("target.retry-on", "words of "+strings.Join(retryWords, ", "))
	if text == "" {
		return defaultRetryOn
	}
	v := r.set["target.retry-on"]
	var on []string
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if !slices.Contains(retryWords, word) {
			msg := fmt.Sprintf("expected words of %s, got %q", strings.Join(retryWords, ", "), clip(word))
			if near, ok := nearest(word, retryWords); ok {
				msg += fmt.Sprintf(" (%s?)", near)
			}
			r.fail(v.errorf("%s", msg))
			continue
		}
		on = append(on, word)
	}
	return on
}

// backoff reads the pause before a retry.
func (r *resolver) backoff() load.Backoff {
	r.needsSome("target.backoff", "target.retries")
	text := r.text("target.backoff", "a pause such as 1s or 500ms..30s")
	if text == "" {
		return load.DefaultBackoff()
	}
	b, err := load.ParseBackoff(text)
	if err != nil {
		r.fail(r.set["target.backoff"].syntax(err))
	}
	return b
}
