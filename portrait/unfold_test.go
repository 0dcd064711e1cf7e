package portrait_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/portrait"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// flat joins the lines of a page.
func flat(t *testing.T, p *portrait.Page) string {
	t.Helper()
	return strings.Join(strings.Fields(page(t, p, portrait.TextOptions{})), " ")
}

// TestTurnsAreRequests: a session of three turns from 0 s on, with think times
// of 100 and 20 s, and a lone request at 110 s. Requests come at 0, 100, 110 and
// 120 s. Prompts have 10, 10+5+20 = 35, 35+15-4+1 = 47 (the answer of 15 tokens
// has 4 of reasoning, which are not sent again) and 8 tokens, of which 10, 20, 1
// and 8 are new.
func TestTurnsAreRequests(t *testing.T) {
	log := []trace.Row{
		{Format: "tokamak", Timed: true, Input: 10, Output: 5, Session: "a", Turns: []trace.Turn{
			{Input: 10, Output: 5}, {Input: 20, Output: 15, Reasoning: 4, Think: 100 * time.Second}, {Input: 1, Output: 2, Think: 20 * time.Second}}},
		{Format: "tokamak", Timed: true, At: int64(110 * time.Second), Input: 8, Output: 3},
	}
	f, p := show(t, &rows{of: log}, portrait.Options{})
	if f.Requests != 4 || f.Rows != 2 || f.Arrivals != 4 || f.Planned != 2 || *f.Sessions != 2 {
		t.Errorf("%d requests, %d rows, %d arrivals, %d planned, %d sessions", f.Requests, f.Rows, f.Arrivals, f.Planned, *f.Sessions)
	}
	if f.Span.Or(0) != 120 || f.PeakRate.Or(0) != 3.0/60 || f.PeakAt.Or(-1) != 60 {
		t.Errorf("span %v, peak %v at %v", f.Span, f.PeakRate, f.PeakAt)
	}
	if f.Input.Sum != 10+35+47+8 || f.Input.Max.Or(0) != 47 {
		t.Errorf("prompts: %+v", f.Input)
	}
	if f.NewInput.Count != 4 || f.NewInput.Sum != 10+20+1+8 || f.NewInput.Max.Or(0) != 20 {
		t.Errorf("new text: %+v", f.NewInput)
	}
	if f.Output.Sum != 5+15+2+3 {
		t.Errorf("answers: %+v", f.Output)
	}
	for _, want := range []string{"The moments of the later turns of conversations, 2 requests, are planned ones", "new text p50 · p95 · p99 8 · 20 · 20"} {
		if text := flat(t, p); !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// TestUnknownAnswers: behind an answer of unknown length no prompt is known, and
// the figures say of how many requests they are.
func TestUnknownAnswers(t *testing.T) {
	log := []trace.Row{{Timed: true, Input: 10, Session: "a", Turns: []trace.Turn{{Input: 10}, {Input: 20, Output: 15}}}}
	f, p := show(t, &rows{of: log}, portrait.Options{})
	if f.Input.Count != 1 || f.Input.Sum != 10 || f.NewInput.Sum != 30 {
		t.Errorf("prompts %+v, new text %+v", f.Input, f.NewInput)
	}
	if text := flat(t, p); !strings.Contains(text, "19 of 20 prompts are no longer, of 1 of 2 requests") {
		t.Error(text)
	}
}

// TestNewTextAlone: rows of new text of 10 and 7 tokens with an answer of 5
// between them are prompts of 10 and 22.
func TestNewTextAlone(t *testing.T) {
	log := at(0, 5)
	for i := range log {
		log[i].Session, log[i].Delta, log[i].Output = "a", true, 5
		log[i].Input = []int64{10, 7}[i]
	}
	f, _ := show(t, &rows{of: log}, portrait.Options{})
	if f.Input.Sum != 10+22 || f.NewInput.Sum != 17 {
		t.Errorf("prompts %+v, new text %+v", f.Input, f.NewInput)
	}
}

// TestTextsWithoutThinkTimes: when later turns of a text come is not known.
func TestTextsWithoutThinkTimes(t *testing.T) {
	say := trace.Turn{Messages: []trace.Message{{Role: "user", Text: "a"}}}
	f, p := show(t, &rows{of: []trace.Row{{Timed: true, Turns: []trace.Turn{say, say}}, {Timed: true, At: 1e9}}}, portrait.Options{})
	if f.Requests != 3 || f.Arrivals != 2 {
		t.Errorf("%d requests, %d arrivals", f.Requests, f.Arrivals)
	}
	text := flat(t, p)
	for _, want := range []string{"Later turns of a conversation whose moments the log does not tell, 1 request, are in", "requests ÷ span, of 2 of 3 requests"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// TestSharedHistory: two sessions share a front of 128 tokens; the second turn
// of the first finds its first prompt of 192, in blocks of 64. A lone prompt of
// 100 has nothing to find.
func TestSharedHistory(t *testing.T) {
	session := func(s int64, turns ...trace.Turn) trace.Row {
		return trace.Row{Format: "tokamak", Timed: true, At: s * 1e9, Input: 192, Output: 64, Blocks: []uint64{7}, BlockTokens: 128, Turns: turns}
	}
	log := []trace.Row{
		{Format: "tokamak", Timed: true, Input: 100, Output: 1},
		session(1, trace.Turn{Input: 192, Output: 64}, trace.Turn{Input: 64, Output: 1, Think: 10 * time.Second}),
		session(2),
	}
	f, _ := show(t, &rows{of: log}, portrait.Options{})
	if want := (128 + 192.0) / (100 + 192 + 192 + 320); math.Abs(f.SharedPrefix.Or(0)-want) > 1e-12 || f.SharedPrefixOf != 4 {
		t.Errorf("%v of %d, want %v", f.SharedPrefix, f.SharedPrefixOf, want)
	}
}

// TestTurnsOfAnyLength: of three turns of 151, 230 and 309 tokens with a front of
// 105 the second finds 151 and the third 230; another session's first finds 105.
func TestTurnsOfAnyLength(t *testing.T) {
	row := trace.Row{Format: "tokamak", Timed: true, Input: 151, Output: 40, Blocks: []uint64{1}, BlockTokens: 105,
		Turns: []trace.Turn{{Input: 151, Output: 40}, {Input: 39, Output: 40, Think: time.Second}, {Input: 39, Output: 1, Think: time.Second}}}
	other := row
	other.At = 9e9
	f, _ := show(t, &rows{of: []trace.Row{row, other}}, portrait.Options{})
	if want := float64(2*(151+230)+105) / float64(2*(151+230+309)); math.Abs(f.SharedPrefix.Or(0)-want) > 1e-12 {
		t.Errorf("%v, want %v", f.SharedPrefix, want)
	}
}

// TestFrontOfAnyLength: a front that one block names is shared to its end, however
// long it is: 105 tokens of 170 each in 39 of 40 prompts, 25 of 90 likewise.
func TestFrontOfAnyLength(t *testing.T) {
	for _, c := range []struct{ input, front int64 }{{170, 105}, {90, 25}} {
		var log []trace.Row
		for i := range int64(40) {
			log = append(log, trace.Row{Format: "tokamak", Timed: true, At: i * 5e8, Input: c.input, Output: 5, Blocks: []uint64{1}, BlockTokens: c.front})
		}
		f, _ := show(t, &rows{of: log}, portrait.Options{})
		if want := float64(39*c.front) / float64(40*c.input); math.Abs(f.SharedPrefix.Or(0)-want) > 1e-12 {
			t.Errorf("%v, want %v", f.SharedPrefix, want)
		}
	}
}

// TestErrorsNotKnown: no row says how it went.
func TestErrorsNotKnown(t *testing.T) {
	f, p := show(t, &rows{of: at(0, 1, 2)}, portrait.Options{})
	if f.Failed != nil {
		t.Errorf("%d failed", *f.Failed)
	}
	if text := flat(t, p); !strings.Contains(text, "errors – not known: the log does not say how requests went") {
		t.Error(text)
	}
	log := at(0, 1, 2, 3)
	log[0].Told, log[1].Told, log[1].Failed = true, true, true
	f, p = show(t, &rows{of: log}, portrait.Options{})
	if *f.Failed != 1 || f.FailedOf != 2 {
		t.Errorf("%d of %d", *f.Failed, f.FailedOf)
	}
	if text := flat(t, p); !strings.Contains(text, "errors 1 (50%) requests that the service did not answer, of 2 of 4 rows") {
		t.Error(text)
	}
}

// TestClocks: which of the formats of a log has a coarse clock is said.
func TestClocks(t *testing.T) {
	mixed := func(coarse, fine float64) []trace.Row {
		var log []trace.Row
		for k := range 12 {
			log = append(log, at(coarse*float64(k/6), fine*float64(k))...)
			log[2*k].Format, log[2*k+1].Format = "one", "other"
		}
		return log
	}
	for _, c := range []struct {
		name     string
		log      []trace.Row
		say, not string
	}{
		{"one is coarse", mixed(10, 1.7), "The clock of the 12 rows read as one is coarse, or they come in batches; that of the 12 rows read as other is not", "log's clock"},
		{"coarse", at(0, 0, 0, 0, 3, 3, 3, 3, 6, 6), "the log's clock is coarse", "no clock in the log"},
	} {
		f, _ := show(t, &rows{of: c.log}, portrait.Options{})
		notes := strings.Join(f.Notes, " ")
		if !strings.Contains(notes, c.say) || strings.Contains(notes, c.not) {
			t.Errorf("%s: %s", c.name, notes)
		}
	}
	twice := at(0, 0, 1, 1, 2, 2, 3, 3)
	for i := range twice {
		twice[i].Format = []string{"one", "other"}[i%2]
	}
	if f, _ := show(t, &rows{of: twice}, portrait.Options{}); !strings.Contains(strings.Join(f.Notes, " "), "57.1% of the requests bear the same moment as the one before, though no clock in the log is coarse") {
		t.Error(f.Notes)
	}
}

// TestEndlessTurns: a line of ten thousand enormous turns is counted, and not
// cut into blocks without end.
func TestEndlessTurns(t *testing.T) {
	row := trace.Row{Format: "tokamak", Timed: true, Input: 1e9, Output: 1, Turns: []trace.Turn{{Input: 1e9, Output: 1}}}
	for range 9999 {
		row.Turns = append(row.Turns, trace.Turn{Input: 1e9, Output: 1})
	}
	f, _ := show(t, &rows{of: []trace.Row{row}}, portrait.Options{})
	if f.Requests != 10_000 || f.SharedPrefix.Valid() {
		t.Errorf("%d requests, %v", f.Requests, f.SharedPrefix)
	}
}

// TestPiecesLikeTheBlocks: what is cut beside rows of blocks of 512 tokens is
// cut like them, and nothing is said of blocks of two lengths.
func TestPiecesLikeTheBlocks(t *testing.T) {
	log := []trace.Row{
		{Format: "tokamak", Timed: true, Input: 1000, Output: 50, Blocks: []uint64{1, 2}, BlockTokens: 512, Turns: []trace.Turn{{Input: 1000, Output: 50}, {Input: 300, Output: 1, Think: time.Second}}},
		{Format: "tokamak", Timed: true, At: 5e8, Input: 700, Output: 50},
		{Format: "tokamak", Timed: true, At: 6e8, Input: 1000, Output: 50, Blocks: []uint64{1, 2}, BlockTokens: 512},
	}
	f, _ := show(t, &rows{of: log}, portrait.Options{})
	// The third prompt finds the one full block of 512 that it has in common, the second turn all of the first.
	if want := (512.0 + 1000) / (1000 + 700 + 1000 + 1350); math.Abs(f.SharedPrefix.Or(0)-want) > 1e-12 {
		t.Errorf("%v, want %v", f.SharedPrefix, want)
	}
	if notes := strings.Join(f.Notes, " "); strings.Contains(notes, "several lengths") {
		t.Error(notes)
	}
}
