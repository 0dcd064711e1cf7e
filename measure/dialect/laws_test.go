package dialect

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
)

// draw makes a request with up to six events.
func draw(t *rapid.T, id int64) *record.Attempt {
	a := &record.Attempt{}
	a.RequestID, a.Attempt, a.StampSource = id, 1, record.SourceKernel
	at := rapid.Int64Range(0, 5e9).Draw(t, "at")
	a.Intended, a.WriteStart = record.Some(at), record.Some(at+rapid.Int64Range(0, 1e8).Draw(t, "late"))
	a.Outcome = rapid.SampledFrom([]record.Outcome{record.OK, record.OK, record.OK, record.StreamError, record.Rejected, record.StreamBroken}).Draw(t, "outcome")
	total := int64(0)
	at = a.WriteStart.Or(0)
	for range rapid.IntRange(0, 6).Draw(t, "events") {
		at += rapid.SampledFrom([]int64{0, 1e6, 5e6, 2e9}).Draw(t, "gap")
		n := rapid.Int32Range(0, 5).Draw(t, "tokens")
		c := &a.Chunks
		c.At, c.Tokens = append(c.At, at), append(c.Tokens, n)
		c.Kind = append(c.Kind, rapid.SampledFrom([]record.ChunkKind{record.TextChunk, record.ReasoningChunk, record.ToolChunk}).Draw(t, "kind"))
		c.Choice, c.Flags, c.Bytes = append(c.Choice, rapid.Int32Range(0, 1).Draw(t, "choice")), append(c.Flags, 0), append(c.Bytes, 1)
		total += int64(n)
	}
	if n := len(a.Chunks.At); n > 0 {
		a.FirstChunk, a.FirstToken, a.LastToken = record.Some(a.Chunks.At[0]), record.Some(a.Chunks.At[0]), record.Some(at)
	}
	if rapid.Bool().Draw(t, "usage") {
		a.OutputUsage, a.PromptUsage = record.Some(total), record.Some(rapid.Int64Range(1, 99).Draw(t, "prompt"))
		a.UsageAt = record.Some(at)
	}
	a.Ended = record.Some(at + 1e6)
	return a
}

// TestHouseIsMeasure: our rules in the dialects' terms are what measure says,
// so that a rule switched to ours is switched to the truth.
func TestHouseIsMeasure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trace, acc := New(Options{}), measure.New(measure.Options{})
		usage := true // of every response
		for i := range rapid.IntRange(1, 12).Draw(t, "requests") {
			a := draw(t, int64(i))
			trace.Add(a)
			acc.Add(a)
			usage = usage && a.OutputUsage.Valid()
		}
		result, house := acc.Result(), House()
		got := trace.evaluate(&house, everything)
		for _, m := range Metrics() {
			if m == "output_peak" || m == "total_rate" || m == "output_rate" && !usage {
				continue // of no kind of ours, or by chunks' tokens
			}
			want, ok := Ours(result, m).Get()
			x, has := got[m]
			if has = has && !math.IsNaN(x); has != ok {
				t.Fatalf("%s: %v in the dialect's terms, %v by measure", m, x, Ours(result, m))
			}
			if ok && math.Abs(x-want) > 1e-9*max(1, math.Abs(want)) {
				t.Fatalf("%s: %v in the dialect's terms, %v by measure", m, x, want)
			}
		}
	})
}

// TestEventsSurvivePacking: what goes into a trace comes out.
func TestEventsSurvivePacking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trace := New(Options{})
		var all []*record.Attempt
		for i := range rapid.IntRange(1, 5).Draw(t, "requests") {
			a := draw(t, int64(i))
			for range rapid.IntRange(0, 2).Draw(t, "blanks") {
				a.Blanks.At = append(a.Blanks.At, rapid.Int64Range(-5, 5e9).Draw(t, "blank"))
				a.Blanks.Kind = append(a.Blanks.Kind, record.BlankKind(rapid.IntRange(1, 3).Draw(t, "kind")))
			}
			trace.Add(a)
			all = append(all, a)
		}
		i := 0
		trace.each(func(r *request) {
			want := eventsOf(all[i], nil)
			if len(want) != len(r.events) {
				t.Fatalf("%d events, expected %d", len(r.events), len(want))
			}
			for k := range want {
				if want[k] != r.events[k] {
					t.Fatalf("event %d is %v, expected %v", k, r.events[k], want[k])
				}
			}
			i++
		})
	})
}
