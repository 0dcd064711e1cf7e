package runner

import (
	"context"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/workload"
)

const ms = int64(time.Millisecond)

// fakeTarget ends each call after a service time, as the test's answer says.
type fakeTarget struct {
	clock   *clock.Virtual
	service func(c *Call) (time.Duration, record.Outcome)
	open    map[*Call]Sink
	most    int
}

func (f *fakeTarget) Prepare(*Call) error { return nil }

func (f *fakeTarget) Start(c *Call, sink Sink) {
	if f.open == nil {
		f.open = map[*Call]Sink{}
	}
	f.open[c] = sink
	f.most = max(f.most, len(f.open))
	c.Row.WriteStart = record.Some(f.clock.Now())
	d, outcome := f.service(c)
	f.clock.At(f.clock.Now()+int64(d), func() { f.end(c, outcome) })
}

func (f *fakeTarget) Cancel(c *Call, why record.Outcome) {
	f.clock.Post(func() { f.end(c, why) })
}

func (f *fakeTarget) end(c *Call, outcome record.Outcome) {
	sink, ok := f.open[c]
	if !ok {
		return
	}
	delete(f.open, c)
	c.Row.Outcome, c.Row.Moments.Ended = outcome, record.Some(f.clock.Now())
	sink.Ended(c)
}

type rows struct {
	dispatched int
	ended      []record.Attempt
}

func (r *rows) Dispatched(*record.Attempt) error { r.dispatched++; return nil }
func (r *rows) Ended(a *record.Attempt) error    { r.ended = append(r.ended, *a); return nil }

func (r *rows) outcomes() map[record.Outcome]int {
	m := map[record.Outcome]int{}
	for _, a := range r.ended {
		m[a.Outcome]++
	}
	return m
}

// schedule is a load of explicit moments in ms.
type schedule struct {
	at []int64
	i  int
}

func (s *schedule) Peek() (load.Due, load.State) {
	if s.i == len(s.at) {
		return load.Due{}, load.Finished
	}
	return load.Due{At: s.at[s.i] * ms, Index: int64(s.i), User: load.NoUser}, load.Ready
}
func (s *schedule) Pop()             { s.i++ }
func (s *schedule) Ended(_, _ int64) {}

func every(gap int64, n int) *schedule {
	s := &schedule{}
	for i := range n {
		s.at = append(s.at, gap*int64(i))
	}
	return s
}

func testLoop(src load.Source, service func(*Call) (time.Duration, record.Outcome)) (*Loop, *rows, *fakeTarget) {
	v := clock.NewVirtual(time.Unix(0, 0))
	r, f := &rows{}, &fakeTarget{clock: v, service: service}
	return &Loop{Clock: v, Load: src, Target: f, Recorder: r,
		Work: workload.Synthetic{Seed: 1, Input: 10, Output: 5}, Limits: Limits{Drain: time.Second, RetryOn: RetryOn{"rejected", "error", "connection"}, Backoff: load.DefaultBackoff()}}, r, f
}

// closedLoop is users who all start at 0 and stop starting at a moment.
func closedLoop(t *testing.T, users float64, until time.Duration) load.Source {
	t.Helper()
	s, err := load.New(load.Plan{Stages: []load.Stage{{Mode: load.ClosedLoop, From: users, To: users, Duration: until}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func takes(d time.Duration) func(*Call) (time.Duration, record.Outcome) {
	return func(*Call) (time.Duration, record.Outcome) { return d, record.OK }
}

func run(t *testing.T, l *Loop) Outcome {
	t.Helper()
	o, err := l.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOpenLoopSendsEachAtItsMoment(t *testing.T) {
	l, r, _ := testLoop(every(100, 20), takes(30*time.Millisecond))
	l.Duration = 5 * time.Second
	o := run(t, l)
	if o.End-o.Start != 5000*ms {
		t.Errorf("the window is %d ms, not the load's 5000", (o.End-o.Start)/ms)
	}
	if len(r.ended) != 20 || r.dispatched != 20 {
		t.Fatalf("ended %d, dispatched %d of 20", len(r.ended), r.dispatched)
	}
	for i, a := range r.ended {
		if got := a.Dispatched.Or(-1); got != int64(i)*100*ms || a.Intended.Or(-1) != got || a.RequestID != int64(i) {
			t.Errorf("request %d: id %d, dispatched at %d", i, a.RequestID, got)
		}
	}
}

func TestNothingIsDueAtTheEndOfTheDuration(t *testing.T) {
	l, r, _ := testLoop(every(100, 20), takes(time.Millisecond))
	l.Duration = 500 * time.Millisecond
	run(t, l)
	if len(r.ended) != 5 {
		t.Errorf("%d requests in a load of 500 ms at 100 ms gaps, want 5", len(r.ended))
	}
}

func TestClosedLoopKeepsItsUsersBusy(t *testing.T) {
	l, r, f := testLoop(closedLoop(t, 4, time.Second), takes(100*time.Millisecond))
	l.Duration = time.Second
	run(t, l)
	if len(r.ended) != 40 || f.most != 4 {
		t.Errorf("%d requests, at most %d at once; want 40 and 4", len(r.ended), f.most)
	}
}

func TestCapHoldsRequestsAndSaysSo(t *testing.T) {
	l, r, f := testLoop(every(10, 4), takes(100*time.Millisecond))
	l.Limits.MaxInFlight = 1
	run(t, l)
	if f.most != 1 {
		t.Fatalf("%d in flight, the cap is 1", f.most)
	}
	for i, want := range []int64{0, 90, 180, 270} {
		a := r.ended[i]
		if a.Held.Or(0) != want*ms || a.Intended.Or(-1) != int64(i)*10*ms {
			t.Errorf("request %d: held %d ms, intended %d", i, a.Held.Or(0)/ms, a.Intended.Or(-1))
		}
		if a.Held.Valid() != (i > 0) {
			t.Errorf("request %d: held present: %v", i, a.Held.Valid())
		}
	}
}

func TestWhatTheCapNeverLetGoIsUnsent(t *testing.T) {
	l, r, _ := testLoop(every(10, 4), takes(10*time.Second))
	l.Limits = Limits{MaxInFlight: 1, Drain: 2 * time.Second}
	l.Duration = 100 * time.Millisecond
	run(t, l)
	if o := r.outcomes(); o[record.Cut] != 1 || o[record.Unsent] != 3 {
		t.Errorf("outcomes %v, want 1 cut and 3 unsent", o)
	}
	if end := r.ended[3].Moments.Ended.Or(0); end > 2100*ms {
		t.Errorf("the drain ended at %d ms, want 2100", end/ms)
	}
}

func TestDrainCutsWhatIsStillInFlight(t *testing.T) {
	l, r, _ := testLoop(closedLoop(t, 2, time.Second), takes(time.Hour))
	l.Duration = time.Second
	run(t, l)
	if o := r.outcomes(); o[record.Cut] != 2 || len(r.ended) != 2 {
		t.Fatalf("outcomes %v, want 2 cut", o)
	}
	if at := r.ended[0].Moments.Ended.Or(0); at != 2000*ms {
		t.Errorf("cut at %d ms, want load 1000 + drain 1000", at/ms)
	}
}

func TestInterruptCutsAtOnceAndKeepsRows(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	l, r, f := testLoop(every(100, 100), takes(150*time.Millisecond))
	f.clock.At(1030*ms, cancel)
	// AfterFunc runs on a goroutine of its own, so look again soon after.
	f.clock.At(1031*ms, f.clock.Wake)
	o, err := l.Run(ctx)
	if err != nil || !o.Interrupted {
		t.Fatalf("outcome %+v, error %v", o, err)
	}
	if got := r.outcomes(); got[record.Cut] != 2 || got[record.OK] != 9 {
		t.Errorf("outcomes %v, want 9 ok and 2 cut", got)
	}
}

func TestRefusedFieldIsSentAgainAtOnce(t *testing.T) {
	l, r, _ := testLoop(every(100, 1), func(c *Call) (time.Duration, record.Outcome) {
		if c.Row.Identity.Attempt == 1 {
			c.Again = true
			return 10 * time.Millisecond, record.HTTPError
		}
		return 10 * time.Millisecond, record.OK
	})
	run(t, l)
	if len(r.ended) != 2 {
		t.Fatalf("%d attempts, want 2", len(r.ended))
	}
	second := r.ended[1]
	if second.Identity.Attempt != 2 || second.RequestID != 0 || second.Intended.Or(-1) != 0 || second.Dispatched.Or(0) != 10*ms {
		t.Errorf("second attempt: %+v", second)
	}
}

func TestRetriesHonourRetryAfterAndTheirNumber(t *testing.T) {
	l, r, _ := testLoop(every(100, 1), func(c *Call) (time.Duration, record.Outcome) {
		if c.Row.Identity.Attempt == 1 {
			c.Row.RetryAfter = record.Some(200 * ms)
		}
		return 10 * time.Millisecond, record.Rejected
	})
	l.Limits.Retries = 2
	l.Limits.Drain = time.Minute
	run(t, l)
	var at []int64
	for _, a := range r.ended {
		at = append(at, a.Dispatched.Or(0)/ms)
	}
	// 10 + 200, then 220 + the second pause of 500·2.
	if len(at) != 3 || at[1] != 210 || at[2] != 1220 {
		t.Errorf("attempts at %v ms, want 0, 210, 1220", at)
	}
}

func TestRetryAfterBeyondTheDrainIsNotAwaited(t *testing.T) {
	l, r, _ := testLoop(every(100, 1), func(c *Call) (time.Duration, record.Outcome) {
		c.Row.RetryAfter = record.Some(3600_000 * ms)
		return 10 * time.Millisecond, record.Rejected
	})
	l.Limits.Retries = 2
	run(t, l)
	if len(r.ended) != 1 || l.Clock.Now() > 1000*ms {
		t.Errorf("%d attempts, ended at %d ms", len(r.ended), l.Clock.Now()/ms)
	}
}

func TestTokenLimitStopsBeforeItIsPassed(t *testing.T) {
	l, r, _ := testLoop(every(100, 10), takes(time.Millisecond))
	l.Limits.MaxTokens = 50 // 15 each
	o := run(t, l)
	if len(r.ended) != 3 || o.Limited == "" || o.Stopped != "" {
		t.Errorf("%d requests, stopped %q; want 3 and a reason", len(r.ended), o.Limited)
	}
}

func TestRequestLimitIsNoAbort(t *testing.T) {
	l, r, _ := testLoop(closedLoop(t, 3, time.Hour), takes(time.Millisecond))
	l.Limits.MaxRequests = 10
	if o := run(t, l); len(r.ended) != 10 || o.Stopped != "" {
		t.Errorf("%d requests, stopped %q", len(r.ended), o.Stopped)
	}
}

type abortAfter int

func (n *abortAfter) Observe(*record.Attempt) string {
	if *n--; *n == 0 {
		return "enough"
	}
	return ""
}

func TestAbortLeavesTheRestUnsent(t *testing.T) {
	l, r, _ := testLoop(every(100, 10), takes(time.Millisecond))
	n := abortAfter(3)
	l.Abort = &n
	o := run(t, l)
	if got := r.outcomes(); o.Stopped != "enough" || got[record.OK] != 3 || got[record.Unsent] != 7 {
		t.Errorf("stopped %q, outcomes %v", o.Stopped, got)
	}
}

// chat is a session of three turns with a second of thought.
type chat struct{ turn int64 }

func (c *chat) Next(answer *workload.Answer) (*workload.Request, bool) {
	if c.turn == 3 || c.turn > 0 && answer == nil {
		return nil, false
	}
	c.turn++
	return &workload.Request{SessionID: "s", Turn: c.turn - 1, Think: time.Second, InputTokens: 10}, true
}

type chats struct{}

func (chats) Session(i int64) (workload.Session, error) {
	if i == 2 {
		return nil, workload.ErrEnd
	}
	return &chat{}, nil
}

func TestTurnsFollowTheirAnswers(t *testing.T) {
	l, r, _ := testLoop(every(100, 50), takes(50*time.Millisecond))
	l.Work = chats{}
	run(t, l)
	var got []int64
	for _, a := range r.ended {
		got = append(got, a.Intended.Or(-1)/ms)
	}
	want := []int64{0, 100, 1050, 1150, 2100, 2200}
	if len(got) != len(want) {
		t.Fatalf("intended at %v ms, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("intended at %v ms, want %v", got, want)
			break
		}
	}
}

func TestImpatientUserCancels(t *testing.T) {
	l, r, _ := testLoop(every(100, 1), takes(time.Minute))
	l.Work = patient{}
	run(t, l)
	if a := r.ended[0]; a.Outcome != record.Abandoned || a.Moments.Ended.Or(0) != 300*ms {
		t.Errorf("outcome %s at %d ms, want abandoned at 300", a.Outcome, a.Moments.Ended.Or(0)/ms)
	}
}

type patient struct{}

func (patient) Session(i int64) (workload.Session, error) {
	if i == 1 {
		return nil, workload.ErrEnd
	}
	return &one{}, nil
}

type one struct{ sent bool }

func (o *one) Next(*workload.Answer) (*workload.Request, bool) {
	if o.sent {
		return nil, false
	}
	o.sent = true
	return &workload.Request{Patience: 300 * time.Millisecond}, true
}

type enoughAfter struct {
	n       int
	settled []int64
}

func (e *enoughAfter) Settled(id int64) bool {
	e.settled = append(e.settled, id)
	return len(e.settled) >= e.n
}

// TestDecidedIsAnEndAndNoAbort: what is in flight goes on to its end, and what
// the schedule still asked for was never due.
func TestDecidedIsAnEndAndNoAbort(t *testing.T) {
	l, r, _ := testLoop(every(100, 10), takes(250*time.Millisecond))
	e := &enoughAfter{n: 3}
	l.Decide = e
	o := run(t, l)
	// The third of those sent every 100 ms ends at 450 ms: five were sent.
	if got := r.outcomes(); !o.Decided || o.Stopped != "" || o.Limited != "" || got[record.OK] != 5 || len(r.ended) != 5 {
		t.Errorf("%+v, outcomes %v", o, got)
	}
	if o.End-o.Start != 400*ms {
		t.Errorf("the window is %d ns long, want to the last that was due", o.End-o.Start)
	}
}

// TestDecidedSendsNoFurtherTurns: sessions end where they stand.
func TestDecidedSendsNoFurtherTurns(t *testing.T) {
	l, r, _ := testLoop(every(100, 50), takes(50*time.Millisecond))
	l.Work = chats{}
	l.Decide = &enoughAfter{n: 1}
	if o := run(t, l); !o.Decided || len(r.ended) != 1 {
		t.Errorf("%+v, %d requests", o, len(r.ended))
	}
}

// TestARetriedRequestIsNotSettled: only its last attempt is.
func TestARetriedRequestIsNotSettled(t *testing.T) {
	outcomes := []record.Outcome{record.Rejected, record.OK}
	l, r, _ := testLoop(every(1000, 1), func(*Call) (time.Duration, record.Outcome) {
		o := outcomes[0]
		outcomes = outcomes[1:]
		return time.Millisecond, o
	})
	l.Limits.Retries, l.Limits.Drain = 1, time.Minute
	e := &enoughAfter{n: 100}
	l.Decide = e
	run(t, l)
	if len(r.ended) != 2 || len(e.settled) != 1 {
		t.Errorf("%d attempts, settled %v", len(r.ended), e.settled)
	}
}

// TestSpentIsKnown: a load whose number of requests ends it has no use for the
// rest of its duration, which is no time of its window.
func TestSpentIsKnown(t *testing.T) {
	for _, c := range []struct {
		most  int64
		spent bool
	}{{0, false}, {20, true}, {5, true}, {21, false}} {
		l, _, _ := testLoop(every(100, 20), takes(30*time.Millisecond))
		l.Duration, l.Limits.MaxRequests = time.Minute, c.most
		if o := run(t, l); o.Spent != c.spent {
			t.Errorf("at most %d of 20: %+v", c.most, o)
		}
	}
}
