package record

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// duckDB returns a Python that has DuckDB, which scripts/test prepares.
func duckDB(t *testing.T) string {
	t.Helper()
	python := os.Getenv("TOKAMAK_DUCKDB_PYTHON")
	if python == "" {
		python, _ = filepath.Abs("../.cache/duckdb/bin/python")
	}
	if _, err := os.Stat(python); err != nil {
		t.Skipf("no DuckDB: scripts/test prepares it (%v)", err)
	}
	return python
}

// query runs SQL in DuckDB inside dir and returns its rows.
func query(t *testing.T, python, dir, sql string) [][]any {
	t.Helper()
	cmd := exec.Command(python, "-c", `
import duckdb, json, sys
print(json.dumps(duckdb.sql(sys.argv[1]).fetchall(), default=str))`, sql)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var rows [][]any
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return rows
}

func TestDuckDBReadsTheParquetFiles(t *testing.T) {
	python := duckDB(t)
	w := create(t, Options{SaveOutputs: true})
	chunks := 0
	for i := range int64(300) {
		a := sampleAttempt(i, 1+int(i%7))
		a.Output = []byte("text\xff")
		if i%3 == 0 {
			a.Chunks, a.FirstToken, a.Outcome = Chunks{}, Int{}, TransportError
			a.ErrorText, a.Violations = "bad \xff bytes\x00", []string{"no_finish_reason", "bad_utf8"}
		}
		chunks += a.Chunks.Len()
		if err := w.Ended(a); err != nil {
			t.Fatal(err)
		}
		if err := w.Sample(Sample{At: i, Probe: "self", Name: "rss", Labels: Labels("a", "b"), Unit: "bytes", Value: float64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	describe := func(file string, columns []Column) {
		var want [][]any
		for _, c := range columns {
			want = append(want, []any{c.Name, c.Type})
		}
		got := query(t, python, w.Dir(), "select column_name, column_type from (describe select * from '"+file+"')")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
	describe(RequestsTable, RequestColumns())
	describe(SamplesTable, SampleColumns())
	describe(OutputsTable, OutputColumns())
	got := query(t, python, w.Dir(), `select count(*), count(first_token), sum(len(chunk_at)), sum(len(violations)),
		count(user), max(chunk_at[1]-first_token), min(error_text), count(chunk_tokens) from 'requests.parquet'`)
	want := [][]any{{300., 200., float64(chunks), 200., 0., 0., "bad \uFFFD bytes\x00", 200.}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
