package trace

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const mappingExample = `# A log of our own gateway.
fields:
  at: request.started
  id: request.id
  tenant: caller.team
  model: request.model
  input_tokens: usage.prompt
  output_tokens: usage.completion
  cached_tokens: usage.cached
  first_token: timing.first
  duration: timing.total
  status: status
units:
  at: ms
  first_token: ms
  duration: ms
where:
  request.path: [/v1/chat/completions, /v1/completions]
`

func TestMapping(t *testing.T) {
	m, err := ParseMapping("map.yaml", []byte(mappingExample))
	if err != nil {
		t.Fatal(err)
	}
	data := `{"request":{"started":1767225600500,"id":"a","model":"m","path":"/v1/chat/completions"},"caller":{"team":"search"},"usage":{"prompt":100,"completion":20,"cached":64},"timing":{"first":120.5,"total":"900"},"status":200}
{"request":{"started":1767225600600,"path":"/health"},"status":200}
{"request":{"started":"2026-01-01T00:00:01Z","path":"/v1/completions"},"usage":"{\"prompt\": 7}","status":"503"}
{"request":{"started":true,"path":"/v1/completions"}}
{"request":{"path":"/v1/completions"}}
`
	rows, r := all(t, data, Options{Mapping: m, MaxBad: 1})
	want := []*Row{
		{Format: mappedName, At: 1767225600500e6, Timed: true, Absolute: true, ID: "a", Tenant: "search", Model: "m", Input: 100, Output: 20, Cached: 64,
			FirstToken: 120500 * time.Microsecond, Duration: 900 * time.Millisecond, Status: 200, Told: true},
		{Format: mappedName, At: 1767225601e9, Timed: true, Absolute: true, Input: 7, Status: 503, Told: true, Failed: true},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	n, bad := r.Skipped()
	if n != 2 || r.Ignored() != 1 || bad[0].Error() != "data:4: request.started is of the wrong type: expected a number or a date and time, found true or false" {
		t.Errorf("%d skipped, %d ignored: %v", n, r.Ignored(), bad)
	}
}

func TestMappingWithContent(t *testing.T) {
	m, err := ParseMapping("map.yaml", []byte("fields: {body: q.body, hash_ids: h, input_tokens: n}\nblock_tokens: 16\n"))
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := all(t, `{"q":{"body":{"prompt":"p","max_tokens":4}},"h":[1,2],"n":20}`, Options{Mapping: m})
	if len(rows) != 1 || string(rows[0].Body) != `{"prompt":"p","max_tokens":4}` || rows[0].Limit != 4 || rows[0].Output != 0 || rows[0].BlockTokens != 16 {
		t.Errorf("%+v", rows)
	}
}

func TestMappingErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "m.yaml: expected a mapping, found an empty file",
		"- a":                               "m.yaml:1:1: expected a mapping with the keys fields, units, where, block_tokens",
		"fields:\n  at: x\n  tokens: y":     `m.yaml:3:3: unknown word "tokens": expected one of at, id`,
		"fields:\n  at: x\nfilter: {}":      `m.yaml:3:1: unknown key "filter": expected fields, units, where or block_tokens`,
		"fields:\n  at: [x]":                "m.yaml:2:7: expected a dotted path such as usage.prompt_tokens",
		"fields:\n  at: x\nunits:\n  at: h": `m.yaml:4:7: expected s, ms, us or ns, found "h"`,
		"fields:\n  at: x\nunits: {id: s}":  "expected at, first_token or duration",
		"fields:\n  id: x":                  "expected fields to name at least one of at, input_tokens",
		"fields: {at: x, at: y}":            "m.yaml:1:",
		"fields: {at: x}\nwhere: {p: {}}":   "expected a value or a list of values",
		"fields: {hash_ids: x, at: y}":      "expected block_tokens, since fields names hash_ids",
		"fields: {prompt: x, body: y}":      "expected only one of prompt, messages, body",
		"a: [":                              "m.yaml:1:",
		"fields: {at: x}\nblock_tokens: 0":  "m.yaml:2:15: expected a number of tokens from 1 on",
	} {
		if _, err := ParseMapping("m.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want %q, got %v", text, want, err)
		}
	}
}

// Numbers are in seconds where the mapping does not say, each fact by its own
// unit.
func TestMappingUnits(t *testing.T) {
	const data = `{"at":2,"first":3,"total":4}`
	for units, want := range map[string][3]int64{
		"":                              {2e9, 3e9, 4e9},
		"units: {at: ms}":               {2e6, 3e9, 4e9},
		"units: {first_token: us}":      {2e9, 3e3, 4e9},
		"units: {duration: ns}":         {2e9, 3e9, 4},
		"units: {at: us, duration: ms}": {2e3, 3e9, 4e6},
	} {
		m, err := ParseMapping("m.yaml", []byte("fields: {at: at, first_token: first, duration: total}\n"+units))
		if err != nil {
			t.Fatal(err)
		}
		rows, _ := all(t, data, Options{Mapping: m})
		if r := rows[0]; [3]int64{r.At, int64(r.FirstToken), int64(r.Duration)} != want {
			t.Errorf("%s: %s", units, dump(rows))
		}
	}
}
