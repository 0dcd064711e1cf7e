package interop

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/verify"
)

const ms = int64(1e6)

// tb is what rapid.T and testing.T have in common.
type tb interface {
	Helper()
	Fatal(args ...any)
}

var epoch = time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)

// write makes a finished run directory of attempts.
func write(t tb, dir string, slo string, attempts []record.Attempt) {
	t.Helper()
	w, err := record.Create(dir, &record.Manifest{Run: "r1", Name: "made", Epoch: epoch,
		Targets: []record.TargetFacts{{Name: "http://127.0.0.1:1", API: "openai-chat", Model: "m"}}}, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	objectives, err := verify.Parse(slo)
	if err != nil {
		t.Fatal(err)
	}
	sums := measure.New(measure.Options{Limits: verify.Limits(objectives)})
	for i := range attempts {
		sums.Add(&attempts[i])
		if err := w.Ended(&attempts[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Event(record.Event{At: 0, Kind: "load", Name: "begin"}); err != nil {
		t.Fatal(err)
	}
	sum := report.New(report.Run{ID: "r1", Name: "made", Version: "v0", API: "openai-chat", Model: "m", Start: epoch, Ended: report.Done,
		Duration: measure.Some(2000), Load: "open loop, 4 requests/s", Tags: map[string]string{"team": "x"}}, sums.Result(),
		verify.Judge(objectives, sums), report.Client{}, verify.Ending{})
	b, err := sum.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteFile(record.SummaryFile, b); err != nil {
		t.Fatal(err)
	}
}

// attempt is one sending with its chunks at given moments, one token each.
func attempt(id, start int64, at ...int64) record.Attempt {
	a := record.Attempt{Identity: record.Identity{RequestID: id, Attempt: 1}}
	a.Intended, a.WriteStart, a.Sent = record.Some(start), record.Some(start), record.Some(start)
	a.StampSource, a.SentSource = record.SourceKernel, record.SourceKernel
	a.PromptUsage, a.PromptCounted, a.HTTPStatus = record.Some(20), record.Some(20), record.Some(200)
	for _, x := range at {
		a.Chunks.At, a.Chunks.Tokens = append(a.Chunks.At, x), append(a.Chunks.Tokens, 1)
		a.Chunks.Bytes, a.Chunks.Kind = append(a.Chunks.Bytes, 4), append(a.Chunks.Kind, record.TextChunk)
		a.Chunks.Choice, a.Chunks.Flags = append(a.Chunks.Choice, 0), append(a.Chunks.Flags, 0)
	}
	first, last := record.Some(at[0]), record.Some(at[len(at)-1])
	a.FirstByte, a.FirstChunk, a.FirstToken, a.FirstAnswer, a.LastToken, a.Moments.Ended = first, first, first, first, last, last
	a.OutputUsage, a.OutputCounted, a.Outcome = record.Some(int64(len(at))), record.Some(int64(len(at))), record.OK
	a.Bytes = record.Bytes{Request: 100, Response: 400}
	return a
}

func refused(id, start int64) record.Attempt {
	a := record.Attempt{Identity: record.Identity{RequestID: id, Attempt: 1}}
	a.Intended, a.WriteStart, a.Sent, a.Moments.Ended = record.Some(start), record.Some(start), record.Some(start), record.Some(start+ms)
	a.Outcome, a.HTTPStatus, a.ErrorClass, a.ErrorText = record.Rejected, record.Some(int64(503)), "overloaded", "queue full"
	a.PromptCounted = record.Some(20)
	return a
}

// three is a run whose figures can be had by hand: TTFT 50 and 70 ms, gaps 20,
// 20 and 30 ms, E2E 90 and 100 ms, one of three refused.
func three() []record.Attempt {
	return []record.Attempt{
		attempt(0, 0, 50*ms, 70*ms, 90*ms), attempt(1, 1000*ms, 1070*ms, 1100*ms), refused(2, 1500*ms),
	}
}

func export(t tb, dir, as string) []byte {
	t.Helper()
	var b bytes.Buffer
	left, err := Export(&b, dir, as)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) == 0 && as != "junit" {
		t.Fatal("nothing is said to be left out of " + as)
	}
	return b.Bytes()
}

// TestFiguresByHand: each format's numbers of the run of three.
func TestFiguresByHand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	write(t, dir, "ttft.p50<1s, error_rate<1%", three())
	for as, want := range map[string]map[string]float64{
		"vllm": {"completed": 2, "failed": 1, "num_prompts": 3, "mean_ttft_ms": 60, "median_ttft_ms": 60, "p90_ttft_ms": 68, "std_ttft_ms": 10,
			"mean_itl_ms": 70. / 3, "median_itl_ms": 20, "mean_e2el_ms": 95, "mean_tpot_ms": 25, "std_tpot_ms": 5, "total_output_tokens": 5,
			"total_input_tokens": 40, "ttfts.0": 0.05, "ttfts.1": 0.07, "ttfts.2": 0, "itls.0.1": 0.02, "latencies.1": 0.1, "start_times.2": 1.5,
			"duration": 1.501, "request_throughput": 2 / 1.501},
		"aiperf-summary": {"time_to_first_token.avg": 60, "time_to_first_token.min": 50, "time_to_first_token.count": 2, "request_latency.p50": 95,
			"inter_token_latency.avg": 25, "inter_chunk_latency.count": 3, "inter_chunk_latency.max": 30, "request_count.avg": 2,
			"error_request_count.avg": 1, "benchmark_duration.avg": 1.1, "output_sequence_length.sum": 5, "request_throughput.avg": 2 / 1.1},
		"llm-d": {"results.request_performance.aggregate.requests.total": 3, "results.request_performance.aggregate.requests.failures": 1,
			"results.request_performance.aggregate.latency.time_to_first_token.mean":   60,
			"results.request_performance.aggregate.latency.time_to_first_token.stddev": 10,
			"results.request_performance.aggregate.latency.request_latency.max":        100,
			// (90/3 + 100/2)/2
			"results.request_performance.aggregate.latency.normalized_time_per_output_token.mean": 40,
			"results.request_performance.aggregate.throughput.request_rate.mean":                  2 / 1.501},
		"k6": {"metrics.http_reqs.values.count": 3, "metrics.http_reqs.values.rate": 1.5, "metrics.http_req_failed.values.rate": 1. / 3,
			"metrics.http_req_duration.values.avg": (90. + 100 + 1) / 3, "metrics.http_req_waiting.values.med": 60, "metrics.ttft.values.p(90)": 68,
			"metrics.error_rate.values.value": 100. / 3, "metrics.data_received.values.count": 800},
	} {
		got := flatten(t, export(t, dir, as))
		for name, x := range want {
			if y, ok := got[name].(float64); !ok || math.Abs(x-y) > 1e-9*math.Max(1, x) {
				t.Errorf("%s: %s is %v, expected %v", as, name, got[name], x)
			}
		}
	}
	k6 := flatten(t, export(t, dir, "k6"))
	if k6["metrics.error_rate.thresholds.error_rate<1%.ok"] != false {
		t.Errorf("a threshold that does not hold: %v", k6["metrics.error_rate.thresholds.error_rate<1%.ok"])
	}
	if k6["metrics.ttft.thresholds.ttft.p50<1s.ok"] != false { // of three requests nothing is shown
		t.Error("an objective that is inconclusive is not ok")
	}
	var suites struct {
		Failures int `xml:"failures,attr"`
	}
	if err := xml.Unmarshal(export(t, dir, "junit"), &suites); err != nil || suites.Failures != 2 {
		t.Errorf("%+v %v", suites, err)
	}
}

// flatten names every scalar of a JSON value by its path.
func flatten(t tb, b []byte) map[string]any {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				walk(strings.TrimPrefix(path+"."+k, "."), e)
			}
		case []any:
			for i, e := range v {
				walk(path+"."+floatText(float64(i)), e)
			}
		default:
			out[path] = v
		}
	}
	walk("", v)
	return out
}

// TestLLMDKeepsItsSchema: names, units and bounds of the Benchmark Report
// 0.2.1, of a run with and one without successes.
func TestLLMDKeepsItsSchema(t *testing.T) {
	f, err := os.Open("testdata/llm-d-0.2.1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, attempts := range map[string][]record.Attempt{"three": three(), "refused": {refused(0, 0)}, "one": {attempt(0, 0, 5)}} {
		dir := filepath.Join(t.TempDir(), name)
		write(t, dir, "error_rate<1%", attempts)
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(export(t, dir, "llm-d")))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		v.(map[string]any)["extra"] = 1.0
		if schema.Validate(v) == nil {
			t.Error("the schema takes anything")
		}
	}
}

// drawn makes a run of up to forty requests.
func drawn(t *rapid.T) []record.Attempt {
	var out []record.Attempt
	start := int64(0)
	for i := range rapid.IntRange(1, 40).Draw(t, "requests") {
		start += rapid.Int64Range(0, 3e9).Draw(t, "later")
		if rapid.IntRange(0, 3).Draw(t, "fate") == 0 {
			out = append(out, refused(int64(i), start))
			continue
		}
		at := []int64{start + rapid.Int64Range(1, 9e8).Draw(t, "ttft")}
		for range rapid.IntRange(0, 6).Draw(t, "gaps") {
			at = append(at, at[len(at)-1]+rapid.Int64Range(0, 2e8).Draw(t, "gap"))
		}
		out = append(out, attempt(int64(i), start, at...))
	}
	slices.SortStableFunc(out, func(a, b record.Attempt) int { return int(a.Moments.Ended.Or(0) - b.Moments.Ended.Or(0)) })
	return out
}

// carried are the fields of a row that a format carries there and back.
type carried struct {
	OK                   bool
	Status               int64
	Start, First, Last   int64
	Chunks               string
	PromptTokens, Output int64
	Cached               int64
}

func carriedOf(a *record.Attempt, zero int64) carried {
	c := carried{OK: a.Outcome == record.OK, Status: a.HTTPStatus.Or(200), Start: a.WriteStart.Or(-1) - zero,
		First: a.FirstToken.Or(zero-1) - zero, Last: a.LastToken.Or(zero-1) - zero, Output: a.OutputUsage.Or(-1),
		PromptTokens: a.PromptCounted.Or(-1), Cached: a.CachedUsage.Or(-1)}
	for i, at := range a.Chunks.At {
		c.Chunks += decimal(at-zero, 9) + ":" + decimal(int64(a.Chunks.Tokens[i]), 0) + " "
	}
	return c
}

// TestRoundTrips: what is exported and imported again is the same run on what
// docs/interop.md says is carried, to the nanosecond.
func TestRoundTrips(t *testing.T) {
	for _, as := range []string{"vllm", "aiperf"} {
		t.Run(as, func(t *testing.T) {
			root := t.TempDir()
			for n := range 12 { // each writes two run directories
				dir := filepath.Join(root, decimal(int64(n), 0))
				attempts := rapid.Custom(drawn).Example(n)
				write(t, dir, "error_rate<1%", attempts)
				file := dir + ".json"
				if err := os.WriteFile(file, export(t, dir, as), 0o600); err != nil {
					t.Fatal(err)
				}
				s, _, err := Import(file, Options{Out: dir + "-back"})
				if err != nil || s.Format != as || len(s.Doubts) > 0 {
					t.Fatal(err, s)
				}
				run, err := record.Open(dir + "-back")
				if err != nil {
					t.Fatal(err)
				}
				zero := attempts[0].WriteStart.Or(0)
				for i := range attempts {
					zero = min(zero, attempts[i].WriteStart.Or(zero))
				}
				i := 0
				for a, err := range run.Attempts() {
					if err != nil {
						t.Fatal(err)
					}
					want := carriedOf(&attempts[i], zero)
					got := carriedOf(a, 0)
					if as == "aiperf" && !want.OK {
						want.PromptTokens = -1 // AIPerf's failures have no tags
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("request %d: %s", i, diff)
					}
					i++
				}
				if i != len(attempts) {
					t.Fatalf("%d rows of %d", i, len(attempts))
				}
			}
		})
	}
}

// TestExportsOfUnfinishedRuns: no file of half a run.
func TestExportsOfUnfinishedRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	write(t, dir, "error_rate<1%", three())
	if err := os.Remove(filepath.Join(dir, record.SummaryFile)); err != nil {
		t.Fatal(err)
	}
	for _, as := range ExportNames() {
		if _, err := Export(&bytes.Buffer{}, dir, as); err == nil || !strings.Contains(err.Error(), "not finished") {
			t.Errorf("%s: %v", as, err)
		}
	}
	if _, err := Export(&bytes.Buffer{}, dir, "locust"); err == nil || !strings.Contains(err.Error(), "expected vllm") {
		t.Error(err)
	}
}

// TestDecimal: exact and short.
func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		n      int64
		places int
		want   string
	}{{1500000000, 9, "1.5"}, {1, 9, "0.000000001"}, {-20, 1, "-2"}, {0, 9, "0"}, {7, 0, "7"}} {
		if got := decimal(c.n, c.places); got != c.want {
			t.Errorf("%d: %s, expected %s", c.n, got, c.want)
		}
	}
}

// k6 calls failed what has a status below 200 or from 400 on, or none at all.
func TestK6CountsStatuses(t *testing.T) {
	var all []record.Attempt
	for i, status := range []int64{200, 302, 399, 400, 404, 503, 0} {
		a := attempt(int64(i), int64(i)*1000*ms, (int64(i)*1000+50)*ms)
		if a.HTTPStatus = record.Some(status); status == 0 {
			a.HTTPStatus, a.Outcome = record.Int{}, record.TransportError
		}
		all = append(all, a)
	}
	dir := filepath.Join(t.TempDir(), "run")
	write(t, dir, "error_rate<1%", all)
	k6 := flatten(t, export(t, dir, "k6"))
	if k6["metrics.http_req_failed.values.passes"] != 4. || k6["metrics.http_req_failed.values.fails"] != 3. {
		t.Errorf("%v failed, %v not", k6["metrics.http_req_failed.values.passes"], k6["metrics.http_req_failed.values.fails"])
	}
}
