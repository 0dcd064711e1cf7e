package wire

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmaxmax/go-sse"
	"pgregory.net/rapid"
)

type sseEvent struct{ Name, Data string }

// frame feeds stream to a framer in the given pieces and returns the raw
// events, moving the buffer to its front now and then as a transport does.
func frame(framing Framing, pieces [][]byte) (events []string, rest string) {
	f := NewFramer(framing)
	var buf []byte
	start := 0
	for i, p := range pieces {
		buf = append(buf, p...)
		for end := f.Next(buf); end >= 0; end = f.Next(buf) {
			events = append(events, string(buf[start:end]))
			start = end
		}
		if i%3 == 2 {
			f.Moved(start)
			buf = append(buf[:0], buf[start:]...)
			start = 0
		}
	}
	if f.Partial() {
		rest = string(buf[start:])
	}
	return events, rest
}

func parse(events []string) (out []sseEvent) {
	for _, e := range events {
		if name, data, ok := EventData([]byte(e)); ok {
			out = append(out, sseEvent{string(name), string(data)})
		}
	}
	return out
}

// cuts splits b at random places.
func cuts(b []byte, r *rand.Rand) (pieces [][]byte) {
	for len(b) > 0 {
		n := 1 + r.IntN(min(len(b), 7))
		pieces = append(pieces, b[:n])
		b = b[n:]
	}
	return pieces
}

func TestEvents(t *testing.T) {
	for _, test := range []struct {
		stream string
		want   []sseEvent
		raw    int // events with those that have no data
		rest   string
	}{
		{"data: a\n\ndata: b\n\n", []sseEvent{{"", "a"}, {"", "b"}}, 2, ""},
		{"data: a\r\n\r\ndata: b\r\n\r\n", []sseEvent{{"", "a"}, {"", "b"}}, 2, ""},
		{"data: a\r\rdata: b\r\r", []sseEvent{{"", "a"}, {"", "b"}}, 2, ""},
		{"data: a\n\r\ndata: b\r\n\n", []sseEvent{{"", "a"}, {"", "b"}}, 2, ""},
		{"\ufeffdata: a\n\n", []sseEvent{{"", "a"}}, 1, ""},
		{"\n\n\ndata: a\n\n\n\n", []sseEvent{{"", "a"}}, 1, ""},
		{": ping\n\ndata: a\n\n:\n\n", []sseEvent{{"", "a"}}, 3, ""},
		{"event: x\nid: 1\nretry: 5\ndata: a\n\n", []sseEvent{{"x", "a"}}, 1, ""},
		{"data: a\ndata:  b\ndata\ndata:\n\n", []sseEvent{{"", "a\n b\n\n"}}, 1, ""},
		{"data\n\n", []sseEvent{{"", ""}}, 1, ""},
		{"data:a:b\n\n", []sseEvent{{"", "a:b"}}, 1, ""},
		{"DATA: a\n\n data: b\n\n", nil, 2, ""},
		{"event: x\nevent: y\ndata: a\n\n", []sseEvent{{"y", "a"}}, 1, ""},
		{"data: a\n\ndata: [DONE]\n", []sseEvent{{"", "a"}}, 1, "data: [DONE]\n"},
		{"data: a\r\n\r\n\r\n", []sseEvent{{"", "a"}}, 1, ""},
		{"", nil, 0, ""},
	} {
		for seed := range uint64(30) {
			pieces := [][]byte{[]byte(test.stream)}
			if seed > 0 {
				pieces = cuts([]byte(test.stream), rand.New(rand.NewPCG(seed, 0)))
			}
			events, rest := frame(SSE, pieces)
			if got := parse(events); !slices.Equal(got, test.want) || len(events) != test.raw || strings.Trim(rest, "\r\n") != strings.Trim(test.rest, "\r\n") {
				t.Errorf("%q in %d pieces: %q of %q, rest %q; want %q", test.stream, len(pieces), got, events, rest, test.want)
			}
		}
	}
}

func TestLines(t *testing.T) {
	stream := []byte("{\"a\":1}\n\n{\"b\":2}\r\n\r\n\n{\"c\":3}")
	want := []string{`{"a":1}`, `{"b":2}`}
	for seed := range uint64(30) {
		events, rest := frame(NDJSON, cuts(stream, rand.New(rand.NewPCG(seed, 0))))
		for i := range events {
			events[i] = strings.TrimSpace(events[i])
		}
		if !slices.Equal(events, want) || strings.TrimSpace(rest) != `{"c":3}` {
			t.Fatalf("%q, rest %q", events, rest)
		}
	}
}

// oracle reads a stream with a library that shares no code with ours.
func oracle(t interface{ Fatalf(string, ...any) }, stream []byte) (out []sseEvent) {
	for e, err := range sse.Read(bytes.NewReader(stream), &sse.ReadConfig{MaxEventSize: 1 << 20}) {
		if err != nil {
			t.Fatalf("oracle: %v", err)
		}
		out = append(out, sseEvent{e.Type, e.Data})
	}
	return out
}

// TestAgainstOracle generates streams of every kind of line.
func TestAgainstOracle(t *testing.T) {
	line := rapid.OneOf(
		rapid.Map(rapid.StringMatching(`[a-zé{}:" ]{0,12}`), func(s string) string { return "data:" + s }),
		rapid.SampledFrom([]string{"data", "data: [DONE]", "event: message", "event:x", "event", ":", ": ping", "id: 1", "retry: 10", "other: y", "datax: z", " data: z", "", "", ""}),
	)
	end := rapid.SampledFrom([]string{"\n", "\n", "\r\n", "\r"})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		if rapid.Bool().Draw(t, "bom") {
			b.WriteString("\ufeff")
		}
		for i := range rapid.IntRange(0, 20).Draw(t, "lines") {
			b.WriteString(line.Draw(t, fmt.Sprint("line", i)) + end.Draw(t, fmt.Sprint("end", i)))
		}
		stream := []byte(b.String())
		events, _ := frame(SSE, cuts(stream, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "cuts"), 0))))
		got := parse(events)
		if diff := cmp.Diff(withData(oracle(t, stream)), withData(got)); diff != "" {
			t.Fatalf("%q (oracle -, ours +):\n%s", stream, diff)
		}
	})
}

// withData drops events with empty data: the oracle also reports events that
// have a name only, which the standard does not dispatch.
func withData(events []sseEvent) (out []sseEvent) {
	for _, e := range events {
		if e.Data != "" {
			out = append(out, e)
		}
	}
	return out
}

// FuzzFramer holds that pieces do not matter: any split gives the same events,
// which tile the stream.
func FuzzFramer(f *testing.F) {
	for _, s := range []string{"data: a\n\ndata: b\r\n\r\n", "\r\r\r\n\n", "\ufeffdata:x\r\rdata", "{\"a\":1}\n\n\r\n{}", ": c\n\n\nevent: e\ndata: 1\ndata: 2\n\n"} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		for _, framing := range []Framing{SSE, NDJSON, Whole} {
			whole, rest := frame(framing, [][]byte{stream})
			got, gotRest := frame(framing, cuts(stream, rand.New(rand.NewPCG(seed, 0))))
			if diff := cmp.Diff(trimmed(whole), trimmed(got)); diff != "" || strings.Trim(rest, "\r\n") != strings.Trim(gotRest, "\r\n") {
				t.Fatalf("framing %v of %q:\n%s\nrest %q and %q", framing, stream, diff, rest, gotRest)
			}
			if n := len(strings.Join(whole, "") + rest); n > len(stream) || framing == SSE && !slices.Equal(parse(whole), parse(got)) {
				t.Fatalf("framing %v of %q: events of %d bytes", framing, stream, n)
			}
		}
	})
}

// trimmed leaves out the line ends around events: where a CRLF falls between
// two reads its halves belong to different events.
func trimmed(events []string) (out []string) {
	for _, e := range events {
		out = append(out, strings.Trim(e, "\r\n"))
	}
	return out
}

func TestFramingDoesNotAllocate(t *testing.T) {
	stream := []byte(strings.Repeat("data: {\"choices\":[{\"delta\":{\"content\":\"word\"}}]}\n\nevent: x\r\ndata: y\r\n\r\n: ping\n\n", 50))
	if n := testing.AllocsPerRun(100, func() {
		f := NewFramer(SSE)
		start, count := 0, 0
		for end := f.Next(stream); end >= 0; end = f.Next(stream) {
			if _, data, ok := EventData(stream[start:end]); ok {
				count += len(data)
			}
			start = end
		}
		if start != len(stream) || count == 0 {
			t.Fatalf("read %d of %d bytes, %d of data", start, len(stream), count)
		}
	}); n != 0 {
		t.Errorf("%v allocations for 150 events", n)
	}
}

func BenchmarkFramer(b *testing.B) {
	stream := []byte(strings.Repeat("data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"}}]}\n\n", 100))
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		f := NewFramer(SSE)
		for end := f.Next(stream); end >= 0; end = f.Next(stream) {
		}
	}
}
