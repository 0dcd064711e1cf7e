package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/tokamak-bench/tokamak/record"
)

const docsIntro = `# Other tools' results

<!-- Made by go test ./interop -run TestDocuments -update: what is carried is what was found in rows made of the tools' own files. -->

` + "`tokamak import FILE`" + ` reads them, ` + "`tokamak export RUN --as FORMAT`" + ` writes them. Two rules hold for both.

- **Nothing is made up.** What a file does not tell is null in the rows. Where a moment that everything rests on is missing, what stands
  for it is said: in ` + "`run.json`" + ` under ` + "`imported`" + `, in the summary as a note, and below. A file without data of single requests
  becomes no run: its figures are printed and kept (` + "`imported.json`" + `) under the names that the tool gave them.
- **A name means what its tool means by it.** Figures of an export are recomputed from the rows by that tool's definitions
  ([dialects](dialects.md) has them); what has another meaning with us is left out, and ` + "`export`" + ` says so on standard error.

An imported run says ` + "`degraded`" + ` of every figure, since nothing tells how far the other tool's client shaped it. A file with durations and
without moments (SGLang) makes a run without rates. What cannot be true (a token before its request, an end before the beginning) is
left out and said. Error texts are read for a status, a deadline or a broken connection; where they say neither the outcome is ` + "`failed`" + `.

Files are read twice: once to check them whole, so that a damaged one leaves nothing behind, and once to write. Neither reading holds a file in
memory, with one exception: the arrays of vLLM's and SGLang's results, eight bytes an element. Prompts and answers are skipped, not kept.
Python's ` + "`NaN` and `Infinity`" + ` are read as missing.

JUnit has a case for the run itself and one for each objective. ` + "`fail`" + ` is a failure, ` + "`invalid`" + ` an error (it says nothing about the target),
` + "`inconclusive` and `unmeasured`" + ` are failures too, or skipped where the run was told ` + "`--inconclusive-ok`" + `: some case is red if and only if the exit code is not 0.
`

// made are columns that every import fills, whether the file tells them or not.
var made = []string{"request_id", "attempt", "turn", "stage", "request_bytes", "response_bytes", "chunk_choice", "chunk_flags", "violations", "rate_limit", "target", "conn_reused"}

// told returns the columns of a run that have a value somewhere.
func told(t *testing.T, dir string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, record.RequestsTable))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	p, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, g := range p.RowGroups() {
		chunks := g.ColumnChunks()
		for i, path := range p.Schema().Columns() {
			if !slices.Contains(out, path[0]) && !slices.Contains(made, path[0]) && holds(t, chunks[i]) {
				out = append(out, path[0])
			}
		}
	}
	return out
}

// holds tells whether a column has a value that is neither null nor, of a
// list, one that stands for unknown.
func holds(t *testing.T, c parquet.ColumnChunk) bool {
	t.Helper()
	pages := c.Pages()
	defer func() { _ = pages.Close() }()
	for {
		page, err := pages.ReadPage()
		if err != nil {
			return false
		}
		values := make([]parquet.Value, page.NumValues())
		n, _ := page.Values().ReadValues(values)
		for _, v := range values[:n] {
			if !v.IsNull() && !(v.Kind() == parquet.Int32 && v.Int32() == 0 && v.RepetitionLevel()+v.DefinitionLevel() > 0) {
				return true
			}
		}
	}
}

// TestDocuments: docs/interop.md is what imports and exports do.
func TestDocuments(t *testing.T) {
	var b strings.Builder
	b.WriteString(docsIntro)
	b.WriteString("\n## Read\n")
	for _, f := range formats() {
		file, ok := samples[f.name]
		if !ok {
			t.Fatalf("no sample of %s", f.name)
		}
		dir := filepath.Join(t.TempDir(), "run")
		s, sum, err := Import(filepath.Join("testdata", file), Options{Out: dir})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n### `%s`\n\n%s.", f.name, f.holds)
		if s.Version != "" {
			fmt.Fprintf(&b, " Tried on a result of %s %s.", s.Tool, s.Version)
		}
		if sum == nil {
			fmt.Fprintf(&b, " No rows.\n")
			continue
		}
		fmt.Fprintf(&b, "\n\nCarried: `%s`.\n\nNot told:\n\n", strings.Join(told(t, dir), "`, `"))
		for _, l := range s.Lost {
			fmt.Fprintf(&b, "- %s\n", l)
		}
	}
	b.WriteString("\n## Written\n")
	dir := filepath.Join(t.TempDir(), "run")
	write(t, dir, "ttft.p50<1s, error_rate<1%", three())
	for _, e := range exporters() {
		var out strings.Builder
		left, err := Export(&out, dir, e.name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n### `%s`\n\n%s.", e.name, e.holds)
		if r, err := openRun(dir, e.dialect); err == nil && e.dialect != "" {
			fmt.Fprintf(&b, " Figures by the definitions of %s %s.", r.dialect.Tool, r.dialect.Version)
		}
		b.WriteString("\n")
		if back := filepath.Join(t.TempDir(), "back"); e.name == "vllm" || e.name == "aiperf" {
			file := back + ".json"
			if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := Import(file, Options{Out: back}); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "\nThere and back the same, to the nanosecond: `%s`.\n", strings.Join(told(t, back), "`, `"))
		}
		if len(left) > 0 {
			b.WriteString("\nLeft out:\n\n")
		}
		for _, l := range left {
			fmt.Fprintf(&b, "- %s\n", l)
		}
	}
	const path = "../docs/interop.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("docs/interop.md: %s", diff)
	}
}
