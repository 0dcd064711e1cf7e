package trace

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

var update = flag.Bool("update", false, "write the golden files")

// samples are the files of testdata, each true to the form of a real source.
func samples(t testing.TB) []string {
	t.Helper()
	list, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(s string) bool {
		return strings.HasSuffix(s, ".golden") || strings.HasSuffix(s, "aiperf-dag.jsonl") || strings.Contains(s, "fuzz") || strings.Contains(s, "rapid") || strings.HasSuffix(s, ".yaml") || strings.HasPrefix(filepath.Base(s), "mapped")
	})
	return list
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// dump writes rows a line each, without what is empty.
func dump(rows []*Row) string {
	var b strings.Builder
	for _, r := range rows {
		var fields map[string]any
		raw, _ := json.Marshal(r)
		_ = json.Unmarshal(raw, &fields)
		delete(fields, "Format")
		for k, v := range fields {
			if v == nil || v == "" || v == 0.0 || v == false {
				delete(fields, k)
			}
		}
		fields["At"] = fmt.Sprint(r.At)
		if r.Body != nil {
			fields["Body"] = string(r.Body)
		}
		if len(r.Blocks) > 0 {
			fields["Blocks"] = fmt.Sprint(r.Blocks)
		}
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(fields)
	}
	return b.String()
}

// Each sample is recognised, and its rows are those written down.
func TestSamples(t *testing.T) {
	for _, path := range samples(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			rows, r := all(t, read(t, path), Options{})
			bad, first := r.Skipped()
			got := fmt.Sprintf("%s: %d rows, %d skipped, %d ignored\n%s", r.Format(), len(rows), bad, r.Ignored(), dump(rows))
			if bad > 0 {
				t.Error(first[0])
			}
			golden := path + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(read(t, golden), got); diff != "" {
				t.Error(diff)
			}
			for _, row := range rows {
				if row.Format != r.Format() {
					t.Errorf("a row is of %q", row.Format)
				}
			}
			// The same where the format is named.
			named, _ := all(t, read(t, path), Options{Format: r.Format()})
			if diff := cmp.Diff(rows, named); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every format that is read has a sample.
func TestEveryFormatHasASample(t *testing.T) {
	seen := map[string]bool{}
	for _, path := range samples(t) {
		_, r := all(t, read(t, path), Options{})
		seen[r.Format()] = true
	}
	for _, f := range Formats() {
		if !seen[f.Name] && f.Name != "servegen" {
			t.Errorf("%s has no sample", f.Name)
		}
	}
}

// What is packed is read as what is plain.
func TestSamplesPacked(t *testing.T) {
	for _, path := range samples(t) {
		plain, _ := all(t, read(t, path), Options{})
		for name, pack := range map[string]func(io.Writer) io.WriteCloser{
			"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
			"zstd": func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)); return z },
		} {
			var b bytes.Buffer
			w := pack(&b)
			_, _ = io.WriteString(w, read(t, path))
			_ = w.Close()
			packed, _ := all(t, b.String(), Options{})
			if diff := cmp.Diff(plain, packed); diff != "" {
				t.Errorf("%s, %s: %s", path, name, diff)
			}
			r, err := Open("cut", content(b.String()[:b.Len()-5]), Options{MaxBad: 1})
			for err == nil {
				_, err = r.Next()
			}
			if err == io.EOF {
				t.Errorf("%s: %s that is cut off is read as whole", path, name)
			}
			if r == nil {
				continue
			}
			if err := r.Close(); err != nil {
				t.Errorf("%s: %s: closing says again: %v", path, name, err)
			}
		}
	}
}

// A damaged line anywhere is counted with its number, and all rows are there.
func TestSamplesDamaged(t *testing.T) {
	for _, path := range samples(t) {
		if strings.HasSuffix(path, ".json") || strings.HasSuffix(path, ".gor") {
			continue
		}
		text := read(t, path)
		want, whole := all(t, text, Options{})
		lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
		first := 0
		if strings.HasSuffix(path, ".csv") {
			first = 1
		}
		for at := first; at <= len(lines); at++ {
			model := lines[min(at, len(lines)-1)]
			cut := strings.TrimSuffix(model, "\n")[:len(model)*2/3]
			if first == 1 {
				cut = "x,y"
			}
			damaged := slices.Insert(slices.Clone(lines), at, cut+"\n")
			if at == len(lines) {
				damaged[at-1] += "\n"
			}
			got, r := all(t, strings.Join(damaged, ""), Options{MaxBad: 1})
			n, bad := r.Skipped()
			if n != 1 || bad[0].Line != int64(at+1) || r.Ignored() != whole.Ignored() {
				t.Errorf("%s: damaged in line %d: %d skipped, %d ignored: %v", path, at+1, n, r.Ignored(), bad)
				continue
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: damaged in line %d: %s", path, at+1, diff)
			}
		}
	}
}

// The same of documents over several lines and of records, each damaged as it
// may be: what was cut off is counted, the entries behind it are all there.
func TestDocumentsDamaged(t *testing.T) {
	for path, damages := range map[string][][2]string{
		"sharegpt.json": {
			{"[\n", "[\n {\"id\": \"x\", \"conversations\": [{\"from\": \"human\", \"val\n"},
			{"]},\n {\"id\": \"two\"", "]},\n {\"id\": \"x\", \"conversations\": 7},\n {\"id\": \"two\""},
			{"]},\n {\"id\": \"two\"", "]},\n x,\n {\"id\": \"two\""},
			{"\n]\n", ",\n {\"id\": \"x\"}\n]\n"},
		},
		"weka.json": {
			{"}\n{\n", "}\n{\n \"id\": \"x\",\n \"requests\": [\n  {\"t\": 0, \"in\": 5,\n{\n"},
			{"    {\"t\": 9.25", "    {\"t\": \"a\", \"in\": 5},\n    {\"t\": 9.25"},
			{"}\n{\n", "}\n{\n \"id\": \"x\",\n \"requests\": [\n  {\"t\": 0, \"model\": \"cut o\n{\n"},
		},
		"aiperf-inputs.json": {
			{"  ]\n}\n", "  ]\n}\n{\n \"other\": {\"data\": []}\n}\n"},
			{"    {\n      \"session_id\": \"s2\"", "    {\"session_id\": \"x\"},\n    {\n      \"session_id\": \"s2\""},
			{"[{\"model\": \"m\", \"prompt\"", "[7, {\"model\": \"m\", \"prompt\""},
		},
		"otel.json": {
			{"    {\n      \"trace_id\": \"chain\",\n      \"span_id\": \"q2\"", "    {\"span_id\": \"x\", \"attributes\": {\"gen_ai.request.model\": \"m\"}},\n    {\n      \"trace_id\": \"chain\",\n      \"span_id\": \"q2\""},
		},
		"goreplay.gor": {
			{separator + "\n1 a3", separator + "\n1 a3 no record\n" + separator + "\n1 a3"},
			{separator + "\n1 b3", separator + "\n1 ffffffffffffffff 17\nPOST /v1/completions HTTP/1.1\r\nContent-Length: 90\r\n\r\n{\"prom\n" + separator + "\n1 b3"},
		},
	} {
		text := read(t, "testdata/"+path)
		want, whole := all(t, text, Options{})
		for i, d := range damages {
			damaged := strings.Replace(text, d[0], d[1], 1)
			if damaged == text {
				t.Fatalf("%s: damage %d changes nothing", path, i)
			}
			got, r := all(t, damaged, Options{MaxBad: 1})
			n, bad := r.Skipped()
			if n != 1 || r.Ignored() != whole.Ignored() || bad[0].Line < 1 {
				t.Errorf("%s: damage %d: %d skipped, %d ignored: %v", path, i, n, r.Ignored(), bad)
			}
			// A turn that is lost still was one.
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Row{}, "Turn")); diff != "" {
				t.Errorf("%s: damage %d: %s", path, i, diff)
			}
		}
	}
}
