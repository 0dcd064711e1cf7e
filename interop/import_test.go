package interop

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/interop/jsonstream"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
)

var update = flag.Bool("update", false, "write goldens")

// samples are results of the tools themselves, run against the simulated
// engine with 15 % of the requests refused, and cut to a few requests.
var samples = map[string]string{
	"vllm": "vllm.json", "sglang": "sglang.jsonl", "guidellm": "guidellm.json", "aiperf": "aiperf.jsonl", "aiperf-summary": "aiperf-summary.json",
	"inference-perf": "inference-perf.json", "inference-perf-summary": "inference-perf-summary.json", "evalscope-summary": "evalscope-summary.json",
}

func sample(t testing.TB, format string) string {
	t.Helper()
	return filepath.Join("testdata", samples[format])
}

// row writes what a golden holds of a row: moments in ms from the epoch.
func row(a *record.Attempt) string {
	ms := func(i record.Int) string {
		v, ok := i.Get()
		if !ok {
			return "-"
		}
		return fmt.Sprintf("%.6f", float64(v)/1e6)
	}
	n := func(i record.Int) string {
		v, ok := i.Get()
		if !ok {
			return "-"
		}
		return fmt.Sprint(v)
	}
	s := fmt.Sprintf("%d %s %s status=%s intended=%s dispatched=%s write=%s first=%s answer=%s last=%s ended=%s prompt=%s/%s cached=%s output=%s/%s",
		a.RequestID, a.Outcome, a.ErrorClass, n(a.HTTPStatus), ms(a.Intended), ms(a.Dispatched), ms(a.WriteStart), ms(a.FirstToken), ms(a.FirstAnswer),
		ms(a.LastToken), ms(a.Moments.Ended), n(a.PromptUsage), n(a.PromptCounted), n(a.CachedUsage), n(a.OutputUsage), n(a.OutputCounted))
	s += "\n   "
	for i, at := range a.Chunks.At {
		tokens := "?"
		if i < len(a.Chunks.Tokens) {
			tokens = fmt.Sprint(a.Chunks.Tokens[i])
		}
		s += fmt.Sprintf(" %.6f:%s", float64(at)/1e6, tokens)
	}
	return s + "\n"
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// TestRealResults: what each tool wrote becomes a run that can be read again,
// or its figures.
func TestRealResults(t *testing.T) {
	for name := range samples {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			s, sum, err := Import(sample(t, name), Options{Out: dir, Version: "v0"})
			if err != nil {
				t.Fatal(err)
			}
			if s.Format != name {
				t.Fatalf("recognised as %s", s.Format)
			}
			var b strings.Builder
			b.WriteString(s.Text())
			if sum == nil {
				golden(t, name+".golden", b.String())
				return
			}
			b.WriteByte('\n')
			run, err := record.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			for a, err := range run.Attempts() {
				if err != nil {
					t.Fatal(err)
				}
				b.WriteString(row(a))
			}
			b.WriteByte('\n')
			fmt.Fprintf(&b, "%+v\n", sum.Requests.Requests)
			for _, m := range []string{"ttft", "itl", "icl", "tpot", "e2e", "input_tokens", "output_tokens"} {
				x := sum.Metrics[m]
				fmt.Fprintf(&b, "%s p50 %s p99 %s of %d\n", m, measure.Figure(x.P50, x.Unit), measure.Figure(x.P99, x.Unit), x.Count)
			}
			for _, m := range []string{"request_rate", "output_token_rate", "error_rate", "cached_share"} {
				fmt.Fprintf(&b, "%s %s\n", m, measure.Figure(sum.Metrics[m].Value, sum.Metrics[m].Unit))
			}
			golden(t, name+".golden", b.String())
			i := run.Manifest().Imported
			if i == nil || i.Tool != s.Tool || len(i.Lost) == 0 || i.Format != name {
				t.Errorf("manifest: %+v", i)
			}
			if _, err := os.Stat(filepath.Join(dir, SourceFile)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTheToolsOwnFigures: from the rows come the figures that the tool itself
// printed, where the definitions agree.
func TestTheToolsOwnFigures(t *testing.T) {
	_, sum, err := Import(sample(t, "sglang"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for metric, want := range map[string]float64{"ttft": 22.927009, "itl": 10.687293, "e2e": 97.757968} {
		if got := sum.Metrics[metric].Mean.Or(0); math.Abs(got-want) > 0.06 { // e2e: SGLang counts up to the terminator
			t.Errorf("%s: mean %v, SGLang said %v", metric, got, want)
		}
	}
	if v := sum.Metrics["request_rate"].Value; v.Valid() {
		t.Errorf("a rate of requests without moments: %v", v)
	}
	if v := sum.Metrics["schedule_lag"].P50; v.Valid() {
		t.Errorf("a lag that nobody told: %v", v)
	}
}

// TestDamagedResults: a cut and a wrong value in each sample say where, and
// leave nothing behind.
func TestDamagedResults(t *testing.T) {
	var b strings.Builder
	for name := range samples {
		raw, err := os.ReadFile(sample(t, name))
		if err != nil {
			t.Fatal(err)
		}
		for what, broken := range damages(raw) {
			dir := t.TempDir()
			path := filepath.Join(dir, "result.json")
			if err := os.WriteFile(path, broken, 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err := Import(path, Options{From: name, Out: filepath.Join(dir, "run")})
			if err == nil {
				t.Errorf("%s, %s: no error", name, what)
				continue
			}
			fmt.Fprintf(&b, "%s, %s: %s\n", name, what, strings.ReplaceAll(err.Error(), dir+"/", ""))
			if _, err := os.Stat(filepath.Join(dir, "run")); err == nil {
				t.Errorf("%s, %s: a run directory was left", name, what)
			}
		}
	}
	golden(t, "damaged.golden", sorted(b.String()))
}

func sorted(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}

func damages(raw []byte) map[string][]byte {
	cut := raw[:len(raw)*7/10]
	names := regexp.MustCompile(`[^\\\\]": ?`).FindAllIndex(cut, -1) // not those within texts
	name := names[len(names)-1][1]
	wrong := append(append(append([]byte{}, raw[:name]...), '@'), raw[name:]...)
	return map[string][]byte{"cut": cut, "wrong": wrong, "empty": nil, "array": []byte("[[1]]"), "text": []byte(`"x"`)}
}

func TestUnknownFiles(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"empty": "", "words": "hello", "other": `{"a":1,"b":{}}`} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := Import(path, Options{})
		if err == nil || !strings.Contains(err.Error(), "expected a result of") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := Import(filepath.Join(dir, "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, _, err := Import(dir, Options{From: "llmperf"}); err == nil || !strings.Contains(err.Error(), "--from") {
		t.Error(err)
	}
}

// TestSeveralRuns: of a file with several one is named.
func TestSeveralRuns(t *testing.T) {
	raw, err := os.ReadFile(sample(t, "sglang"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "two.jsonl")
	if err := os.WriteFile(path, append(raw, bytes.Replace(raw, []byte(`"tag":null`), []byte(`"tag":null,"more":1`), 1)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Import(path, Options{}); err == nil || !strings.Contains(err.Error(), "choose one with --run 1 to 2") {
		t.Error(err)
	}
	s, _, err := Import(path, Options{Run: 2})
	if err != nil || s.Runs != 2 || !strings.Contains(s.Text(), "more") {
		t.Errorf("%v", err)
	}
	if _, _, err := Import(path, Options{Run: 3}); err == nil || !strings.Contains(err.Error(), "no run 3") {
		t.Error(err)
	}
}

// TestImpossibleMoments: what cannot be is left out and said, and never a
// negative latency.
func TestImpossibleMoments(t *testing.T) {
	a := record.Attempt{Identity: record.Identity{RequestID: 1, Attempt: 1}}
	a.WriteStart, a.Intended, a.FirstToken, a.LastToken = record.Some(1000), record.Some(2000), record.Some(10), record.Some(5)
	a.Chunks.At = []int64{10, 5}
	s := &Source{}
	if err := settle(&a, s); err != nil {
		t.Fatal(err)
	}
	if a.FirstToken.Valid() || a.LastToken.Valid() || a.Chunks.Len() != 0 || a.Intended != record.Some(1000) || len(s.Doubts) != 3 {
		t.Errorf("%+v %q", a.Moments, s.Doubts)
	}
	a.Moments.Ended = record.Some(farthest + 1001)
	if err := settle(&a, s); err == nil {
		t.Error("a request of a year")
	}
	if err := settle(&record.Attempt{}, s); err == nil {
		t.Error("a request without a moment")
	}
}

// TestFailures: what an error text says, and no more than that.
func TestFailures(t *testing.T) {
	for text, want := range map[string]struct {
		outcome record.Outcome
		class   string
	}{
		"Service Unavailable":                                   {record.Rejected, "http_503"},
		"Too Many Requests":                                     {record.Rejected, "http_429"},
		"HTTP Error 400: the prompt has 500 tokens":             {record.HTTPError, "http_400"},
		"Client error '404 Not Found' for url":                  {record.HTTPError, "http_404"},
		"maximum context length is 500 tokens":                  {Failed, "failed"},
		"Traceback (most recent call last):\n  x\nTimeoutError": {record.Timeout, "timeout"},
		"Cannot connect to host 127.0.0.1:500":                  {record.TransportError, "refused"},
		"Server disconnected":                                   {record.TransportError, "reset"},
		"something":                                             {Failed, "failed"},
	} {
		var a record.Attempt
		failure(&a, text)
		if a.Outcome != want.outcome || a.ErrorClass != want.class || strings.Contains(a.ErrorText, "\n") {
			t.Errorf("%q: %s %s %q", text, a.Outcome, a.ErrorClass, a.ErrorText)
		}
	}
	var a record.Attempt
	failure(&a, "HTTP 401 from https://user:secret@host/v1?key=secret")
	if strings.Contains(a.ErrorText, "secret") {
		t.Errorf("a secret in %q", a.ErrorText)
	}
}

// discard takes rows and forgets them.
type discard struct{ s *Source }

func (d discard) row(a *record.Attempt) error { return settle(a, d.s) }

// FuzzImport: whatever a file holds, each format reads it or says why not.
func FuzzImport(f *testing.F) {
	for name, file := range samples {
		if raw, err := os.ReadFile(filepath.Join("testdata", file)); err == nil {
			for i, k := range formats() {
				if k.name == name {
					f.Add(raw, uint8(i))
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, which uint8) {
		all := formats()
		k := all[int(which)%len(all)]
		in := &input{path: "f", open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil }}
		s := &Source{}
		var at *jsonstream.Error
		if err := k.read(in, s, discard{s}); errors.As(err, &at) && at.Offset > int64(len(raw)) {
			t.Errorf("byte %d of %d", at.Offset, len(raw))
		}
	})
}
