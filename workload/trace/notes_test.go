package trace

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// What a mapping names and no line has is said, and is an error where it is
// the moment, or a condition that leaves no row.
func TestMappingThatMatchesNothing(t *testing.T) {
	const data = `{"t":1,"n":5,"path":"/a"}` + "\n" + `{"t":2,"n":6,"path":"/b"}` + "\n" + `{"t":3,"n":7}` + "\n"
	for _, c := range []struct {
		mapping string
		notes   []string
		end     string
	}{
		{"fields: {at: t, input_tokens: n}", nil, "EOF"},
		{"fields: {at: t, input_tokens: n, tenant: who.team, model: m}", []string{"of 3 rows none has who.team, which m.yaml names for tenant", "of 3 rows none has m, which m.yaml names for model"}, "EOF"},
		{"fields: {at: t, input_tokens: n, output_tokens: path}\nwhere: {t: [3]}", []string{"of 1 row none has path, which m.yaml names for output_tokens"}, "EOF"},
		{"fields: {at: time, input_tokens: n}", []string{"of 3 rows none has time, which m.yaml names for at"}, "data: of 3 rows none has time, which m.yaml names for at: expected the path of the moment of arrival, or no at where there is none"},
		{"fields: {at: t}\nwhere: {paths: [/a], path: [/c]}", nil, "data has no rows: of 3 lines none is wanted: m.yaml: no line has paths, path has no value of those asked for"},
		{"fields: {at: t}\nwhere: {t: [3], path: [/a]}", nil, "data has no rows: of 3 lines none is wanted: m.yaml: no line meets all of where"},
		{"fields: {at: time}", nil, "data has no line that can be used; the first: data:1: has none of the fields that the mapping names for at"},
	} {
		m, err := ParseMapping("m.yaml", []byte(c.mapping))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Open("data", content(data), Options{Mapping: m})
		for err == nil {
			_, err = r.Next()
		}
		if diff := cmp.Diff(c.notes, r.Notes()); diff != "" || !strings.HasPrefix(err.Error(), c.end) {
			t.Errorf("%s: %v: %s", c.mapping, err, diff)
		}
	}
}

// Dates without a zone are taken as UTC, and that is said.
func TestZoneless(t *testing.T) {
	_, r := all(t, "timestamp,input_tokens\n2026-01-01 00:00:00,5\n2026-01-01T00:00:01Z,5\n2026-01-01,5\n2026-01-01T00:00:01+02:00,5\n1767225600,5\n2026-01-01 00:00:01 UTC,6\n", Options{})
	if diff := cmp.Diff([]string{"2 moments without a zone: taken as UTC"}, r.Notes()); diff != "" {
		t.Error(diff)
	}
	_, r = all(t, `{"t":"2026-01-01T00:00:00","request_time":1,"status":200,"time":"2026-01-01T00:00:00"}`, Options{})
	if diff := cmp.Diff([]string{"1 moment without a zone: taken as UTC"}, r.Notes()); diff != "" {
		t.Error(diff)
	}
}

// Place names where the last row came from.
func TestPlace(t *testing.T) {
	for text, want := range map[string]string{
		"\n{\"prompt\":\"a\"}\n\n{\"prompt\":\"b\"}\n": "data:4",
		`[{"prompt":"a"},{"prompt":"b"}]`:              "data: entry 2",
	} {
		r, err := Open("data", content(text), Options{})
		for range 2 {
			if err == nil {
				_, err = r.Next()
			}
		}
		if err != nil || r.Place() != want {
			t.Errorf("%q: %s, %v", text, r.Place(), err)
		}
	}
}

func packed(t testing.TB, kind, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	if kind == "zstd" {
		var err error
		if w, err = zstd.NewWriter(&b); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = io.WriteString(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What is packed and damaged says how, and where the reading ended.
func TestPackedDamaged(t *testing.T) {
	const line = `{"prompt":"p"}` + "\n"
	many := packed(t, "gzip", strings.Repeat(line, 100))
	join := func(parts ...[]byte) string { return string(bytes.Join(parts, nil)) }
	wrong := bytes.Clone(many)
	wrong[len(wrong)-5] ^= 1
	for name, c := range map[string]struct {
		text string
		rows int
		end  string
	}{
		"two members":  {join(many, many), 200, "EOF"},
		"padded":       {join(many, make([]byte, 512)), 100, "EOF"},
		"two, padded":  {join(many, many, make([]byte, 512)), 200, "EOF"},
		"two, garbage": {join(many, many, []byte("garbage")), 200, "data:201: gzip: other bytes stand behind the end of the packed content"},
		"zstd, window": {"\x28\xb5\x2f\xfd\x00\x90\x79\x00\x00" + line, 0, "data:1: zstd: window size exceeded"}, // of 256 MiB
		"padded, more": {join(many, make([]byte, 3), many), 200, "EOF"},
		"garbage":      {join(many, []byte("garbage")), 100, "data:101: gzip: other bytes stand behind the end of the packed content"},
		"long garbage": {join(many, bytes.Repeat([]byte("garbage"), 100)), 100, "data:101: gzip: other bytes stand behind the end"},
		"cut":          {join(many[:len(many)-9]), 100, "data:101: gzip: the packed content breaks off (unexpected EOF)"},
		"cut second":   {join(many, many[:8]), 100, "data:101: gzip: the packed content breaks off"},
		"checksum":     {join(wrong), 100, "data:101: gzip: gzip: invalid checksum"},
		"zstd, cut":    {join(packed(t, "zstd", strings.Repeat(line, 100))[:20]), 0, "data:1: zstd: the packed content breaks off (unexpected EOF)"},
	} {
		rows := 0
		r, err := Open("data", content(c.text), Options{})
		for err == nil {
			if _, err = r.Next(); err == nil {
				rows++
			}
		}
		if rows != c.rows || !strings.HasPrefix(err.Error(), c.end) {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
	}
}

// A last line that was cut in the midst of writing is a bad line with its
// number, and all lines before it are rows.
func TestTornLastLine(t *testing.T) {
	for _, path := range samples(t) {
		if strings.HasSuffix(path, ".json") || strings.HasSuffix(path, ".gor") || strings.HasSuffix(path, ".csv") {
			continue
		}
		text := strings.TrimSuffix(read(t, path), "\n")
		want, _ := all(t, text+"\n", Options{})
		lines := int64(strings.Count(text, "\n") + 1)
		for _, keep := range []int{1, 8, 20} {
			got, r := all(t, text+"\n"+text[strings.LastIndexByte(text, '\n')+1:][:keep], Options{MaxBad: 1})
			n, bad := r.Skipped()
			if n != 1 || bad[0].Line != lines+1 || cmp.Diff(want, got) != "" {
				t.Errorf("%s: %d bytes of a last line: %d skipped: %v", path, keep, n, bad)
			}
			if n == 1 && !errors.Is(bad[0], errTorn) {
				t.Errorf("%s: %v", path, bad[0])
			}
		}
	}
}
