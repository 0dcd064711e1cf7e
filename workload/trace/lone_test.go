package trace

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// span is a span a line; conversation and session.id are left out where empty.
func span(id, trace, conversation string, s int) string {
	attributes := `"gen_ai.request.model":"m"`
	if conversation != "" {
		attributes += `,"gen_ai.conversation.id":"` + conversation + `"`
	}
	return fmt.Sprintf(`{"span_id":"%s","trace_id":"%s","start_time":"2026-01-01T00:00:%02dZ","attributes":{%s}}`+"\n", id, trace, s, attributes)
}

// told is what is said of the sessions of rows: ID session/turn.
func told(rows []*Row) string {
	var list []string
	for _, r := range rows {
		s := r.ID
		if r.Session != "" {
			s += fmt.Sprintf(" %s/%d", r.Session, r.Turn)
		}
		if r.Traced {
			s += " traced"
		}
		list = append(list, s)
	}
	return strings.Join(list, ", ")
}

// A span is of the session that it names; where it names none, of its trace if
// other requests are; else it is a lone request. Rows stay in their order.
func TestTracesAreSessionsWhereShared(t *testing.T) {
	text := span("1", "a", "", 1) + span("2", "b", "", 2) + span("3", "c", "k", 3) + span("4", "a", "", 4) + span("5", "d", "k", 5) +
		`{"span_id":"6","trace_id":"b","start_time":"2026-01-01T00:00:06Z","attributes":{"http.method":"POST"}}` + "\n" + // calls no model
		span("7", "a", "", 7) + `{"span_id":"8","start_time":"2026-01-01T00:00:08Z","attributes":{"gen_ai.request.model":"m"}}` + "\n" + span("9", "c", "", 9)
	rows, r := all(t, text, Options{})
	const want = "1 a/0 traced, 2, 3 k/0, 4 a/1 traced, 5 k/1, 7 a/2 traced, 8, 9"
	if got := told(rows); got != want || r.Ignored() != 1 || len(r.Notes()) != 0 {
		t.Errorf("%s, %d ignored, %v", got, r.Ignored(), r.Notes())
	}
	const otlp = `{"resourceSpans":[{"scopeSpans":[{"spans":[%s]}]}]}`
	var spans []string
	for i, trace := range []string{"a", "b", "a"} {
		spans = append(spans, fmt.Sprintf(`{"spanId":"%d","traceId":"%s","startTimeUnixNano":"%d","attributes":[{"key":"gen_ai.request.model","value":{"stringValue":"m"}}]}`, i, trace, 1767225600000000000+i))
	}
	rows, _ = all(t, fmt.Sprintf(otlp, strings.Join(spans, ",")), Options{})
	if got := told(rows); got != "0 a/0 traced, 1, 2 a/1 traced" {
		t.Error(got)
	}
}

// Only so many rows are held back: a request that comes later begins a session,
// or is a lone one too, and that is said.
func TestTracesFarApart(t *testing.T) {
	far := func(between int, more string) (string, *Reader) {
		text := span("1", "a", "", 1)
		for i := range between {
			text += span(fmt.Sprint(i+2), fmt.Sprint("t", i), "", 2)
		}
		r, err := Open("data", content(text+more), Options{})
		if err != nil {
			t.Fatal(err)
		}
		r.traces.most = 4
		var list []*Row
		for {
			row, err := r.Next()
			if errors.Is(err, io.EOF) {
				return told(list), r
			}
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, row)
			if held := len(r.traces.held) - r.traces.next; held > 4 || len(r.traces.first) > 4 || len(r.traces.held) > 12 {
				t.Fatalf("%d rows are held in %d, %d are first", held, len(r.traces.held), len(r.traces.first))
			}
		}
	}
	late := span("x", "a", "", 9)
	for _, c := range []struct {
		between    int
		more, want string
		notes      []string
	}{
		{2, late, "1 a/0 traced, 2, 3, x a/1 traced", nil},
		{3, late, "1, 2, 3, 4, x", []string{"1 request so far behind the one before of the same trace that this one was taken for a lone request"}},
		{3, late + span("y", "a", "", 9), "1, 2, 3, 4, x a/0 traced, y a/1 traced", []string{"1 request so far behind the one before of the same trace that this one was taken for a lone request"}},
		{30, "", "", nil},
	} {
		got, r := far(c.between, c.more)
		if diff := cmp.Diff(c.notes, r.Notes()); diff != "" || c.want != "" && got != c.want {
			t.Errorf("%d between: %s: %s", c.between, got, diff)
		}
		if n := len(r.traces.first); n > 0 || r.traces.size != 0 {
			t.Errorf("%d first ones and %d bytes are left", n, r.traces.size)
		}
	}
	r, err := Open("data", content(span("1", "a", "", 1)+span("2", "a", "", 2)+"{x\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"data:1", "data:2"} {
		if row, err := r.Next(); err != nil || row.Turn != int64(i) || r.Place() != want {
			t.Error(row, err, r.Place())
		}
	}
	if _, err := r.Next(); err == nil || !strings.HasPrefix(err.Error(), "data: 1 of 3 lines cannot be used") {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// Texts are held by their size.
func TestHeldTextsAreBounded(t *testing.T) {
	line := func(i int) string {
		return fmt.Sprintf(`{"span_id":"%d","trace_id":"t%d","start_time":"2026-01-01T00:00:00Z","attributes":{"gen_ai.request.model":"m","gen_ai.input.messages":"[{\"role\":\"user\",\"content\":\"%s\"}]"}}`+"\n",
			i, i, strings.Repeat("x", 8<<10))
	}
	n := 0
	var b strings.Builder
	for i := range 40 {
		b.WriteString(line(i))
	}
	r, err := Open("data", content(b.String()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.traces.bytes = 64 << 10
	for {
		if _, err := r.Next(); err != nil {
			break
		}
		n++
		if held := len(r.traces.held) - r.traces.next; held > 8 {
			t.Fatalf("%d rows of 8 KiB are held", held)
		}
	}
	if n != 40 {
		t.Errorf("%d rows", n)
	}
}
