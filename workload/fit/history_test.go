package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// sender makes the rows of sessions of three to twelve requests each.
type sender struct {
	r      *rand.Rand
	tenant string
	// next is the prompt that follows a prompt and its answer.
	next func(r *rand.Rand, prompt, answer int64) int64
	// size of blocks that prompts name, 0: none; shared says that a prompt's
	// begin with those of the one before.
	size   int64
	shared bool
}

func (s *sender) rows(sessions int) (rows []trace.Row) {
	block := uint64(1)
	for k := range sessions {
		at := s.r.Int64N(3600e9)
		prompt, answer := int64(0), int64(0)
		var ids []uint64
		for range 3 + s.r.IntN(10) {
			if prompt = s.next(s.r, prompt, answer); s.size > 0 {
				if !s.shared {
					ids = nil
				}
				for int64(len(ids)) < prompt/s.size {
					ids = append(ids, block)
					block++
				}
				ids = slices.Clone(ids[:prompt/s.size])
			}
			answer = lengthOf(s.r, 80)
			rows = append(rows, trace.Row{Format: "test", Timed: true, At: at, Tenant: s.tenant, Session: fmt.Sprint(s.tenant, k), Input: prompt, Output: answer,
				Blocks: ids, BlockTokens: s.size})
			at += 1e9 + s.r.Int64N(40e9)
		}
	}
	return rows
}

func lengthOf(r *rand.Rand, mean float64) int64 {
	return 1 + int64(stat.Lognormal{Average: mean, CV: 1}.Sample(r))
}

func fresh(r *rand.Rand, _, _ int64) int64 { return lengthOf(r, 700) }

func growing(r *rand.Rand, prompt, answer int64) int64 { return prompt + answer + lengthOf(r, 200) }

func senderOf(next func(*rand.Rand, int64, int64) int64) *sender {
	return &sender{r: rand.New(rand.NewPCG(1, 2)), next: next}
}

func sorted(lists ...[]trace.Row) []trace.Row {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b trace.Row) int { return int(max(min(a.At-b.At, 1), -1)) })
	return all
}

// nameless takes the tenant off, and leaves the sessions.
func nameless(rows []trace.Row) []trace.Row {
	for i := range rows {
		rows[i].Tenant = ""
	}
	return rows
}

// tokensOf are those of all prompts.
func tokensOf(rows []trace.Row) (sum float64) {
	for i := range rows {
		sum += float64(rows[i].Input)
	}
	return sum
}

// Samples of the model hold the log's prompt tokens, whatever a session's later
// prompts hold, and the report says what they were taken for.
func TestTurnsWithAndWithoutHistory(t *testing.T) {
	chats, agents := senderOf(growing), senderOf(fresh)
	chats.tenant, agents.tenant = "chats", "agents"
	apart, together := senderOf(growing), senderOf(func(r *rand.Rand, prompt, answer int64) int64 { return prompt + answer + lengthOf(r, 900) })
	apart.size, together.size, together.shared = 16, 16, true
	saturated := senderOf(func(r *rand.Rand, prompt, answer int64) int64 {
		if next := growing(r, prompt, answer); next < 1500 {
			return next
		}
		return lengthOf(r, 300)
	})
	for _, c := range []struct {
		name  string
		rows  []trace.Row
		turns trace.Turns
		want  trace.Turns
		room  float64
	}{
		{"chats", senderOf(growing).rows(300), "", trace.CumulativeTurns, .08},
		{"many agents", senderOf(fresh).rows(4000), "", IndependentTurns, .05},
		{"agents", senderOf(fresh).rows(300), "", IndependentTurns, .05},
		{"chats and agents", append(chats.rows(200), agents.rows(200)...), "", mixedTurns, .08},
		{"more chats than agents, under one name", append(senderOf(growing).rows(200), nameless(agents.rows(50))...), "", mixedTurns, .15},
		{"more agents than chats, under one name", append(nameless(chats.rows(50)), senderOf(fresh).rows(200)...), "", mixedTurns, .10},
		{"growing lengths of other blocks", apart.rows(300), "", IndependentTurns, .05},
		{"the same blocks", together.rows(300), "", trace.CumulativeTurns, .08},
		{"histories cut short", saturated.rows(300), "", trace.CumulativeTurns, .15},
		{"chats taken apart", senderOf(growing).rows(300), IndependentTurns, IndependentTurns, .05},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := sorted(c.rows)
			want := tokensOf(rows)
			_, r, err := Fit(t.Context(), &listed{rows}, Options{Turns: c.turns, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if r.Sessions.History != string(c.want) {
				t.Errorf("taken as %s (%s), want %s", r.Sessions.History, r.Sessions.HistoryWhy, c.want)
			}
			in := &r.Totals.Input
			if *in.Log != want {
				t.Errorf("the log has %v prompt tokens, %v were counted", want, *in.Log)
			}
			if off := in.Model/want - 1; math.Abs(off) > c.room {
				t.Errorf("samples have %.0f prompt tokens, the log %.0f (%+.0f %%)", in.Model, want, 100*off)
			}
			if asked := strings.Contains(strings.Join(r.Findings, "\n"), "although 100 % of the later prompts are longer than the one before, as of prompts that hold their history"); asked != (c.turns != "") {
				t.Errorf("%q", r.Findings)
			}
			said := strings.Contains(strings.Join(r.Findings, "\n"), "turns without history")
			if said != (c.want == IndependentTurns || c.want == mixedTurns) {
				t.Errorf("%q", r.Findings)
			}
		})
	}
}

// What is reasoned does not come back: chats whose answers are mostly that have a
// history all the same, and their new text is what was said. By hand: a prompt
// of 100, an answer of 400 of which 300 are reasoning, and a prompt of 230 have
// 30 tokens of new text.
func TestReasoningDoesNotComeBack(t *testing.T) {
	l := newLog(Options{})
	var list []trace.Row
	for s := range 30 {
		for i, n := range []int64{100, 230, 360} {
			list = append(list, trace.Row{Format: "test", Timed: true, At: int64(s)*100e9 + int64(i)*1e9 + int64(s*s+i), Session: fmt.Sprint(s), Input: n, Output: 400, Reasoning: 300})
			l.add(&list[len(list)-1])
		}
	}
	l.finish()
	for i := range l.input {
		if want := []int32{100, 30, 30}[i%3]; l.input[i] != want {
			t.Fatalf("new text of turn %d is %d, want %d", i%3, l.input[i], want)
		}
	}
	_, r, err := Fit(t.Context(), &listed{slices.Clone(list)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Sessions.History != string(trace.CumulativeTurns) || math.Abs(*r.Totals.Input.Off) > .15 || *r.Totals.Input.Log != 30*690 {
		t.Errorf("%+v, %+v", r.Sessions, r.Totals.Input)
	}
	// Where the log does not tell the reasoning, it says that answers do not come back whole.
	for i := range list {
		list[i].Reasoning = 0
	}
	if _, r, err = Fit(t.Context(), &listed{list}, Options{}); err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(r.Findings, "\n"); !strings.Contains(all, "60 of 60 later prompts are shorter than the prompt before with its answer") {
		t.Errorf("%q", r.Findings)
	}
}

// Chats beside requests that stand alone, of other lengths, under one name: both
// are clients, and samples have the log's tokens.
func TestConversationsApart(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	alone := senderOf(func(r *rand.Rand, _, _ int64) int64 { return lengthOf(r, 3000) }).rows(150)
	for i := range alone {
		alone[i].Session, alone[i].Output = "", lengthOf(r, 20)
	}
	rows := sorted(senderOf(growing).rows(150), alone)
	m, report, err := Fit(t.Context(), &listed{slices.Clone(rows)}, Options{By: ByNone})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Clients) != 2 || m.Clients[1].Name != "client-1-alone" || m.Clients[1].Sessions != nil || m.Clients[0].Sessions == nil {
		t.Fatalf("%d clients: %+v", len(m.Clients), report.Clients)
	}
	for what, total := range map[string]Total{"input": report.Totals.Input, "output": report.Totals.Output} {
		if math.Abs(*total.Off) > .10 {
			t.Errorf("%s is off by %+.0f %%", what, 100**total.Off)
		}
	}
	// Requests of the same lengths stay together.
	for i := range rows {
		if rows[i].Session == "" {
			rows[i].Input, rows[i].Output = lengthOf(r, 200), lengthOf(r, 80)
		}
	}
	if m, _, err = Fit(t.Context(), &listed{rows}, Options{By: ByNone}); err != nil || len(m.Clients) != 1 {
		t.Errorf("%d clients, %v", len(m.Clients), err)
	}
}

// A season is no drift: parts are whole days where the rate repeats every day.
func TestPartsAreWholePeriods(t *testing.T) {
	l := newLog(Options{})
	l.span = 3.4 * 86400
	if got := l.parts(&Season{Period: 86400}); len(got) != 3 {
		t.Errorf("%d parts, want a day each", len(got))
	}
	if got := l.parts(&Season{Period: 3600}); len(got) != 20 {
		t.Errorf("%d parts, want one for each four hours", len(got))
	}
	if got := l.parts(nil); len(got) != 20 {
		t.Errorf("%d parts, want one for each four hours", len(got))
	}
}

// An agent calls others under its own session id: each prompt goes on with the
// conversation that it may hold. By hand: 1000 and an answer of 10, a call of
// 200, 1100 goes on with the first, 260 with the call, 1200 with the first, and
// 150 with nobody.
func TestConversationsOfOneSession(t *testing.T) {
	l := newLog(Options{Turns: trace.CumulativeTurns})
	for i, n := range []int64{1000, 200, 1100, 260, 1200, 150} {
		if err := l.add(&trace.Row{Timed: true, At: int64(i)*1e9 + int64(i), Session: "s", Input: n, Output: 10}); err != nil {
			t.Fatal(err)
		}
	}
	l.finish()
	if want := []int32{1000, 200, 90, 50, 90, 150}; !slices.Equal(l.input, want) {
		t.Errorf("new text %v, want %v", l.input, want)
	}
	if got := l.conversations(allRows(6), nil); !slices.Equal(got, []int32{3, 2, 1}) || l.history.anew != 2 {
		t.Errorf("turns %v, %d anew", got, l.history.anew)
	}
	// What was answered counts: 1500 cannot hold 1000 and an answer of 1000, but 900
	// and 10. What does not hold the blocks of the last goes on with nobody.
	l = newLog(Options{Turns: trace.CumulativeTurns})
	for i, r := range []trace.Row{{Input: 1000, Output: 1000}, {Input: 900, Output: 10}, {Input: 1500, Output: 10},
		{Session: "t", Input: 32, Output: 1, Blocks: []uint64{1, 2}, BlockTokens: 16}, {Session: "t", Input: 48, Output: 1, Blocks: []uint64{5, 6, 7}, BlockTokens: 16}} {
		r.Timed, r.At = true, int64(i)*1e9+int64(i)
		if r.Session == "" {
			r.Session = "s"
		}
		if err := l.add(&r); err != nil {
			t.Fatal(err)
		}
	}
	l.finish()
	if want := []int32{1000, 900, 590, 32, 48}; !slices.Equal(l.input, want) {
		t.Errorf("new text %v, want %v", l.input, want)
	}
	// More than eight at once are forgotten, the oldest first.
	l = newLog(Options{Turns: trace.CumulativeTurns})
	for i := range 12 {
		_ = l.add(&trace.Row{Timed: true, At: int64(i)*1e9 + int64(i), Session: "s", Input: int64(5000 - 100*i), Output: 10})
	}
	_ = l.add(&trace.Row{Timed: true, At: 20e9, Session: "s", Input: 9000, Output: 10})
	l.finish()
	if got := l.input[12]; got != 9000-4610 { // the longest of the eight last, 5000 - 100 · 4, and its answer
		t.Errorf("new text %d", got)
	}
}

// By hand: a session of prompts 100, 30 and 50 with answers of 10, whose rows
// hold new text alone, has whole prompts of 100, 140 and 200.
func TestDeltaTurnsAsked(t *testing.T) {
	l := newLog(Options{Turns: trace.DeltaTurns})
	for i, n := range []int64{100, 30, 50} {
		l.add(&trace.Row{Timed: true, At: int64(i)*1e9 + int64(i), Session: "s", Input: n, Output: 10})
	}
	l.finish()
	if !slices.Equal(l.whole, []int32{100, 140, 200}) || !slices.Equal(l.input, []int32{100, 30, 50}) {
		t.Errorf("whole prompts %v, new text %v", l.whole, l.input)
	}
	if kind, why := l.history.words(l.options.Turns); kind != trace.DeltaTurns || why != "as asked" {
		t.Errorf("%s, %s", kind, why)
	}
}

// A prompt that is shorter than the one before begins another conversation.
func TestHistoryCutShort(t *testing.T) {
	l := newLog(Options{Turns: trace.CumulativeTurns})
	for i, n := range []int64{100, 150, 40, 90} {
		l.add(&trace.Row{Timed: true, At: int64(i)*1e9 + int64(i), Session: "s", Input: n, Output: 10})
	}
	l.finish()
	if want := []int32{100, 40, 40, 40}; !slices.Equal(l.input, want) {
		t.Errorf("new text %v, want %v", l.input, want)
	}
	if got := l.conversations(allRows(4), nil); !slices.Equal(got, []int32{2, 2}) || l.history.anew != 1 {
		t.Errorf("turns %v, %d anew", got, l.history.anew)
	}
}

// The log's own sessions divide it even where their requests stand alone.
func TestBySessionWithoutHistory(t *testing.T) {
	rows := sorted(senderOf(fresh).rows(100))
	for i := range rows {
		rows[i].Session = fmt.Sprint(i % 2)
	}
	m, _, err := Fit(t.Context(), &listed{rows}, Options{By: BySession, KeepNames: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Clients) != 2 || m.Clients[0].Name != "0" && m.Clients[0].Name != "1" || m.Clients[0].Name == m.Clients[1].Name {
		t.Errorf("%d clients, the first %q", len(m.Clients), m.Clients[0].Name)
	}
	if m.Clients[0].Sessions != nil {
		t.Error("sessions were learnt of prompts that do not grow")
	}
}

// A total that differs by more than a tenth is a finding, with both figures.
func TestTotalsAreFound(t *testing.T) {
	l := newLog(Options{})
	l.at = make([]int64, 100)
	off := .25
	log, compared := 1000.0, 1250.0
	l.findTotals(&Totals{Seeds: 3, Input: Total{Known: 80, Log: &log, LogCompared: &compared, ComparedRequests: 100, ModelCompared: 1562.5, Model: 1562.5, Low: 1500, High: 1600, Off: &off}})
	if want := "totals: a sample of the model has 25 % more input tokens than the log (1,562 against 1,250 of 100 requests, extrapolated from the 80 that tell them, samples from 1,500 to 1,600)"; len(l.findings) != 1 ||
		l.findings[0] != want {
		t.Errorf("%q", l.findings)
	}
}

// A log of two formats says both.
func TestAllFormatsAreSaid(t *testing.T) {
	rows := sorted(senderOf(fresh).rows(20))
	for i := range rows {
		rows[i].Format = []string{"first", "second", "first"}[i*3/len(rows)]
	}
	m, r, err := Fit(t.Context(), &listed{rows}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Format != "first, second" || m.Source.Format != r.Format || !strings.Contains(r.Text(), "first, second, ") {
		t.Errorf("%q", r.Format)
	}
}

// By hand: 120, 60 and 200 requests in stretches of 10 minutes are 12, 6 and 20 a
// minute in the table, and the last 20 against (120 + 60) / 20 = 9 before.
func TestDriftHasOneRate(t *testing.T) {
	l := newLog(Options{})
	var parts []part
	for i, n := range []int{120, 60, 200} {
		p := part{from: float64(i) * 600, to: float64(i+1) * 600, first: len(l.at)}
		for k := range n {
			l.at = append(l.at, int64((p.from+(float64(k)+.5)*600/float64(n))*1e9))
			l.input, l.output = append(l.input, 5), append(l.output, 5)
		}
		p.end = len(l.at)
		parts = append(parts, p)
	}
	d := l.drift(parts)
	if got := []float64{d.Parts[0].PerMinute, d.Parts[1].PerMinute, d.Parts[2].PerMinute}; !slices.Equal(got, []float64{12, 6, 20}) {
		t.Errorf("%v a minute", got)
	}
	if len(d.Changes) != 2 || !strings.Contains(d.Changes[0], "50 % fewer requests a minute (6 against 12)") ||
		!strings.Contains(d.Changes[1], "122 % more requests a minute (20 against 9)") {
		t.Errorf("%q", d.Changes)
	}
}

// Rows that hold whole conversations, each at its own moment, are no steps of a
// clock, and the answers of all their turns are learnt, though the first are
// shorter.
func TestConversationsInRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var rows []trace.Row
	at, answers := int64(0), 0.0
	for range 200 {
		at += r.Int64N(9e9) + 1
		row := trace.Row{Format: "test", Timed: true, At: at, Input: lengthOf(r, 300), Output: 10}
		row.Turns = []trace.Turn{{Input: row.Input, Output: 10}}
		answers += 10
		for range 4 {
			row.Turns = append(row.Turns, trace.Turn{Input: lengthOf(r, 50), Output: lengthOf(r, 200), Think: 4e9})
			answers += float64(row.Turns[len(row.Turns)-1].Output)
		}
		rows = append(rows, row)
	}
	_, report, err := Fit(t.Context(), &listed{rows}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Stamps.Jittered || report.Stamps.Tick != 0 {
		t.Errorf("%+v", report.Stamps)
	}
	out := &report.Totals.Output
	if *out.Log != answers || math.Abs(*out.Off) > .08 {
		t.Errorf("answers of %v tokens, %v were counted; the model is off by %+.0f %%", answers, *out.Log, 100**out.Off)
	}
	if report.Sessions.History != string(trace.DeltaTurns) || report.Sessions.FromArrival || report.Sessions.ThinkP50 == nil || *report.Sessions.ThinkP50 != 4 {
		t.Errorf("%+v", report.Sessions)
	}
	if q := report.Output.Quantiles; report.Output.KS > .05 || q[4].Log < 100 {
		t.Errorf("held out: KS %v, median %v", report.Output.KS, q[4].Log)
	}
}

// Where conversations in rows go with a clock of steps, their turns stay with
// them.
func TestStepsOfConversations(t *testing.T) {
	l := newLog(Options{})
	for i := range 40 {
		if err := l.add(&trace.Row{Timed: true, At: int64(i/4) * 3e9, Turns: []trace.Turn{{Input: 5, Output: 5}, {Input: 6, Output: 5}, {Input: 7, Output: 5}}}); err != nil {
			t.Fatal(err)
		}
	}
	l.finish()
	if l.stamps.Tick != 3 || !l.stamps.Jittered || !slices.IsSorted(l.at) {
		t.Fatalf("%+v", l.stamps)
	}
	for i := range l.at {
		if i%3 > 0 && l.at[i] != l.at[i-1] {
			t.Fatalf("turn %d is at %d ns, that before at %d", i, l.at[i], l.at[i-1])
		}
	}
}

// Blocks that name the front of a prompt alone do not tell where it ends: what
// begins with the same goes on with nobody.
func TestFrontsAreNoConversations(t *testing.T) {
	b := newBlocks(nil)
	for i, input := range []int64{600, 700} {
		if before, _ := b.add(b.promptOf(&trace.Row{Input: input, Output: 5, Blocks: []uint64{7}, BlockTokens: 256}, nil), int32(i)); before != -1 {
			t.Errorf("prompt %d goes on with %d", i, before)
		}
	}
}

// An answer that tells that it has no reasoning is one of share 0, not one of
// which it is not known; each turn of a row that holds a conversation tells its own.
func TestNoReasoningIsTold(t *testing.T) {
	l := newLog(Options{})
	for _, r := range []trace.Row{
		{Format: "test", Timed: true, Input: 10, Output: 100, ReasoningTold: true},
		{Format: "test", Timed: true, Input: 10, Output: 100, Reasoning: 50, ReasoningTold: true},
		{Format: "test", Timed: true, Input: 10, Output: 100},
		{Format: "test", Timed: true, Input: 10, ReasoningTold: true},
		{Format: "test", Timed: true, Input: 10, Output: 100, Reasoning: 100, ReasoningTold: true,
			Turns: []trace.Turn{{Input: 10, Output: 100, Reasoning: 100, ReasoningTold: true}, {Input: 5, Output: 10, ReasoningTold: true}, {Input: 5, Output: 10}}},
	} {
		if err := l.add(&r); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]uint8{0, 100, noShare, noShare, 200, 0, noShare}, l.share); d != "" {
		t.Error(d)
	}
	if d := l.fitReasoning([]int32{0, 3}); d == nil || d.Quantile(1) != 0 {
		t.Errorf("answers all without reasoning are %v", d)
	}
	if d := l.fitReasoning([]int32{2, 3}); d != nil {
		t.Errorf("answers that do not tell are %v", d)
	}
	if d := l.fitReasoning([]int32{1, 2}); d == nil || d.Quantile(.4) != 0 || d.Quantile(1) != .5 {
		t.Errorf("one that tells and one that does not are %v", d)
	}
}
