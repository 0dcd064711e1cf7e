package acceptance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
)

// binary is the command under test, built once.
var binary string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tokamak-acceptance")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "tokamak")
	build := exec.Command("go", "build", "-o", binary, "github.com/tokamak-bench/tokamak/cmd/tokamak")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// outcome is what a command came to.
type outcome struct {
	exit           int
	stdout, stderr string
	dir            string
	summary        report.Summary
}

// tokamak runs the command to its end in a directory of its own.
func tokamak(t testing.TB, args ...string) outcome {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "OPENAI_API_KEY=")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		t.Fatal(err)
	}
	return outcome{exit: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// run runs `tokamak run` into a run directory and reads its summary.
func run(t testing.TB, args ...string) outcome {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	o := tokamak(t, append([]string{"run", "--quiet", "--out", dir}, args...)...)
	o.dir = dir
	o.readSummary(t)
	return o
}

func (o *outcome) readSummary(t testing.TB) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(o.dir, record.SummaryFile))
	if err != nil {
		t.Fatalf("%v\nexit %d\n%s%s", err, o.exit, o.stdout, o.stderr)
	}
	if err := json.Unmarshal(b, &o.summary); err != nil {
		t.Fatal(err)
	}
}

// wantExit fails the test with all output where the exit code is another.
func (o *outcome) wantExit(t testing.TB, code int) {
	t.Helper()
	if o.exit != code {
		t.Fatalf("exit %d, want %d\n%s%s", o.exit, code, o.stdout, o.stderr)
	}
}

// metric returns a statistic of the summary.
func (o *outcome) metric(t testing.TB, name, stat string) float64 {
	t.Helper()
	m, ok := o.summary.Metrics[name]
	if !ok {
		t.Fatalf("the summary has no %s", name)
	}
	v, ok := m.Stat(stat)
	if !ok {
		t.Fatalf("%s has no %s", name, stat)
	}
	x, ok := v.Get()
	if !ok {
		t.Fatalf("%s.%s is absent", name, stat)
	}
	return x
}

// attempts reads the rows of a run directory.
func attempts(t testing.TB, dir string) []*record.Attempt {
	t.Helper()
	r, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []*record.Attempt
	for a, err := range r.Attempts() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a.Clone())
	}
	return all
}

// engine is a `tokamak sim` in a process of its own.
type engine struct {
	url   string
	hello map[string]string // where it can be reached, by what is there
	log   string            // path of its request log
	cmd   *exec.Cmd
}

// startEngine serves a simulated engine until the test ends.
func startEngine(t testing.TB, target string, args ...string) *engine {
	t.Helper()
	e := &engine{log: filepath.Join(t.TempDir(), "engine.jsonl")}
	e.cmd = exec.Command(binary, append([]string{"sim", "--child", "--listen", "127.0.0.1:0", "--target", target, "--log", e.log}, args...)...)
	stdin, err := e.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	e.cmd.Stderr = os.Stderr
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = e.cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, &e.hello); err != nil {
		t.Fatal(err)
	}
	e.url = e.hello["url"]
	return e
}

// served is a line of the engine's request log.
type served struct {
	RequestID string  `json:"request_id"`
	Status    int     `json:"status"`
	Arrival   int64   `json:"arrival_unix_ns"`
	Prompt    int64   `json:"prompt_tokens"`
	Output    int64   `json:"output_tokens"`
	Ended     int64   `json:"ended_at"`
	Written   []int64 `json:"token_written_at"`
}

// requests reads the engine's request log, waiting until it holds n lines,
// which another process writes in real time.
func (e *engine) requests(t testing.TB, n int) []served {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		all := e.read(t)
		if len(all) >= n || time.Now().After(deadline) {
			return all
		}
	}
}

func (e *engine) read(t testing.TB) []served {
	t.Helper()
	b, err := os.ReadFile(e.log)
	if err != nil {
		t.Fatal(err)
	}
	var all []served
	for line := range strings.Lines(string(b)) {
		if !strings.HasSuffix(line, "\n") {
			break // still being written
		}
		var s served
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// number is the request's number within the run, from its X-Request-Id.
func (s *served) number(t testing.TB) int64 {
	t.Helper()
	i := strings.LastIndexByte(s.RequestID, '-')
	var n int64
	if _, err := fmt.Sscan(s.RequestID[i+1:], &n); err != nil {
		t.Fatalf("request id %q: %v", s.RequestID, err)
	}
	return n
}
