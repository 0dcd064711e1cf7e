package openai

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

// FuzzScan holds the scanner against the standard library: it accepts the same
// texts and gives the same strings.
func FuzzScan(f *testing.F) {
	for _, s := range []string{role, usage, `{"a":[1,-2.5e+3,true,false,null,"\u00e9\ud83d\ude00\n"],"b":{}}`, `[1,]`, `{"a":1,}`, `01`, `"` + "\x01" + `"`, `{"\u0061":1}`, ` [ ] `, `-`, `"\ud83d"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := scanner{b: b}
		s.skip()
		got := s.end()
		if want := json.Valid(b); got != want && nesting(b) < maxDepth {
			t.Fatalf("scan of %q: %v, standard library: %v", b, got, want)
		}
		var str string
		if got && json.Unmarshal(b, &str) == nil && utf8.Valid(b) {
			s = scanner{b: b}
			raw, _ := s.text()
			var u surrogates
			if text := u.flush(unescape(nil, raw, &u)); s.peek() == 0 && str != "" && string(text) != str {
				t.Fatalf("text of %q: %q, standard library: %q", b, text, str)
			}
		}
		if fields, ok := topFields(b); ok {
			var m map[string]json.RawMessage
			if err := json.Unmarshal(b, &m); err != nil || len(m) > len(fields) {
				t.Fatalf("fields of %q: %d, standard library: %d, %v", b, len(fields), len(m), err)
			}
		}
	})
}

func nesting(b []byte) int { return bytes.Count(b, []byte("[")) + bytes.Count(b, []byte("{")) }

// FuzzDecode throws bytes at the decoder, in several framings and cuts: it
// never panics, and what it returns fits together.
func FuzzDecode(f *testing.F) {
	for i, s := range []string{sse(role, delta(`"content":"a"`), finish("stop"), usage, done),
		sse(delta(`"content":"<think>"`), delta(`"reasoning":"\ud83d"`), delta(`"content":"</think>x"`)),
		sse(`{"error":{"message":"m","code":4}}`), "event: error\ndata: x\n\n", "<html><title>t</title>",
		sse(withUsage(0, "a", 5, 1), withUsage(1, "b", 5, 2), final(3)),
		`{"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"text":"a"}]}],"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}],"timings":{"prompt_ms":1}}`} {
		f.Add([]byte(s), uint16(200), uint8(i%3), uint8(0))
	}
	f.Add([]byte(`{"detail":[{"loc":["body","ignore_eos"],"msg":"no"}]}`), uint16(422), uint8(0), uint8(0))
	d := newDriver(f, APIChat, nil)
	f.Fuzz(func(t *testing.T, b []byte, status uint16, framing, cause uint8) {
		c := &engine.Call{MaxTokens: 4, Messages: []engine.Message{{Content: "the prompt, which nobody must see"}}}
		a := play(t, d, c, response{status: int(status), framing: wire.Framing(framing % 3), body: string(b),
			cause: wire.Cause(cause) % (wire.LocalFailure + 1), perSeg: 1})
		fits(t, a)
		IsToken(b)
	})
}

func fits(t *testing.T, a *engine.Answer) {
	t.Helper()
	n := len(a.Chunks.At)
	if len(a.Chunks.Bytes) != n || len(a.Chunks.Kind) != n || len(a.Chunks.Choice) != n || len(a.Chunks.Flags) != n {
		t.Fatalf("lists of different length: %+v", a.Chunks)
	}
	if a.Chunks.Tokens != nil && len(a.Chunks.Tokens) != n {
		t.Fatalf("%d token counts for %d chunks", len(a.Chunks.Tokens), n)
	}
	sum := 0
	for i, size := range a.Chunks.Bytes {
		sum += int(size)
		if k := a.Chunks.Kind[i]; k < engine.Text || k > engine.Refusal {
			t.Fatalf("kind %d", k)
		}
	}
	end := 0
	for _, p := range a.Parts {
		if p.End < end {
			t.Fatalf("parts out of order: %v", a.Parts)
		}
		end = p.End
	}
	if sum != len(a.Content) || end != sum {
		t.Fatalf("chunks hold %d bytes, parts %d, content %d", sum, end, len(a.Content))
	}
	if len(a.ErrorText) > maxErrorText || !utf8.ValidString(a.ErrorText) || bytes.ContainsAny([]byte(a.ErrorText), "\r\n") {
		t.Fatalf("error text %q", a.ErrorText)
	}
	if (a.Failure == engine.Whole) != (a.ErrorClass == "") {
		t.Fatalf("failure %d, class %q", a.Failure, a.ErrorClass)
	}
	engine.ChunkTokens(a, nil)
	a.Text(0)
}
