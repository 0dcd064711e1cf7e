package acceptance

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/record"
)

// TestAbandonedRequestsReachTheEngine: a user who gives up closes the
// connection, the engine ends the request and frees its blocks of KV cache.
func TestAbandonedRequestsReachTheEngine(t *testing.T) {
	for _, way := range []string{"warm", "fresh"} {
		t.Run(way, func(t *testing.T) {
			e := startEngine(t, "sim://llama3-8b@a100-80g")
			const n = 12
			o := run(t, "--url", e.url, "--model", "llama3-8b", "--concurrency", "4", "--requests", strconv.Itoa(n),
				"--input-tokens", "64", "--output-tokens", "4000", "--patience", "300ms", "--connections", way)
			o.wantExit(t, 3) // nobody was answered
			rows := attempts(t, o.dir)
			for _, a := range rows {
				waited := time.Duration(a.Moments.Ended.Or(0) - a.Intended.Or(0))
				if a.Outcome != record.Abandoned || a.ErrorClass != "cancelled" || waited < 300*time.Millisecond {
					t.Errorf("request %d ended %s (%s) after %v", a.RequestID, a.Outcome, a.ErrorClass, waited)
				}
			}
			if len(rows) != n {
				t.Errorf("%d rows, want %d", len(rows), n)
			}
			for _, s := range e.requests(t, n) {
				if s.Output >= 4000 {
					t.Errorf("%s was answered to its end although its user had left", s.RequestID)
				}
			}
			e.wait(t, map[string]float64{"vllm:num_requests_running": 0, "vllm:num_requests_waiting": 0, "vllm:kv_cache_usage_perc": 0,
				`finished_reason="abort"`: n})
		})
	}
}

// wait polls the engine's metrics until each series has its value.
func (e *engine) wait(t *testing.T, want map[string]float64) {
	t.Helper()
	var page string
	for range 200 {
		r, err := http.Get(strings.TrimSuffix(e.url, "/v1") + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		page = string(b)
		good := 0
		for name, value := range want {
			for line := range strings.Lines(page) {
				f := strings.Fields(line)
				if len(f) == 2 && strings.Contains(f[0], name) {
					if x, err := strconv.ParseFloat(f[1], 64); err == nil && x == value {
						good++
					}
					break
				}
			}
		}
		if good == len(want) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("the engine's metrics never came to %v:\n%s", want, page)
}

// bins are a run's figures in equal parts of its load.
type bins struct {
	sent, ok []float64 // attempts sent, and requests answered in the end, a second
}

func binned(t *testing.T, dir string, bin, length time.Duration) bins {
	t.Helper()
	b := bins{make([]float64, length/bin), make([]float64, length/bin)}
	count := func(list []float64, at record.Int) {
		if x, ok := at.Get(); ok && x < int64(length) {
			list[x/int64(bin)] += 1 / bin.Seconds()
		}
	}
	for _, a := range attempts(t, dir) {
		count(b.sent, a.Dispatched)
		if a.Outcome == record.OK {
			count(b.ok, a.Moments.Ended)
		}
	}
	return b
}

func row(list []float64) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = fmt.Sprintf("%4.1f", x)
	}
	return strings.Join(words, " ")
}

// service is what storms strike: it carries about 11 requests/s. docs/feedback.md
// has the figures.
var service = []string{"--virtual", "--url", "sim://llama3-8b@a100-80g", "--input-tokens", "1024", "--output-tokens", "128",
	"--patience", "10s", "--drain", "2m"}

// TestFeedback: users who give up and come back at once keep a service down
// after the burst that brought it down is over. Without retries, after a pause
// that is long against the storm, or with users who answer to latency, it comes
// back by itself.
func TestFeedback(t *testing.T) {
	again := []string{"--retries", "5", "--retry-on", "rejected,abandoned"}
	with := func(args ...string) []string { return append(slices.Clone(again), args...) }
	open := func(rate string, args ...string) []string {
		return append([]string{"--stages", "rate=" + rate + ":60s,rate=20:20s,rate=" + rate + ":220s"}, args...)
	}
	closed := func(args ...string) []string {
		return append([]string{"--stages", "users=200:60s,users=600:30s,users=200:210s", "--think", "exp:mean=20s"}, args...)
	}
	for _, c := range []struct {
		name        string
		args        []string
		least, most float64 // answered a second in the last minute
		all         bool    // every request is answered in the end
	}{
		{"5/s, no retries", open("5"), 4.5, 6, false},
		{"5/s, at once", open("5", with("--backoff", "100ms")...), 4.5, 6, false},
		{"5/s, 1s..60s", open("5", with("--backoff", "1s..60s,jitter=1")...), 0, 0.5, false},
		{"5/s, 60s..10m", open("5", with("--backoff", "60s..10m,jitter=1")...), 5, 8, true},
		{"6/s, at once", open("6", with("--backoff", "100ms")...), 0, 0.5, false},
		{"users, no retries", closed(), 7.5, 10, false},
		{"users, at once", closed(with("--backoff", "100ms")...), 7.5, 10, false},
		{"users, adapted", closed(with("--backoff", "100ms", "--adapt", "e2e.p95/1s,above=4s,floor=10")...), 7.5, 10, true},
	} {
		o := run(t, append(slices.Clone(service), c.args...)...)
		b := binned(t, o.dir, 15*time.Second, 300*time.Second)
		last := b.ok[len(b.ok)-4:]
		mean := (last[0] + last[1] + last[2] + last[3]) / 4
		r := o.summary.Requests
		t.Logf("%s: %d of %d answered, %d attempts\n  sent/s %s\n  ok/s   %s", c.name, r.OK, r.Due, r.Attempts.Total, row(b.sent), row(b.ok))
		if mean < c.least || mean > c.most || (r.OK == r.Due) != c.all {
			t.Errorf("%s: %.2f requests/s are answered in the last minute, want %v to %v; %d of %d in all", c.name, mean, c.least, c.most, r.OK, r.Due)
		}
	}
}
