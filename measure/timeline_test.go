package measure_test

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/verify"
)

// TestTimelines measures hand-made runs and compares with figures worked out
// by hand. testdata/README says how they are written.
func TestTimelines(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no timelines", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) { newTimeline(t, f).run() })
	}
}

type timeline struct {
	*testing.T
	file   string
	line   int
	opt    measure.Options
	rows   []record.Attempt
	freeze [][2]int64
	slos   []verify.Objective
	acc    *measure.Accumulator
	result *measure.Result
	judged []verify.SLO
}

func newTimeline(t *testing.T, file string) *timeline { return &timeline{T: t, file: file} }

func (l *timeline) failf(format string, args ...any) {
	l.Helper()
	l.Errorf("%s:%d: %s", l.file, l.line, fmt.Sprintf(format, args...))
}

func (l *timeline) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatalf("%s:%d: %v", l.file, l.line, err)
	}
}

func (l *timeline) run() {
	f, err := os.Open(l.file)
	l.must(err)
	defer f.Close()
	expected := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		l.line++
		text, _, _ := strings.Cut(s.Text(), "//")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		if words[0] == "expect" {
			l.expect(words[1:])
			expected++
			continue
		}
		l.acc = nil
		l.directive(words[0], words[1:])
	}
	if expected == 0 {
		l.failf("nothing is expected")
	}
}

func (l *timeline) directive(word string, args []string) {
	switch word {
	case "load":
		from, to := l.span(args[0])
		l.opt.Start, l.opt.End = record.Some(from), record.Some(to)
	case "gpus":
		l.opt.GPUs = l.int(args[0])
	case "stages":
		l.opt.Stages = l.int(args[0])
	case "warmup":
		l.opt.Warmup = time.Duration(l.moment(args[0]))
	case "stop":
		from, to := l.span(args[0])
		l.opt.Stops = append(l.opt.Stops, measure.Stop{From: from, To: to})
	case "pause":
		from, to := l.span(args[0])
		l.opt.Pauses = append(l.opt.Pauses, measure.Stop{From: from, To: to})
	case "closed":
		l.opt.Closed = true
	case "sched":
		l.opt.SchedLatency = record.Some(l.moment(args[0]))
	case "freeze":
		from, to := l.span(args[0])
		l.freeze = append(l.freeze, [2]int64{from, to})
	case "slo":
		o, err := verify.Parse(strings.Join(args, " "))
		l.must(err)
		l.slos = append(l.slos, o...)
		l.opt.Limits = verify.Limits(l.slos)
	case "request":
		l.request(int64(l.int(args[0])), 0, args[1:])
	case "requests": // FIRST..LAST every GAP from START ...
		a, b, _ := strings.Cut(args[0], "..")
		for i, n := l.int(a), 0; i <= l.int(b); i, n = i+1, n+1 {
			l.request(int64(i), l.moment(args[4])+int64(n)*l.moment(args[2]), args[5:])
		}
	default:
		l.Fatalf("%s:%d: unknown word %q", l.file, l.line, word)
	}
}

func (l *timeline) int(s string) int {
	n, err := strconv.Atoi(s)
	l.must(err)
	return n
}

func (l *timeline) moment(s string) int64 {
	if s == "0" {
		return 0
	}
	d, err := time.ParseDuration(s)
	l.must(err)
	return int64(d)
}

func (l *timeline) span(s string) (from, to int64) {
	a, b, _ := strings.Cut(s, "..")
	return l.moment(a), l.moment(b)
}

// thaw moves a moment of the server out of the times in which it stood still.
func (l *timeline) thaw(at int64) int64 {
	for _, f := range l.freeze {
		if f[0] <= at && at < f[1] {
			at = f[1]
		}
	}
	return at
}

// request reads a request whose moments count from base.
func (l *timeline) request(id, base int64, words []string) {
	a := record.Attempt{}
	a.RequestID, a.Attempt, a.Outcome = id, 1, record.OK
	a.StampSource = record.SourceKernel
	a.Intended = record.Some(base)
	unknown := false
	for _, w := range words {
		if key, value, ok := strings.Cut(w, "="); ok {
			l.field(&a, base, key, value)
			continue
		}
		unknown = l.chunks(&a, base, w) || unknown
	}
	if unknown {
		a.Chunks.Tokens = nil
	}
	l.complete(&a)
	l.rows = append(l.rows, a)
}

func (l *timeline) field(a *record.Attempt, base int64, key, value string) {
	at := func() record.Int { return record.Some(base + l.moment(value)) }
	n := func() record.Int { return record.Some(int64(l.int(value))) }
	switch key {
	case "intended":
		a.Intended = at()
	case "write":
		a.WriteStart = at()
	case "sent":
		a.Sent = at()
	case "byte":
		a.FirstByte = at()
	case "ended":
		a.Ended = at()
	case "conn":
		from, to := l.span(value)
		a.ConnStart, a.ConnReady = record.Some(base+from), record.Some(base+to)
	case "held":
		a.Held = record.Some(l.moment(value))
	case "attempt":
		a.Attempt = int64(l.int(value))
	case "outcome":
		a.Outcome = record.Outcome(value)
	case "class":
		a.ErrorClass = value
	case "stamps":
		a.StampSource = record.Source(value)
	case "user":
		a.User = n()
	case "in":
		a.PromptUsage = n()
	case "out":
		a.OutputUsage = n()
	case "counted":
		a.OutputCounted = n()
	case "cached":
		a.CachedUsage = n()
	case "reasoning":
		a.ReasoningUsage = n()
	default:
		l.Fatalf("%s:%d: unknown field %q", l.file, l.line, key)
	}
}

// chunks reads [r:][c:]AT[..TO/STEP][*TOKENS][#CHOICE]; TOKENS may be ?.
func (l *timeline) chunks(a *record.Attempt, base int64, w string) (unknown bool) {
	kind, flags := record.TextChunk, uint8(0)
	if rest, ok := strings.CutPrefix(w, "r:"); ok {
		kind, w = record.ReasoningChunk, rest
	}
	if rest, ok := strings.CutPrefix(w, "c:"); ok {
		flags, w = record.Coalesced, rest
	}
	w, choice, _ := strings.Cut(w, "#")
	w, tokens, many := strings.Cut(w, "*")
	n, k := 1, 0
	if unknown = tokens == "?"; many && !unknown {
		n = l.int(tokens)
	}
	if choice != "" {
		k = l.int(choice)
	}
	w, step, _ := strings.Cut(w, "/")
	first, last, ranged := strings.Cut(w, "..")
	if !ranged {
		last, step = first, "1s"
	}
	for at := l.moment(first); at <= l.moment(last); at += l.moment(step) {
		c := &a.Chunks
		c.At = append(c.At, l.thaw(base+at))
		c.Tokens = append(c.Tokens, int32(n))
		c.Kind = append(c.Kind, kind)
		c.Choice = append(c.Choice, int32(k))
		c.Flags = append(c.Flags, flags)
	}
	return unknown
}

// complete fills in what was not said: sent when intended, ended with the last chunk.
func (l *timeline) complete(a *record.Attempt) {
	if a.Outcome == record.Unsent {
		return
	}
	fill := func(to *record.Int, from record.Int) {
		if !to.Valid() {
			*to = from
		}
	}
	a.ConnReused = !a.ConnStart.Valid()
	fill(&a.WriteStart, a.Intended)
	fill(&a.Sent, a.WriteStart)
	if n := a.Chunks.Len(); n > 0 {
		a.FirstToken, a.LastToken = record.Some(a.Chunks.At[0]), record.Some(a.Chunks.At[n-1])
		fill(&a.FirstByte, a.FirstToken)
		fill(&a.Ended, a.LastToken)
	}
	for i, k := range a.Chunks.Kind {
		if k != record.ReasoningChunk {
			a.FirstAnswer = record.Some(a.Chunks.At[i])
			break
		}
	}
	fill(&a.Ended, a.Sent)
}

func (l *timeline) measure() {
	if l.acc != nil {
		return
	}
	l.acc = measure.New(l.opt)
	for i := range l.rows {
		l.acc.Add(&l.rows[i])
	}
	l.result, l.judged = l.acc.Result(), verify.Judge(l.slos, l.acc)
}

// expect checks NAME = FIGURE, where NAME is METRIC.STATISTIC, a rate,
// requests.COUNT, slo.N.FIELD, trust.METRIC or steady.WHAT.
func (l *timeline) expect(words []string) {
	l.measure()
	if len(words) != 3 || words[1] != "=" {
		l.Fatalf("%s:%d: expected: expect NAME = FIGURE", l.file, l.line)
	}
	got, want := l.figure(words[0]), words[2]
	if same(got, want) {
		return
	}
	l.failf("%s = %s, want %s", words[0], got, want)
}

func same(got, want string) bool {
	if got == want {
		return true
	}
	g, err1 := strconv.ParseFloat(got, 64)
	w, err2 := strconv.ParseFloat(strings.TrimRight(want, "ms%"), 64)
	if strings.HasSuffix(want, "s") && !strings.HasSuffix(want, "ms") {
		w *= 1000
	}
	return err1 == nil && err2 == nil && math.Abs(g-w) <= 1e-9*math.Abs(w)
}

func (l *timeline) figure(name string) string {
	head, rest, _ := strings.Cut(name, ".")
	switch head {
	case "requests":
		return count(l.result.Requests, rest)
	case "attempts":
		return strconv.Itoa(l.result.Attempts.ByOutcome[rest])
	case "slo":
		number, field, _ := strings.Cut(rest, ".")
		return l.slo(l.int(number), field)
	case "trust":
		return string(l.result.Validity[rest].Trust)
	case "bound":
		return l.result.Validity[rest].Bound.String()
	case "why":
		return strconv.FormatBool(strings.Contains(l.result.Validity["e2e"].Reason, rest))
	case "steady":
		return l.steady(rest)
	}
	m, ok := l.result.Metrics[head]
	if !ok {
		l.Fatalf("%s:%d: no metric %q", l.file, l.line, head)
	}
	if rest == "count" {
		return strconv.Itoa(m.Count)
	}
	if m.Rate {
		return m.Value.String()
	}
	v, ok := m.Stat(rest)
	if !ok {
		l.Fatalf("%s:%d: no statistic %q", l.file, l.line, rest)
	}
	return v.String()
}

func (l *timeline) steady(what string) string {
	s := l.result.Steady
	if what == "found" {
		return strconv.FormatBool(s.Found)
	}
	switch what {
	case "from":
		return s.From.String()
	case "to":
		return s.To.String()
	case "due":
		return strconv.Itoa(s.Requests.Due)
	}
	m := s.Metrics["ttft"]
	v, _ := m.Stat(what)
	return v.String()
}

func count(r measure.Requests, what string) string {
	switch what {
	case "due":
		return strconv.Itoa(r.Due)
	case "sent":
		return strconv.Itoa(r.Sent)
	case "ok":
		return strconv.Itoa(r.OK)
	case "failed":
		return strconv.Itoa(r.Failed)
	case "cut":
		return strconv.Itoa(r.Cut)
	case "unsent":
		return strconv.Itoa(r.Unsent)
	}
	return strconv.Itoa(r.ByOutcome[what])
}

func (l *timeline) slo(i int, field string) string {
	s := l.judged[i-1]
	e := s.Evidence
	optional := func(n *int) string {
		if n == nil {
			return "-"
		}
		return strconv.Itoa(*n)
	}
	switch field {
	case "verdict":
		return string(s.Verdict)
	case "value":
		return s.Value.String()
	case "n":
		return strconv.Itoa(e.N)
	case "n_effective":
		return optional(e.NEffective)
	case "over":
		return strconv.Itoa(e.Over)
	case "needed":
		return optional(e.Needed)
	case "left_out":
		return strconv.Itoa(e.LeftOut)
	case "cut_over":
		return strconv.Itoa(e.CutOver)
	case "absent":
		return strconv.Itoa(e.Absent)
	case "overall":
		return string(verify.Overall(l.judged))
	}
	return "?"
}
