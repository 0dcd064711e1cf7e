package trace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A byte order mark is passed over, plain and packed, in front of JSON and of a
// table.
func TestByteOrderMark(t *testing.T) {
	const mark = "\xef\xbb\xbf"
	for _, text := range []string{`{"prompt":"a"}` + "\n" + `{"prompt":"b"}`, `[{"prompt":"a"},{"prompt":"b"}]`, "input_tokens,output_tokens\n5,6\n7,8\n"} {
		want, _ := all(t, text, Options{})
		for _, c := range []string{mark + text, string(packed(t, "gzip", mark+text)), string(packed(t, "zstd", mark+text))} {
			if got, _ := all(t, c, Options{}); len(got) != 2 || cmp.Diff(want, got) != "" {
				t.Errorf("%q: %s", text, cmp.Diff(want, got))
			}
		}
	}
}

// What breaks off within the head of a packed file says so too.
func TestPackedHeadCut(t *testing.T) {
	for text, want := range map[string]string{
		string(packed(t, "gzip", "x")[:5]): "data: gzip: the packed content breaks off (unexpected EOF): copy the file again",
		string(packed(t, "zstd", "x")[:5]): "data:1: zstd: the packed content breaks off (unexpected EOF): copy the file again",
		"\x1f\x8b":                         "data: gzip: the packed content breaks off (unexpected EOF)",
	} {
		if _, err := Open("data", content(text), Options{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
