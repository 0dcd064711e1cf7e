package openai

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

// TestTemplateMatches: the usual chunks of each server are read by the template
// from the second on.
func TestTemplateMatches(t *testing.T) {
	for name, chunk := range usualChunks {
		dec := newDriver(t, APIChat, nil).Decoder(hi()).(*decoder)
		if !dec.chunk([]byte(chunk), wire.Event{}) {
			t.Fatal("no JSON")
		}
		if got, want := dec.match([]byte(chunk), wire.Event{}), name != "usage"; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestTemplateChangesNothing reads random streams with and without it.
func TestTemplateChangesNothing(t *testing.T) {
	d := newDriver(t, APIChat, nil)
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{"a", "b", `"`, `\`, "\n", "", `a"b`, `","x":"`, "€", `\ud83d`, `\ude00`}), rapid.String()), 1, 20).Draw(t, "texts")
		var events []string
		for _, s := range texts {
			raw, _ := json.Marshal(s)
			if rapid.Bool().Draw(t, "raw") {
				raw = []byte(`"` + s + `"`)
			}
			form := rapid.SampledFrom([]string{
				`{"choices":[{"index":0,"delta":{"content":%s}}]}`,
				`{"choices":[{"index":0,"delta":{"content":%s},"finish_reason":"stop"}]}`,
				`{"choices":[{"index":0,"delta":{"content":%s}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
				`{"choices":[{"index":1,"delta":{"reasoning":%s}}]}`,
				`{"choices":[{"index":0,"delta":{"content":%[1]s,"reasoning":%[1]s}}]}`,
				`{"error":{"message":%s}}`,
			}).Draw(t, "form")
			events = append(events, fmt.Sprintf(form, raw))
		}
		decode := func(forget bool) *engine.Answer {
			dec := d.Decoder(hi()).(*decoder)
			for i, e := range events {
				if forget {
					dec.template = template{}
				}
				if !dec.chunk([]byte(e), wire.Event{At: int64(i)}) {
					dec.violation(badJSON)
				}
			}
			var x wire.Exchange
			x.Reset(nil, nil)
			return dec.End(&x)
		}
		if diff := cmp.Diff(decode(true), decode(false)); diff != "" {
			t.Fatalf("%q: without (-) and with (+) the template:\n%s", events, diff)
		}
	})
}
