package timeline

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestErrorsNamePlaces: what is wrong is named with its line and column.
func TestErrorsNamePlaces(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"hello", "1:1: expected load, slo, request or expect"},
		{"\nload 5s", "2:6: expected FROM..TO"},
		{"load 0s..ten", "1:10: expected a duration"},
		{"slo speed 5ms", "1:5: expected ttft"},
		{"request at", "1:9: expected NAME=VALUE"},
		{"request at=soon", "1:12: expected a duration"},
		{"request end=odd", "1:13: expected ok, error"},
		{"request colour=red", "1:9: expected at, send"},
		{"request times=0", "1:1: expected 1 to"},
		{"request\n  5ms", "2:3: expected TIME KIND"},
		{"request\n  5ms song", "2:7: expected text"},
		{"request\n  5ms text many", "2:12: expected a whole number"},
		{"request\n  5ms usage", "2:7: expected usage TOKENS"},
		{"expect vllm ttft.p50 is 5ms", "1:22: expected ="},
		{"expect vllm ttft.p50 = fast", "1:24: expected none or a number"},
		{"expect vllm", "1:1: expected expect DIALECT"},
	} {
		_, err := Parse(strings.NewReader(tt.text))
		var at *Error
		if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q: %v, expected %s", tt.text, err, tt.want)
		}
	}
}

// FuzzParse: no file makes the parser panic, hang or grow without bound.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("../testdata/*.txt")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, text string) {
		run, err := Parse(strings.NewReader(text))
		var at *Error
		if err != nil && !errors.As(err, &at) {
			t.Fatalf("an error without a place: %v", err)
		}
		if err == nil && len(run.Attempts) > maxRequests {
			t.Fatal("too many requests")
		}
	})
}
