package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/record"
)

// What is wrong in a JSON file is named with its file, line and column, and
// what was expected.
func TestDecodeNamesThePlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "run.json:1:1: expected a JSON object, there is nothing",
		"{\n  \"seed\": \"x\"\n}":      "run.json:2:11: seed: expected a whole number of 0 or more, got string",
		"{\"é\": 1,\n \"name\": 12.5}": "run.json:2:10: name: expected a text, got number",
		"{\n  \"seed\": -1}":           "run.json:2:11: seed: expected a whole number of 0 or more, got number -1",
		"{\"client\": {\"cpus\": []}}": "run.json:1:21: client.cpus: expected a whole number, got array",
		"{\n \"seed\": 1,\n \"na":      "run.json:3:5: expected more JSON, the file ends in the middle",
		"{\n \"seed\" 1}":              "run.json:2:9: expected JSON: invalid character '1' after object key",
		"[]":                           "run.json:1:1: the file: expected an object, got array",
	} {
		var m record.Manifest
		if err := record.Decode("run.json", []byte(text), &m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	var m record.Manifest
	if err := record.Decode("run.json", []byte(`{"seed": 3}`), &m); err != nil || m.Seed != 3 {
		t.Errorf("%v, seed %d", err, m.Seed)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"seed": "x"}`))
	f.Add([]byte("\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m record.Manifest
		if err := record.Decode("run.json", data, &m); err != nil && !strings.HasPrefix(err.Error(), "run.json") {
			t.Error(err)
		}
	})
}

// A bad line of events.jsonl is named with its number and column.
func TestABadEventIsNamed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{record.ManifestFile: `{"schema": "` + record.ManifestSchema + `"}`,
		record.EventsFile: "{\"at\": 1, \"kind\": \"load\"}\n{\"at\": \"x\"}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got error
	for _, err := range run.Events() {
		got = err
	}
	if want := record.EventsFile + ":2:8: at: expected a whole number, got string"; got == nil || !strings.Contains(got.Error(), want) {
		t.Errorf("%v, want %s", got, want)
	}
}
