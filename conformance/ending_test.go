package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokamak-bench/tokamak/conformance"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/wire"
)

// serve listens in fake time with a handler of its own until the test's end.
func serve(t *testing.T, h http.HandlerFunc) *pipes {
	l := newPipes()
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return l
}

const oneModel = `{"object":"list","data":[{"id":"m","object":"model"}]}`

// hangs answers the list of models and then nothing.
func hangs(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/models" {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, oneModel)
		return
	}
	_, _ = http.MaxBytesReader(w, r.Body, 1<<20).Read(make([]byte, 1<<16))
	<-r.Context().Done()
}

// A question lasts no longer than the user's limit, and a minute without one.
func TestQuestionsKeepTheUsersLimits(t *testing.T) {
	for limit, want := range map[time.Duration]float64{3 * time.Second: 3, 0: 60} {
		synctest.Test(t, func(t *testing.T) {
			r, err := asked{api: openai.APIChat}.until(t.Context(), serve(t, hangs), wire.Limits{Total: limit})
			if err != nil || r.Usable || r.Seconds < want || r.Seconds > want+1 {
				t.Errorf("limit %s: %v, usable %t after %.1f s, want %.0f", limit, err, r.Usable, r.Seconds, want)
			}
		})
	}
}

// An interrupt loses nothing: what was asked until then is reported, and the
// answer that was under way is no fault of the endpoint.
func TestAnInterruptedBatteryReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		r, err := asked{api: openai.APIChat}.until(ctx, serve(t, hangs), wire.Limits{})
		if exit.Of(err) != exit.Interrupted || !errors.Is(err, context.DeadlineExceeded) || r == nil {
			t.Fatalf("%v, report %v", err, r)
		}
		if v := r.Result("HTTP-01").Verdict; v != conformance.Pass {
			t.Errorf("the list of models came: %s", v)
		}
		if x := r.Result("ANSWER-01"); r.Fail != 0 || x.Verdict != conformance.NA || !strings.Contains(x.Seen, "interrupted") {
			t.Errorf("%d fail, ANSWER-01 %+v", r.Fail, x)
		}
	})
}

// Bytes that nobody can read are no evidence that a rule is kept.
func TestNothingIsKeptByWhatCannotBeRead(t *testing.T) {
	garbage := func(string) string { return "data: aaaa\n\ndata: [DONE]\n\n" }
	r := asked{api: openai.APIChat}.through(t, "sim://llama3-8b@h100", broken{stream: garbage}.between)
	for _, rule := range []string{"STREAM-01", "STREAM-03", "STREAM-09"} {
		if x := r.Result(rule); x.Verdict != conformance.NA {
			t.Errorf("%s: %+v", rule, x)
		}
	}
	if x := r.Result("STREAM-02"); x.Verdict != conformance.Fail {
		t.Errorf("STREAM-02: %+v", x)
	}
}

// Who says to come again in a day is not waited for, and the report says so.
func TestGivingUpOnARetryAfterIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked0 := 0
		l := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.URL.Path == "/v1/models" {
				fmt.Fprint(w, oneModel)
				return
			}
			asked0++
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"error":{"message":"later","type":"rate_limit_error"}}`)
		})
		r, err := asked{api: openai.APIChat}.until(t.Context(), l, wire.Limits{})
		if err != nil || asked0 != 7 { // once, and again after each of six waits of ten seconds
			t.Fatalf("%v after %d questions", err, asked0)
		}
		if x := r.Result("ANSWER-01"); r.Usable || !strings.Contains(x.Seen, "429") {
			t.Errorf("usable %t, %+v", r.Usable, x)
		}
	})
}
