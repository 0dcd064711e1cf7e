package runner

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/workload"
)

// moments are when the attempts of a run were sent, in ms.
func (r *rows) moments() (at []int64) {
	for _, a := range r.ended {
		at = append(at, a.Dispatched.Or(-1)/ms)
	}
	return at
}

func TestRetryOn(t *testing.T) {
	status := func(o record.Outcome, code int64) *record.Attempt {
		a := &record.Attempt{}
		a.Outcome, a.HTTPStatus = o, record.Some(code)
		return a
	}
	for _, c := range []struct {
		row  *record.Attempt
		word string
	}{{status(record.Rejected, 429), "rejected"}, {status(record.HTTPError, 500), "error"}, {status(record.HTTPError, 400), ""},
		{status(record.TransportError, 0), "connection"}, {status(record.Timeout, 0), "timeout"}, {status(record.StreamBroken, 200), "broken"},
		{status(record.StreamError, 200), "broken"}, {status(record.Abandoned, 0), "abandoned"}, {status(record.OK, 200), ""}, {status(record.Cut, 0), ""}} {
		for _, word := range []string{"rejected", "error", "connection", "timeout", "broken", "abandoned"} {
			if got := (RetryOn{word}).covers(c.row); got != (word == c.word) {
				t.Errorf("%s covers %s: %v", word, c.row.Outcome, got)
			}
		}
		if (RetryOn{}).covers(c.row) {
			t.Errorf("no word covers %s", c.row.Outcome)
		}
	}
}

// patientFor is lone requests whose users give up after a while.
type patientFor time.Duration

func (p patientFor) Session(int64) (workload.Session, error) { return &patientOnce{p: p}, nil }

type patientOnce struct {
	p    patientFor
	sent bool
}

func (o *patientOnce) Next(*workload.Answer) (*workload.Request, bool) {
	if o.sent {
		return nil, false
	}
	o.sent = true
	return &workload.Request{Patience: time.Duration(o.p)}, true
}

// TestPatienceSpansRetries: refused at 10 ms and asked again at 510, the user
// is gone at 800; a further pause of a second would end after that.
func TestPatienceSpansRetries(t *testing.T) {
	l, r, _ := testLoop(every(100, 1), func(c *Call) (time.Duration, record.Outcome) {
		return 10 * time.Millisecond, record.Rejected
	})
	l.Work, l.Limits.Retries = patientFor(800*time.Millisecond), 5
	l.Limits.Drain = time.Minute
	run(t, l)
	if diff := cmp.Diff([]int64{0, 510}, r.moments()); diff != "" {
		t.Error(diff)
	}
	l, r, _ = testLoop(every(100, 1), func(c *Call) (time.Duration, record.Outcome) {
		if c.Row.Identity.Attempt == 1 {
			return 10 * time.Millisecond, record.Rejected
		}
		return time.Minute, record.OK
	})
	l.Work, l.Limits.Retries = patientFor(800*time.Millisecond), 5
	run(t, l)
	if a := r.ended[1]; a.Outcome != record.Abandoned || a.Moments.Ended.Or(0) != 800*ms {
		t.Errorf("the second attempt ended %s at %d ms, want abandoned at 800", a.Outcome, a.Moments.Ended.Or(0)/ms)
	}
}

// TestWhoGivesUpMayAskAnew: with new patience, and latency still counts from
// the first intended time; after its attempts it is over.
func TestWhoGivesUpMayAskAnew(t *testing.T) {
	l, r, _ := testLoop(every(100, 1), takes(time.Minute))
	l.Work, l.Limits.Retries, l.Limits.RetryOn = patientFor(300*time.Millisecond), 2, RetryOn{"abandoned"}
	l.Limits.Backoff = load.Backoff{First: 100 * time.Millisecond, Cap: time.Second, Factor: 2}
	l.Limits.Drain = time.Minute
	run(t, l)
	// 300 + 100, then 700 + 200.
	if diff := cmp.Diff([]int64{0, 400, 900}, r.moments()); diff != "" {
		t.Error(diff)
	}
	for i, a := range r.ended {
		if a.Outcome != record.Abandoned || a.Intended.Or(-1) != 0 || a.Identity.Attempt != int64(i+1) || a.Moments.Ended.Or(0) != (a.Dispatched.Or(0)+300*ms) {
			t.Errorf("attempt %d: %s, intended %d, ended %d ms", a.Identity.Attempt, a.Outcome, a.Intended.Or(-1), a.Moments.Ended.Or(0)/ms)
		}
	}
}

func TestHeedlessUsersDoNotListen(t *testing.T) {
	l, r, _ := testLoop(every(100, 1), func(c *Call) (time.Duration, record.Outcome) {
		c.Row.RetryAfter = record.Some(time.Hour.Nanoseconds())
		return 10 * time.Millisecond, record.Rejected
	})
	l.Limits.Retries, l.Limits.Drain = 1, time.Minute
	run(t, l)
	if len(r.ended) != 1 {
		t.Errorf("%d attempts: who asks for an hour is not asked again within the drain", len(r.ended))
	}
	l, r, _ = testLoop(every(100, 1), func(c *Call) (time.Duration, record.Outcome) {
		c.Row.RetryAfter = record.Some(time.Hour.Nanoseconds())
		return 10 * time.Millisecond, record.Rejected
	})
	l.Limits.Retries, l.Limits.Drain = 1, time.Minute
	l.Limits.Backoff.Heedless = true
	run(t, l)
	if diff := cmp.Diff([]int64{0, 510}, r.moments()); diff != "" {
		t.Error(diff)
	}
}

// TestJitterKeepsRetriesApart: requests refused at one moment do not come back
// at one moment, and come back at the same moments in every run.
func TestJitterKeepsRetriesApart(t *testing.T) {
	again := func() []int64 {
		l, r, _ := testLoop(&schedule{at: []int64{0, 0, 0, 0}}, func(c *Call) (time.Duration, record.Outcome) {
			if c.Row.Identity.Attempt == 1 {
				return 10 * time.Millisecond, record.Rejected
			}
			return time.Millisecond, record.OK
		})
		l.Limits.Retries, l.Limits.Backoff.Jitter = 1, 1
		run(t, l)
		return r.moments()[4:]
	}
	first := again()
	for i := 1; i < len(first); i++ {
		if first[i] == first[i-1] || first[i] < 10 || first[i] > 510 {
			t.Errorf("retries at %v ms, want them spread over 10 to 510", first)
		}
	}
	if diff := cmp.Diff(first, again()); diff != "" {
		t.Error(diff)
	}
}

// TestReadingTakesTime: 50 tokens at 100 tokens/s are half a second between an
// answer and the next.
func TestReadingTakesTime(t *testing.T) {
	l, r, _ := testLoop(closedLoop(t, 1, 2*time.Second), func(c *Call) (time.Duration, record.Outcome) {
		c.Answer.Tokens = 50
		return 100 * time.Millisecond, record.OK
	})
	l.ReadRate, l.Duration = 100, 2*time.Second
	run(t, l)
	if diff := cmp.Diff([]int64{0, 600, 1200, 1800}, r.moments()); diff != "" {
		t.Error(diff)
	}
}

// levels is an observer of an adaptive load.
type levels struct{ allowed []int64 }

func (*levels) Sent(*record.Attempt)          {}
func (*levels) Ended(*record.Attempt)         {}
func (*levels) Stage(int, int64)              {}
func (l *levels) Level(_ int64, v load.Level) { l.allowed = append(l.allowed, v.Allowed) }

// TestLoopTellsTheLoadWhatUsersSee: four users, answers of 50 ms: two are
// allowed; then of 10 ms: 4 · 2^(−0.2) = 3.48, three; failures: one.
func TestLoopTellsTheLoadWhatUsersSee(t *testing.T) {
	a, err := load.ParseAdapt("e2e.p95/50ms,window=60ms")
	if err != nil {
		t.Fatal(err)
	}
	src, err := load.New(load.Plan{Stages: []load.Stage{{Mode: load.ClosedLoop, From: 4, To: 4, Duration: time.Second}}, Adapt: a})
	if err != nil {
		t.Fatal(err)
	}
	l, r, f := testLoop(src, nil)
	f.service = func(c *Call) (time.Duration, record.Outcome) {
		d, o := 50*time.Millisecond, record.OK
		switch now := f.clock.Now() / ms; {
		case now >= 600:
			d, o = 10*time.Millisecond, record.Rejected
		case now >= 300:
			d = 10 * time.Millisecond
		}
		c.Row.FirstToken, c.Row.LastToken = record.Some(f.clock.Now()), record.Some(f.clock.Now()+int64(d))
		return d, o
	}
	seen := &levels{}
	l.Adapt, l.Observer, l.Duration = a.Metric, seen, time.Second
	run(t, l)
	if diff := cmp.Diff([]int64{2, 3, 1}, seen.allowed); diff != "" {
		t.Error(diff)
	}
	if len(r.ended) == 0 {
		t.Fatal("nothing was sent")
	}
}

// listener is an adaptive load that keeps what it is told.
type listener struct {
	load.Source
	at      []int64
	latency []float64
}

func (t *listener) Observe(at int64, latency float64) (load.Level, bool) {
	t.at, t.latency = append(t.at, at), append(t.latency, latency)
	return load.Level{}, false
}

// TestObserveByHand: a load that began at 100 is told of an end at 350 as of 250,
// and nothing of an attempt without the latency, as one token is without TPOT.
func TestObserveByHand(t *testing.T) {
	source := &listener{}
	l := &Loop{Load: source, start: 100}
	row := &record.Attempt{}
	row.Outcome = record.OK
	row.Intended, row.LastToken = record.Some(150), record.Some(350)
	if l.observe(row, 350); source.at != nil {
		t.Errorf("told without a rule: %v", source.at)
	}
	l.Adapt = "e2e"
	l.observe(row, 350)
	l.Adapt = "tpot"
	row.FirstToken, row.OutputUsage = record.Some(350), record.Some(1)
	l.observe(row, 350)
	if !slices.Equal(source.at, []int64{250}) || !slices.Equal(source.latency, []float64{200}) {
		t.Errorf("told at %v of %v", source.at, source.latency)
	}
}

// TestWhoLeavesIsForgotten: a call that ended does not wait for its user's
// patience, which may be hours.
func TestWhoLeavesIsForgotten(t *testing.T) {
	l, _, _ := testLoop(every(10, 20), takes(15*time.Millisecond))
	l.Work = patientFor(time.Hour)
	l.Load.(*schedule).at = append(l.Load.(*schedule).at, 200)
	run(t, l)
	if n := l.impatient.len(); n != 0 {
		t.Errorf("%d ended calls are kept for their patience", n)
	}
}

// TestCourse by hand: 4 allowed for 1 s, 2 for 3 s, 1 to the end at 5 s.
func TestCourse(t *testing.T) {
	rule, err := load.ParseAdapt("e2e.p95/50ms")
	if err != nil {
		t.Fatal(err)
	}
	var c course
	if c.report(rule, 5e9) != nil {
		t.Error("a load without events has a course")
	}
	for _, e := range []record.Event{{At: 10e9, Kind: levelEvent, Detail: map[string]any{"allowed": int64(4), "of": int64(4)}},
		{At: 11e9, Kind: levelEvent, Detail: map[string]any{"allowed": 2.0, "of": 4.0}}, {At: 12e9, Kind: "stage"},
		{At: 14e9, Kind: levelEvent, Detail: map[string]any{"allowed": int64(1), "of": int64(4)}}} {
		c.note(&e)
	}
	u := c.report(rule, 15e9)
	if u == nil || u.Of != 4 || u.Least != 1 || u.Last != 1 || u.Mean.Or(0) != (4*1+2*3+1*1)/5.0 || u.Rule != "e2e.p95/50ms" || u.AtFloor.Or(-1) != 1/5.0 {
		t.Errorf("%+v", u)
	}
	rule.Floor = 4 // all of them: there is nothing that the rule could do
	if u := c.report(rule, 15e9); u.AtFloor.Or(-1) != 0 {
		t.Errorf("%+v", u)
	}
	again := record.Event{At: 15e9, Kind: levelEvent, Detail: map[string]any{"allowed": int64(2), "of": int64(4)}}
	c.note(&again)
	rule.Floor = 1
	if u := c.report(rule, 20e9); u.AtFloor.Or(-1) != 1/10.0 {
		t.Errorf("%+v", u)
	}
	// At the floor again from 20 s on, of more users from 22 s on: 6 of 15 s.
	for _, e := range []record.Event{{At: 20e9, Kind: levelEvent, Detail: map[string]any{"allowed": int64(1), "of": int64(4)}},
		{At: 22e9, Kind: levelEvent, Detail: map[string]any{"allowed": int64(1), "of": int64(8)}}} {
		c.note(&e)
	}
	if u := c.report(rule, 25e9); u.AtFloor.Or(-1) != 6/15.0 || u.Of != 8 {
		t.Errorf("%+v", u)
	}
	// Two of two users are all that there are, though the floor is two.
	c = course{}
	c.note(&record.Event{At: 1e9, Kind: levelEvent, Detail: map[string]any{"allowed": int64(2), "of": int64(2)}})
	rule.Floor = 2
	if u := c.report(rule, 3e9); u.AtFloor.Or(-1) != 0 || u.Mean.Or(0) != 2 {
		t.Errorf("%+v", u)
	}
}

// TestFloored: who stands at the floor most of the time is told why.
func TestFloored(t *testing.T) {
	at := func(share float64) *report.Users {
		return &report.Users{Of: 100, Least: 1, AtFloor: measure.Some(share)}
	}
	ms := func(p50, p95 float64) *measure.Result {
		return &measure.Result{Metrics: map[string]measure.Metric{"e2e": {P50: measure.Some(p50), P95: measure.Some(p95)}},
			Attempts: measure.Attempts{ByOutcome: map[string]int{"ok": 95, "rejected": 5, "cut": 50}}}
	}
	failing := ms(1400, 2000)
	failing.Attempts.ByOutcome["rejected"] = 6
	// Who gave up has a latency: 5 of 100 are no more than p95 leaves out.
	given := ms(40, 40)
	given.Attempts.ByOutcome = map[string]int{"ok": 5, "abandoned": 90, "rejected": 5}
	const stood = "the adaptive load stood at its floor of 1 user, of 100, for 97% of the time"
	for _, c := range []struct {
		rule string
		u    *report.Users
		res  *measure.Result
		want string
	}{
		{"e2e.p95/50ms", at(.97), ms(1400, 2000), stood + ": e2e is 1.4s in the median, 28 steps of 50ms, and each step halves the users; " +
			"a step of the order of the latency lets more through: adapt e2e.p95/1.4s"},
		{"e2e.p95/50ms,above=400ms", at(.97), ms(1400, 2000), stood + ": e2e is 1.4s in the median, 20 steps of 50ms above 400ms, and each step halves the users; " +
			"a step of the order of the latency lets more through: adapt e2e.p95/1s,above=400ms"},
		{"e2e.p95/50ms", at(.97), ms(40, 2000), stood + ": e2e is 2s at p95, 40 steps of 50ms, and each step halves the users; " +
			"a step of the order of the latency lets more through: adapt e2e.p95/2s"},
		{"e2e.p95/50ms", at(.97), failing, stood + ": 5.94% of the attempts failed, and each counts as infinite latency"},
		{"e2e.p95/50ms", at(.97), ms(40, 40), stood},
		{"e2e.p95/50ms", at(.97), &measure.Result{}, stood},
		{"e2e.p95/50ms", at(.97), given, stood},
		{"e2e.p95/50ms", at(.97), ms(40, 50), stood},
		{"e2e.p95/50ms", at(.97), ms(1234, 2000), stood + ": e2e is 1.2s in the median, 25 steps of 50ms, and each step halves the users; " +
			"a step of the order of the latency lets more through: adapt e2e.p95/1.2s"},
		{"e2e.p95/50ms", at(.5), ms(40, 40), strings.Replace(stood, "97%", "50%", 1)},
		{"e2e.p95/50ms", at(.49), ms(1400, 2000), ""},
		{"e2e.p95/50ms", nil, ms(1400, 2000), ""},
		{"e2e.p95/50ms", &report.Users{}, ms(1400, 2000), ""},
	} {
		rule, err := load.ParseAdapt(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		if got := floored(rule, c.u, c.res); got != c.want {
			t.Errorf("%s: %q\nwant %q", c.rule, got, c.want)
		}
	}
}
