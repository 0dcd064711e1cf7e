package runner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/workload"
)

// TestDeadTargetIsNotHammered: a user waits 100 ms after a refused connection.
func TestDeadTargetIsNotHammered(t *testing.T) {
	l, r, _ := testLoop(closedLoop(t, 1, time.Second), func(*Call) (time.Duration, record.Outcome) { return 0, record.TransportError })
	l.Duration = time.Second
	run(t, l)
	if len(r.ended) != 10 {
		t.Errorf("%d requests in a second, want one each 100 ms", len(r.ended))
	}
}

// slowSource takes 300 ms for each session.
type slowSource struct{ workload.Synthetic }

func (s slowSource) Session(i int64) (workload.Session, error) {
	if i == 3 {
		return nil, workload.ErrEnd
	}
	time.Sleep(300 * time.Millisecond) // fake time
	return s.Synthetic.Session(i)
}

// atOnce ends each call as it starts.
type atOnce struct{ clock clock.Clock }

func (a atOnce) Prepare(*Call) error { return nil }
func (a atOnce) Start(c *Call, sink Sink) {
	c.Row.Outcome, c.Row.Moments.Ended = record.OK, record.Some(a.clock.Now())
	sink.Ended(c)
}
func (a atOnce) Cancel(*Call, record.Outcome) {}

// TestWhatIsNotReadyIsSaid: due at 0, 100 and 200 ms after the first is ready,
// and ready 300 ms after one another: the later two leave 200 and 400 ms late.
func TestWhatIsNotReadyIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.NewPortable()
		defer c.Close()
		l := &Loop{Clock: c, Load: every(100, 5), Work: slowSource{workload.Synthetic{Input: 1, Output: 1}}, Target: atOnce{c}, Recorder: &rows{}, Ahead: 4, Prefill: 1}
		o, err := l.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if o.Unready != 2 || o.UnreadyMost != 400*ms {
			t.Errorf("%d requests up to %d ms late, want 2 and 400", o.Unready, o.UnreadyMost/ms)
		}
	})
}

// TestPromptsAheadAreBounded: 4 Mi tokens of prompts wait prepared, no more.
func TestPromptsAheadAreBounded(t *testing.T) {
	p := &preparer{loop: &Loop{Ahead: 100}, tokens: aheadTokens}
	if p.full() {
		t.Error("full at the bound")
	}
	if p.tokens++; !p.full() {
		t.Error("not full beyond it")
	}
}

// fullDecoder has enough after the first segment.
type fullDecoder struct{ segments int }

func (d *fullDecoder) Segment(*wire.Segment)             { d.segments++ }
func (d *fullDecoder) End(*wire.Exchange) *engine.Answer { return &engine.Answer{} }
func (d *fullDecoder) Full() bool                        { return d.segments > 0 }

func TestEndlessAnswerIsEnded(t *testing.T) {
	transport := &early{}
	h := &httpCall{target: &HTTP{Transport: transport}, decoder: &fullDecoder{}}
	h.Segment(&h.exchange, &wire.Segment{})
	if transport.cancelled != 1 {
		t.Errorf("cancelled %d times, want 1", transport.cancelled)
	}
}

func TestNoConnectionHasNoNumber(t *testing.T) {
	for id, want := range map[int64]record.Int{0: {}, 7: record.Some(7)} {
		var row record.Attempt
		fillResult(&row, &wire.Exchange{ConnID: id, Cause: wire.Refused}, &engine.Answer{})
		if row.ConnID != want {
			t.Errorf("connection %d: conn_id %v", id, row.ConnID)
		}
	}
}

// flagged makes a run of flags ready.
func flagged(t *testing.T, f scenario.Flags) *Run {
	t.Helper()
	virtual := true
	f.Virtual = &virtual
	s, err := scenario.FromFlags(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(t.Context(), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// TestAbortFailsTheRun, whatever the objectives say.
func TestAbortFailsTheRun(t *testing.T) {
	none, requests, abort := "none", "100", "errors>=3"
	r := flagged(t, scenario.Flags{URL: []string{"sim://llama3-8b@a100-80g?fail=0.2"}, Out: &none, Requests: &requests, Abort: &abort, SLO: []string{"error_rate<99%"}})
	sum, err := r.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if sum.Run.Ended != report.Aborted || sum.Verdict.Exit != int(exit.Failed) || !strings.Contains(sum.Run.Reason, abort) {
		t.Errorf("ended %s (%s), exit %d", sum.Run.Ended, sum.Run.Reason, sum.Verdict.Exit)
	}
}

// TestARunThatCannotSendLeavesNothing: no row of the dataset can be used.
func TestARunThatCannotSendLeavesNothing(t *testing.T) {
	data, out := filepath.Join(t.TempDir(), "rows.jsonl"), filepath.Join(t.TempDir(), "run")
	if err := os.WriteFile(data, []byte(`{"prompt": 5}`), 0o600); err != nil {
		t.Fatal(err)
	}
	rate := "1"
	r := flagged(t, scenario.Flags{URL: []string{"sim://llama3-8b@a100-80g"}, Dataset: &data, Rate: &rate, Out: &out})
	sum, err := r.Do(t.Context())
	if sum != nil || exit.Of(err) != exit.Usage {
		t.Errorf("summary %v, error %v (exit %d), want exit 2", sum != nil, err, exit.Of(err))
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the run directory is there: %v", err)
	}
}
