package trace

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A few lines of text in front of JSON lines are bad lines, however slowly the
// content comes; in front of anything else they are an error, as before.
func TestBanner(t *testing.T) {
	const rows = `{"prompt":"a"}` + "\n" + `{"prompt":"b"}` + "\n"
	m, err := ParseMapping("m.yaml", []byte("fields: {prompt: prompt}"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text    string
		o       Options
		rows    int
		skipped int64
		end     string
	}{
		"nohup":              {"nohup: ignoring input\n" + rows, Options{MaxBad: 1}, 2, 1, "EOF"},
		"brackets":           {"[INFO] starting\n[2026] up, on port 8000\n" + rows, Options{MaxBad: 1}, 2, 2, "EOF"},
		"empty line":         {"=== gateway ===\n\n" + rows, Options{MaxBad: 1}, 2, 1, "EOF"},
		"asked":              {"nohup: ignoring input\n" + rows, Options{MaxBad: 1, Format: "tokamak"}, 2, 1, "EOF"},
		"mapped":             {"nohup: ignoring input\n" + rows, Options{MaxBad: 1, Mapping: m}, 2, 1, "EOF"},
		"held against":       {"nohup: ignoring input\n" + rows, Options{}, 2, 1, "data: 1 of 3 lines cannot be used, more than 1%"},
		"five":               {strings.Repeat("words\n", 5) + rows, Options{MaxBad: 1}, 2, 5, "EOF"},
		"six":                {strings.Repeat("words\n", 6) + rows, Options{MaxBad: 1}, 0, 0, "data:1: expected JSON lines, a JSON array, or a CSV header"},
		"a table":            {"input_tokens\n5\n" + rows, Options{MaxBad: 1}, 1, 2, "EOF"},
		"an array":           {"[\n" + `{"prompt":"a"},` + "\n" + `{"prompt":"b"}]`, Options{}, 2, 0, "EOF"},
		"text alone":         {"some\nwords", Options{}, 0, 0, "data:1: expected JSON lines"},
		"over several lines": {"words\n{\n" + `"prompt":"a"` + "\n}\n", Options{}, 0, 0, "data:1: expected JSON lines"},
	} {
		r, err := Open("data", func() (io.ReadCloser, error) {
			return io.NopCloser(iotest.OneByteReader(strings.NewReader(c.text))), nil
		}, c.o)
		n := 0
		for err == nil {
			if _, err = r.Next(); err == nil {
				n++
			}
		}
		skipped := int64(0)
		if r != nil {
			skipped, _ = r.Skipped()
		}
		if n != c.rows || skipped != c.skipped || errors.Is(err, io.EOF) != (c.end == "EOF") || !strings.HasPrefix(err.Error(), c.end) {
			t.Errorf("%s: %d rows, %d skipped, %v", name, n, skipped, err)
		}
	}
}
