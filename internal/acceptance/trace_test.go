package acceptance

import (
	"bufio"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/stat"
)

// azureRow is a row of the Azure 2023 trace: its moment from the first one's on.
type azureRow struct {
	at            time.Duration
	input, output int64
}

func azure(t *testing.T, name string) (path string, rows []azureRow) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "traces", name))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("the public trace is not here: %v", err)
	}
	defer f.Close()
	all, err := csv.NewReader(bufio.NewReader(f)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var first time.Time
	for _, r := range all[1:] {
		at, err := time.Parse("2006-01-02 15:04:05.0000000", r[0])
		if err != nil {
			t.Fatal(err)
		}
		if first.IsZero() {
			first = at
		}
		in, _ := strconv.ParseInt(r[1], 10, 64)
		out, _ := strconv.ParseInt(r[2], 10, 64)
		rows = append(rows, azureRow{at.Sub(first), in, out})
	}
	return path, rows
}

// TestAzureTraceReplayed replays the conversation trace at 10 times its speed
// against an engine in another process and holds the engine's own log against
// the trace. All 19,366 rows take six minutes: TOKAMAK_TRACE_ROWS=19366.
func TestAzureTraceReplayed(t *testing.T) {
	n := 600
	if s := os.Getenv("TOKAMAK_TRACE_ROWS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	path, rows := azure(t, "azure2023_conv.csv")
	e := startEngine(t, "sim://qwen3-0.6b@h200?tp=8")
	o := run(t, "--url", e.url, "--model", "qwen3-0.6b", "--dataset", path, "--speed", "10", "--requests", strconv.Itoa(n),
		"--slo", "error_rate<1%", "--inconclusive-ok")
	o.wantExit(t, 0)
	log := e.requests(t, n)
	if len(log) != n {
		t.Fatalf("the engine served %d requests, want %d", len(log), n)
	}
	run, err := record.Open(o.dir)
	if err != nil {
		t.Fatal(err)
	}
	epoch := run.Manifest().Epoch.UnixNano()
	sent := byNumber(attempts(t, o.dir))
	var late []float64
	for _, s := range log {
		i := s.number(t)
		want := rows[i]
		if s.Prompt != want.input || s.Output != want.output {
			t.Errorf("row %d: the engine saw %d tokens in and %d out, the trace says %d and %d", i, s.Prompt, s.Output, want.input, want.output)
		}
		due := sent[i].Intended.Or(0)
		if d := due - sent[0].Intended.Or(0) - int64(want.at/10); d < -1 || d > 1 {
			t.Errorf("row %d was due %v off a tenth of the trace's moment", i, time.Duration(d))
		}
		late = append(late, float64(s.Arrival-epoch-due)/1e6)
	}
	slices.Sort(late)
	at := func(q float64) float64 { return stat.Quantile(late, q) }
	t.Logf("%d requests reached the engine after their moment by p50 %.2f p90 %.2f p99 %.2f max %.2f ms; the client says schedule lag p50 %.2f p99 %.2f ms",
		n, at(0.5), at(0.9), at(0.99), at(1), o.metric(t, "schedule_lag", "p50"), o.metric(t, "schedule_lag", "p99"))
	// Wide enough for a machine that is busy with other tests; the trace's gaps
	// at this speed are 18 ms in the mean.
	if at(0.5) > 10 {
		t.Errorf("half of the requests reach the engine more than %.2f ms late", at(0.5))
	}
	if strings.Contains(o.stdout, "could not be used") {
		t.Errorf("rows were left out:\n%s", o.stdout)
	}
}
