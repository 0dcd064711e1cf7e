package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/verify"
)

var update = flag.Bool("update", false, "rewrite golden files")

const ms = int64(time.Millisecond)

// made is a run made up for a test.
type made struct {
	n, failed int
	outcome   record.Outcome // of the failed
	class     string
	text      string   // of the failed
	notes     []string // of the others
	ttft      int64    // ns, in the mean
	late      int64    // ns by which the client was late
	slo       string
	ending    verify.Ending
	run       func(*Run)
}

// summary measures and judges the made-up run as a real one is.
func (m made) summary(t *testing.T) *Summary {
	t.Helper()
	if m.slo == "" {
		m.slo = verify.Default
	}
	objectives, err := verify.Parse(m.slo)
	if err != nil {
		t.Fatal(err)
	}
	a := measure.New(measure.Options{Start: record.Some(0), End: record.Some(int64(m.n) * 125 * ms), Stages: 1,
		Limits: verify.Limits(objectives)})
	for i := range m.n {
		row := m.attempt(i)
		a.Add(&row)
	}
	run := Run{ID: "20261201-100000-ab12", Name: "chat-ramp", Dir: "runs/2026-12-01T10-00-00-chat-ramp", Version: "v0.1.0",
		Targets: []string{"http://localhost:8000"}, API: "openai-chat", Model: "llama3-8b",
		Load: "open loop, 8 requests/s poisson, 20s", Workload: "256 tokens in, 16 out", Seed: 1,
		Start: time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC), Duration: measure.Some(20_500), Ended: Done,
		Stamps:   map[string]float64{"kernel": 1},
		Timeouts: map[string]float64{"timeout_first_token": 120_000}}
	if m.run != nil {
		m.run(&run)
	}
	client := Client{LagP99: measure.Some(0.082 + float64(m.late)/1e6), LagMax: measure.Some(1.2 + float64(m.late)/1e6),
		CPU: measure.Some(0.12), MaxRSS: measure.Some(21 << 20), GCPause: measure.Some(0.05)}
	return New(run, a.Result(), verify.Judge(objectives, a), client, m.ending)
}

func (m made) attempt(i int) record.Attempt {
	r := stat.Random(1, "test", uint64(i))
	intended := int64(i) * 125 * ms
	write := intended + 40_000 + m.late
	first := write + int64(float64(m.ttft)*(0.7+0.6*r.Float64()))
	a := record.Attempt{Identity: record.Identity{RequestID: int64(i), Attempt: 1},
		Moments: record.Moments{Intended: record.Some(intended), Dispatched: record.Some(write), WriteStart: record.Some(write), ConnReused: true,
			Sent: record.Some(write + 20_000), SentSource: record.SourceKernel, StampSource: record.SourceKernel, ClockError: record.Some(1000)}}
	if i%m.n < m.failed {
		a.Outcome, a.ErrorClass, a.ErrorText = m.outcome, m.class, m.text
		a.Moments.Ended = record.Some(write + 3*ms)
		return a
	}
	at := first
	for range 16 {
		a.Chunks.At = append(a.Chunks.At, at)
		a.Chunks.Tokens = append(a.Chunks.Tokens, 1)
		a.Chunks.Bytes = append(a.Chunks.Bytes, 4)
		a.Chunks.Kind = append(a.Chunks.Kind, record.TextChunk)
		a.Chunks.Choice = append(a.Chunks.Choice, 0)
		a.Chunks.Flags = append(a.Chunks.Flags, 0)
		at += 18*ms + int64(4e6*r.Float64())
	}
	last := record.Some(a.Chunks.At[15])
	a.FirstByte, a.FirstChunk, a.FirstToken, a.FirstAnswer = record.Some(first), record.Some(first), record.Some(first), record.Some(first)
	a.LastToken, a.Moments.Ended, a.Outcome, a.TokenSource = last, last, record.OK, "usage_delta"
	a.PromptUsage, a.OutputUsage, a.OutputAsked = record.Some(256), record.Some(16), record.Some(16)
	a.Notes = m.notes
	return a
}

var runs = map[string]made{
	"good":         {n: 1234, ttft: 231 * ms, slo: "ttft.p99<800ms, itl.p99<50ms, error_rate<1%"},
	"failing":      {n: 256, failed: 250, outcome: record.Rejected, class: "http_429", ttft: 231 * ms, slo: "ttft.p99<800ms, error_rate<1%", run: limited},
	"inconclusive": {n: 160, ttft: 231 * ms, slo: "ttft.p99<800ms"},
	"invalid":      {n: 1234, ttft: 100 * ms, late: 400 * ms, slo: "e2e.p99<700ms, itl.p99<50ms"},
	"few":          {n: 3, ttft: 231 * ms},
	"nothing":      {n: 16, failed: 16, outcome: record.TransportError, class: "refused", ttft: ms},
	"slow":         {n: 1000, failed: 40, outcome: record.Timeout, class: "timeout_first_token", ttft: 900 * ms, slo: "ttft.p99<800ms,e2e.p50<5s"},
	"refused": {n: 20, failed: 20, outcome: record.HTTPError, class: "redirect", ttft: ms,
		text: "redirected to http://localhost:8000/v1/elsewhere/than/was/asked?because=of&many=words; give that address as the target"},
	"aborted": {n: 100, failed: 30, outcome: record.Rejected, class: "overloaded", ttft: 231 * ms, text: "queue full",
		slo: "tokens_per_s_user.p5>20tok/s, ttft.p50<239.7ms", ending: verify.Ending{Aborted: true}, run: func(r *Run) { r.Ended, r.Reason = Aborted, "errors>=30: 30 requests failed" }},
	"odd":         {n: 480, ttft: 231 * ms, notes: []string{"empty_answer", "over_max_tokens", "usage_missing", "think_tags", "after_done"}},
	"interrupted": {n: 700, ttft: 231 * ms, slo: "ttft.p99<800ms", ending: verify.Ending{Interrupted: true}, run: func(r *Run) { r.Ended = Interrupted }},
}

func limited(r *Run) {
	r.Notices = []string{QuotaNotice(250, map[string]string{"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "0"})}
	r.Adapted = []string{"ignore_eos dropped: the server refused it"}
	r.Tags = map[string]string{"team": "inference", "gpu": "a100"}
}

func TestText(t *testing.T) {
	for name, m := range runs {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Text(&b, m.summary(t), TextOptions{}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if n := len([]rune(strings.TrimRight(line, "\n"))); n > textWidth {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			golden(t, name+".txt", b.Bytes())
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

// TestColoursChangeNothingElse: the same text without its colours.
func TestColoursChangeNothingElse(t *testing.T) {
	for name, m := range runs {
		var plainText, colourText bytes.Buffer
		s := m.summary(t)
		if err := Text(&plainText, s, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := Text(&colourText, s, TextOptions{Colour: true}); err != nil {
			t.Fatal(err)
		}
		bare := colourText.String()
		for _, c := range []string{green, yellow, red, plain} {
			bare = strings.ReplaceAll(bare, c, "")
		}
		if diff := cmp.Diff(plainText.String(), bare); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestHostileTexts: nothing that a target or a file calls itself steers the
// terminal, not even with the summary's own colours.
func TestHostileTexts(t *testing.T) {
	const hostile = "m\x1b]0;title\a\x1b[2J\u009b31m\u202e\r\x1b[32mPASS\x1b[0m\x08\nPASS (exit 0)"
	for _, m := range runs {
		s := m.summary(t)
		r := &s.Run
		for _, to := range []*string{&r.ID, &r.Name, &r.Dir, &r.Targets[0], &r.API, &r.Model, &r.Load, &r.Workload, &r.Reason, &s.Verdict.Reason} {
			*to += hostile
		}
		r.Ended = Aborted
		s.Verdict.Verdict, s.Verdict.Exit = verify.Fail, 1
		r.Notices, r.Adapted, s.Client.Advice = []string{hostile}, []string{hostile}, []string{hostile}
		r.Stamps[hostile] = 0.5
		at := &s.Requests.Attempts
		s.Requests.ByOutcome[hostile], at.ByErrorClass[hostile], at.ByNote[hostile], at.Examples[hostile] = 1<<30, 1<<30, 1<<30, hostile
		for i := range s.SLO {
			s.SLO[i].Expr, s.SLO[i].Unit, s.SLO[i].Reason, s.SLO[i].Verdict = hostile, hostile, hostile, verify.Verdict(hostile)
		}
		for name, v := range s.Metrics {
			v.Unit = hostile
			s.Metrics[name] = v
		}
		for name, v := range s.Client.Validity {
			v.Trust, v.Reason = measure.Invalid, hostile
			s.Client.Validity[name] = v
		}
		var b bytes.Buffer
		if err := Text(&b, s, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\a\u009b\u202e\r\x08") || strings.Contains(b.String(), "\nPASS") {
			t.Errorf("%q", b.String())
		}
	}
}

// TestSchema validates summaries against the published schema, and breaks
// them to see that it can fail.
func TestSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../docs/summary.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range runs {
		s := m.summary(t)
		s.Run.Users = &Users{Rule: "e2e.p95/50ms", Of: 4, Least: 1, Last: 2, AtFloor: measure.Some(0.5)}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, schema, b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for from, to := range map[string]string{`"due":`: `"dew":`, `"p99":`: `"p98":`, `"verdict":`: `"judgement":`, `"unit":"ms"`: `"unit":5`} {
			broken := strings.Replace(string(b), from, to, 1)
			if broken != string(b) && validate(t, schema, []byte(broken)) == nil {
				t.Errorf("%s: the schema takes %s for %s", name, to, from)
			}
		}
	}
}

func validate(t *testing.T, schema *jsonschema.Schema, b []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(v)
}

// TestSummaryReadsBack: what report reads from a run directory is what was
// written, nulls and infinities included.
func TestSummaryReadsBack(t *testing.T) {
	for name, m := range runs {
		s := m.summary(t)
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back Summary
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(&back)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, again) {
			t.Errorf("%s: %s", name, cmp.Diff(string(b), string(again)))
		}
	}
}
