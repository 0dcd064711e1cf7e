package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/stat"
)

// fake is an environment of one variable and one file.
func fake() environment {
	return environment{
		lookup: func(name string) (string, bool) {
			v, ok := map[string]string{"TOKEN": "s3cret", "OPENAI_API_KEY": "sk-default"}[name]
			return v, ok
		},
		readFile: func(name string) ([]byte, error) {
			if name == "key.txt" {
				return []byte("from-file\n"), nil
			}
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		},
	}
}

func parse(t *testing.T, yaml string, f Flags) *Scenario {
	t.Helper()
	s, err := resolve("s.yaml", []byte(yaml), f, fake())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

//go:fix inline
func TestDefaults(t *testing.T) {
	s, err := resolve("", nil, Flags{URL: []string{"http://localhost:8000"}}, fake())
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Load.String(); got != "closed loop, 8 users, 30s" {
		t.Errorf("load: %s", got)
	}
	if got := s.Workload.String(); got != "256 tokens in, 128 out" {
		t.Errorf("workload: %s", got)
	}
	want := Timeouts{10 * time.Second, 2 * time.Minute, 2 * time.Minute, time.Minute, 10 * time.Minute}
	if diff := cmp.Diff(want, s.Target.Timeouts); diff != "" {
		t.Error(diff)
	}
	if s.Seed != 1 || !s.Target.Stream || s.Target.API != "openai-chat" || s.Workload.OutputMode != Exact || s.Load.Drain != time.Minute {
		t.Errorf("other defaults: %+v", s)
	}
	f, err := s.Target.Auth.Field(t.Context())
	if err != nil || f.Name != "Authorization" || f.Value.Reveal() != "Bearer sk-default" {
		t.Errorf("the key of OPENAI_API_KEY is not sent: %s %s, %v", f.Name, f.Value.Reveal(), err)
	}
	if len(s.Notices) != 1 {
		t.Errorf("a load that nobody asked for needs a notice: %q", s.Notices)
	}
}

func TestSimGetsNoKey(t *testing.T) {
	s := parse(t, "name: x\n", Flags{})
	if !s.Target.Sim() || !s.Target.Auth.Key.Empty() {
		t.Errorf("target %v, key sent: %v", s.Target.URLs, !s.Target.Auth.Key.Empty())
	}
}

func TestFlagsOverrideFile(t *testing.T) {
	file := `
name: file
target: {url: "http://a", insecure: true, api-key-env: TOKEN}
workload: {input-tokens: 100}
load: {rate: 5, arrival: constant, duration: 1m, seed: 7}
slo: [ttft.p99<800ms]
`
	no, key := false, "key.txt"
	s := parse(t, file, Flags{Concurrency: new("3"), Insecure: &no, InputTokens: new("uniform:1..5"),
		APIKeyFile: &key, SLO: []string{"itl.p99<50ms, e2e.p50<2s"}, Requests: new("10")})
	if got := s.Load.String(); got != "closed loop, 3 users, 1m, 10 requests" {
		t.Errorf("load: %s", got)
	}
	if s.Target.TLS.Insecure || s.Target.Auth.Key.Reveal() != "from-file" || s.Name != "file" || s.Seed != 7 {
		t.Errorf("got %+v", s)
	}
	if diff := cmp.Diff([]string{"itl.p99<50ms", "e2e.p50<2s"}, s.expressions()); diff != "" {
		t.Error(diff)
	}
	if got := s.Workload.Config.Classes[0].Input; got != (stat.Uniform{Low: 1, High: 5}) {
		t.Errorf("input: %v", got)
	}
}

func TestLoads(t *testing.T) {
	for _, c := range []struct {
		load   string
		kind   LoadKind
		stages []load.Stage
	}{
		{"{rate: 5}", OpenLoop, []load.Stage{{Mode: load.OpenLoop, From: 5, To: 5, Duration: 30 * time.Second}}},
		{"{rate: 5, requests: 10}", OpenLoop, []load.Stage{{Mode: load.OpenLoop, From: 5, To: 5}}},
		{"{concurrency: 2, duration: 1m}", ClosedLoop, []load.Stage{{Mode: load.ClosedLoop, From: 2, To: 2, Duration: time.Minute}}},
		{"{stages: ['rate=1..2:10s', 'users=3:20s']}", Staged, []load.Stage{
			{Mode: load.OpenLoop, From: 1, To: 2, Duration: 10 * time.Second},
			{Mode: load.ClosedLoop, From: 3, To: 3, Duration: 20 * time.Second}}},
		{"{}", ClosedLoop, []load.Stage{{Mode: load.ClosedLoop, From: 8, To: 8, Duration: 30 * time.Second}}},
	} {
		s := parse(t, "load: "+c.load+"\n", Flags{})
		if s.Load.Kind != c.kind {
			t.Errorf("%s: kind %s", c.load, s.Load.Kind)
		}
		if diff := cmp.Diff(c.stages, s.Load.Plan.Stages); diff != "" {
			t.Errorf("%s: %s", c.load, diff)
		}
	}
}

// TestFlowLists: a colon without a space after it is part of a plain text.
func TestFlowLists(t *testing.T) {
	s := parse(t, "target: {url: [http://127.0.0.1:18123/v1, http://b:80]}\nload: {stages: [rate=1:2s, 'users=3:1m', rate=2..4:10s]}\n", Flags{})
	if len(s.Target.URLs) != 2 || s.Target.URLs[0].String() != "http://127.0.0.1:18123/v1" || s.Target.URLs[1].Host != "b:80" {
		t.Errorf("%v", s.Target.URLs)
	}
	if got := s.Load.String(); got != "stages rate=1:2s, users=3:1m, rate=2..4:10s" {
		t.Error(got)
	}
}

// TestFlagsOverrideClasses: a flag wins over what the classes of a file say.
func TestFlagsOverrideClasses(t *testing.T) {
	s := parse(t, "workload: {classes: [{name: a, weight: 0, input-tokens: 9}, {name: b, weight: 0, output-tokens: 2}]}\n", Flags{InputTokens: new("7")})
	if got := s.Workload.String(); got != "a 50%: 7 tokens in, 128 out; b 50%: 7 tokens in, 2 out" {
		t.Error(got)
	}
}

// TestForecastCountsTurns: the bound of requests holds for later turns too.
func TestForecastCountsTurns(t *testing.T) {
	s := parse(t, "workload: {turns: 3, input-tokens: 10, output-tokens: 5}\nload: {concurrency: 1, requests: 6}\n", Flags{})
	if f, ok := s.Forecast(); !ok || f.Requests != 6 || f.OutputTokens != 30 {
		t.Errorf("%+v, %v", f, ok)
	}
	s = parse(t, "workload: {turns: 3, output-tokens: 5}\nload: {stages: 'rate=2:20req'}\n", Flags{})
	if f, ok := s.Forecast(); !ok || f.Requests != 60 {
		t.Errorf("%+v, %v", f, ok)
	}
}

// TestVirtualNotices: what virtual time cannot do is said.
func TestVirtualNotices(t *testing.T) {
	s := parse(t, "target: {url: 'sim://llama3-8b', virtual: true}\nworkload: {body: {n: 2}}\nload: {rate: 1}\nout: {save-outputs: true}\n", Flags{})
	if len(s.Notices) != 2 {
		t.Errorf("%q", s.Notices)
	}
}

func TestDatasetDecidesItsTiming(t *testing.T) {
	name := filepath.Join(t.TempDir(), "d.jsonl")
	if err := os.WriteFile(name, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := parse(t, "workload: {dataset: "+name+"}\n", Flags{})
	if s.Load.Kind != OwnTiming || len(s.Load.Plan.Stages) != 1 || s.Load.Plan.MaxRequests != Unbounded {
		t.Errorf("nothing asked: %+v", s.Load)
	}
	s = parse(t, "workload: {dataset: "+name+"}\nload: {speed: 10}\n", Flags{})
	if s.Load.Kind != OwnTiming || len(s.Load.Plan.Stages) != 0 || s.Load.Plan.Speed != 10 {
		t.Errorf("speed asked: %+v", s.Load)
	}
}

func TestClassesInherit(t *testing.T) {
	s := parse(t, `
workload:
  output-tokens: 64
  classes:
    - {name: chat, weight: 3, input-tokens: 100}
    - {name: code, weight: 1, input-tokens: 2000, output-tokens: 10, reuse: true, turns: 2, think: 2s}
`, Flags{})
	if got := s.Workload.String(); got != "chat 75%: 100 tokens in, 64 out; code 25%: 2000 tokens in, 10 out, 2 turns" {
		t.Error(got)
	}
	if c := s.Workload.Config.Classes[1]; !c.Reuse || c.Think.Mean() != 2 {
		t.Errorf("%+v", c)
	}
}

// TestFrozenResolvesToTheSame: the manifest's form is a scenario again.
func TestFrozenResolvesToTheSame(t *testing.T) {
	for _, yaml := range []string{
		"name: a\n",
		"target: {url: [http://a:1/x, http://b], timeout: 90s, connections: 4, no-stream: true, retries: 2, gpus: 4, proxy: http://p:1}\nload: {rate: 2.5, arrival: gamma:cv=2, requests: 5, warmup: 3req}\nslo: ttft.p99<1ms\nout: {tag: {team: x}, dir: none}\n",
		"target: {url: unix:///run/x.sock, header: ['X-A: env:TOKEN'], api-key-env: TOKEN, auth-header: api-key}\nload: {stages: 'rate=1..2:10s,users=3:20s', max-in-flight: 9}\n",
		"workload: {turns: 3, prefix-tokens: 10, temperature: 0, classes: [{name: a, weight: 0.5, patience: exp:mean=3s, prefixes: 3}]}\nload: {concurrency: 3, think: 'uniform:1s..3s', warmup: 5s}\n",
		"target: {url: 'sim://llama3-8b@h100', virtual: true}\nload: {max-total-tokens: 1000, abort: 'error_rate>50%', seed: 18446744073709551615}\n",
	} {
		s, err := resolve("s.yaml", []byte(yaml), Flags{}, fake())
		if err != nil {
			t.Errorf("%s: %v", yaml, err)
			continue
		}
		frozen, err := s.Frozen()
		if err != nil {
			t.Fatal(err)
		}
		again, err := resolve("run.json", frozen, Flags{}, fake())
		if err != nil {
			t.Errorf("%s\nfrozen as %s\n%v", yaml, frozen, err)
			continue
		}
		if _, err := Thaw(frozen); err != nil {
			t.Errorf("thawing %s: %v", frozen, err)
		}
		twice, err := again.Frozen()
		if err != nil || string(twice) != string(frozen) {
			t.Errorf("frozen as %s\nthen as %s (%v)", frozen, twice, err)
		}
		if again.Load.String() != s.Load.String() || again.Workload.String() != s.Workload.String() {
			t.Errorf("%s: %s", again.Load.String(), s.Load.String())
		}
	}
}

// TestSecretsStayHidden prints a scenario full of secrets in every way.
func TestSecretsStayHidden(t *testing.T) {
	yaml := `
target:
  url: http://user:hunter2@host:1/v1?key=hunter2
  header: ['X-Key: hunter2', 'X-Env: env:TOKEN']
  auth-command: echo hunter2
  proxy: http://u:hunter2@proxy:1
workload: {body: {secret: hunter2}}
`
	s := parse(t, yaml, Flags{})
	frozen, err := s.Frozen()
	if err != nil {
		t.Fatal(err)
	}
	if thawed, err := Thaw(frozen); err != nil || len(thawed.SLO) != 1 {
		t.Errorf("a redacted scenario does not thaw: %v", err)
	}
	headers, err := json.Marshal(s.Target.Header)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(frozen), fmt.Sprintf("%v %+v %#v %s", s.Target.Header, s.Target.Header, s.Target.Header, s.Target.Header),
		string(headers), Redacted(s.Target.URLs[0])} {
		if strings.Contains(text, "hunter2") || strings.Contains(text, "s3cret") {
			t.Errorf("a secret shows: %s", text)
		}
	}
	if v := s.Target.Header[1].Value.Reveal(); v != "s3cret" {
		t.Errorf("env: gave %q", v)
	}
	f, err := s.Target.Auth.Field(t.Context())
	if err != nil || f.Value.Reveal() != "Bearer hunter2" {
		t.Errorf("the command's key: %q, %v", f.Value.Reveal(), err)
	}
	s.Target.Auth.Command = "echo hunter2; exit 3"
	if _, err := s.Target.Auth.Field(t.Context()); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a failed command: %v", err)
	}
}

func TestErrorsAreTyped(t *testing.T) {
	_, err := Read(filepath.Join(t.TempDir(), "none.yaml"), Flags{})
	var wrong Errors
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("name: x\nload: {rate: 5}\n")
	f.Add("target:\n  url: [http://a, sim://b]\n  header: {a: b}\nworkload:\n  body: {a: [1, 2.5, null, true]}\n")
	f.Add("load:\n  stages: ['rate=5..6:3s', x]\n  warmup: 5req\nslo: 'e2e.p50<1ms, b'\nout: {tag: [a=b]}\n")
	f.Add("workload: {classes: [{name: a, input-tokens: 'uniform:1..2'}, 3]}\n")
	f.Add("a: &b [*b]\n? {x: y}\n: z\n<<: *b\n")
	f.Fuzz(func(t *testing.T, yaml string) {
		s, err := resolve("s.yaml", []byte(yaml), Flags{}, fake())
		if err != nil {
			if _, ok := errors.AsType[Errors](err); !ok {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		frozen, err := s.Frozen()
		if err != nil || !json.Valid(frozen) {
			t.Fatalf("frozen: %s, %v", frozen, err)
		}
		_ = s.Load.String() + s.Workload.String()
	})
}
