package acceptance

import (
	"bytes"
	"errors"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/verify"
)

// background is a `tokamak run` under way.
type background struct {
	outcome
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

func start(t *testing.T, args ...string) *background {
	t.Helper()
	b := &background{}
	b.dir = filepath.Join(t.TempDir(), "run")
	b.cmd = exec.Command(binary, append([]string{"run", "--quiet", "--out", b.dir}, args...)...)
	b.cmd.Stdout, b.cmd.Stderr = &b.stdout, &b.stderr
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.cmd.Process.Kill() })
	return b
}

// signal sends a signal after a time.
func (b *background) signal(after time.Duration, s syscall.Signal) {
	time.Sleep(after)
	_ = b.cmd.Process.Signal(s)
}

func (b *background) wait(t *testing.T) {
	t.Helper()
	err := b.cmd.Wait()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		t.Fatal(err)
	}
	b.exit = b.cmd.ProcessState.ExitCode()
	b.outcome.stdout, b.outcome.stderr = b.stdout.String(), b.stderr.String()
}

// TestKilledRunIsRecovered: after kill -9 every request that the server had
// ended more than a second before is there, with the server's token count.
func TestKilledRunIsRecovered(t *testing.T) {
	e := startEngine(t, "sim://llama3-8b@a100-80g")
	b := start(t, "--url", e.url, "--model", "llama3-8b", "--rate", "20", "--duration", "1m", "--output-tokens", "20")
	time.Sleep(4 * time.Second)
	before := time.Now().Add(-time.Second).UnixNano()
	b.signal(0, syscall.SIGKILL)
	b.wait(t)

	recovered := tokamak(t, "recover", b.dir)
	recovered.wantExit(t, 0)
	rows := byNumber(attempts(t, b.dir))
	ended := 0
	for _, s := range e.requests(t, 1) {
		if s.Ended == 0 || s.Ended > before || s.Status != 200 {
			continue
		}
		ended++
		row := rows[s.number(t)]
		if row == nil || row.Outcome != record.OK || row.OutputUsage.Or(-1) != s.Output {
			t.Errorf("request %d, ended by the server with %d tokens: row %+v", s.number(t), s.Output, row)
		}
	}
	if ended < 10 {
		t.Fatalf("the server ended only %d requests more than a second before the kill", ended)
	}
	again := tokamak(t, "report", b.dir)
	if !strings.Contains(again.stdout, "requests") || again.exit == 2 {
		t.Errorf("report after recover: exit %d\n%s%s", again.exit, again.stdout, again.stderr)
	}
}

// TestStoppedClientVoidsWhatRestsOnIt: SIGSTOP for 2 s in an open loop. What is
// counted from the intended time is void; gaps between chunks, which the kernel
// stamped meanwhile, are not.
func TestStoppedClientVoidsWhatRestsOnIt(t *testing.T) {
	b := start(t, "--url", "sim://llama3-8b@a100-80g", "--rate", "20", "--duration", "8s", "--output-tokens", "100",
		"--slo", "e2e.p95<60s")
	b.signal(3*time.Second, syscall.SIGSTOP)
	b.signal(2*time.Second, syscall.SIGCONT)
	b.wait(t)
	b.readSummary(t)
	b.wantExit(t, 4)
	if v := b.summary.SLO[0]; v.Verdict != verify.Invalid || !strings.Contains(v.Reason, "stood still") && !strings.Contains(v.Reason, "stopped") {
		t.Errorf("slo %s: %s", v.Verdict, v.Reason)
	}
	if b.summary.Run.Stamps["kernel"] < 0.99 {
		t.Skipf("only %.0f%% of the stamps are the kernel's here", 100*b.summary.Run.Stamps["kernel"])
	}
	if v := b.summary.Client.Validity["itl"]; v.Trust == measure.Invalid {
		t.Errorf("itl is %s though the kernel stamped it: %s", v.Trust, v.Reason)
	}
}

// TestInterruptOnceReports: SIGINT ends the run with its report.
func TestInterruptOnceReports(t *testing.T) {
	b := start(t, "--url", "sim://llama3-8b@a100-80g", "--rate", "20", "--duration", "1m", "--output-tokens", "20")
	b.signal(2*time.Second, syscall.SIGINT)
	b.wait(t)
	b.wantExit(t, 130)
	b.readSummary(t)
	if s := b.summary; s.Run.Ended != report.Interrupted || s.Requests.OK == 0 || s.Requests.Unsent > 1 {
		t.Errorf("ended %s, requests %+v", s.Run.Ended, s.Requests)
	}
	if len(attempts(t, b.dir)) < b.summary.Requests.OK {
		t.Error("rows are missing")
	}
}

// TestHangUpReports: a terminal that goes away ends the run like an interrupt.
func TestHangUpReports(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("SIGHUP is ignored here, as under nohup, and so in what is started")
	}
	b := start(t, "--url", "sim://llama3-8b@a100-80g", "--rate", "20", "--duration", "1m", "--output-tokens", "20")
	b.signal(2*time.Second, syscall.SIGHUP)
	b.wait(t)
	b.wantExit(t, 130)
	b.readSummary(t)
}

// TestInterruptTwiceEndsAtOnce: the second SIGINT does not wait for anything.
func TestInterruptTwiceEndsAtOnce(t *testing.T) {
	b := start(t, "--url", "sim://llama3-8b@a100-80g", "--rate", "20", "--duration", "1m")
	b.signal(1500*time.Millisecond, syscall.SIGINT)
	b.signal(0, syscall.SIGINT)
	b.wait(t)
	b.wantExit(t, 130)
}
