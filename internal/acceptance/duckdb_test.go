package acceptance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tokamak-bench/tokamak/measure"
)

// TestSummaryIsRecomputedInSQL runs docs/metrics.sql in DuckDB over the Parquet
// file of a real run with failures, and holds each figure of summary.json
// against it.
func TestSummaryIsRecomputedInSQL(t *testing.T) {
	python := os.Getenv("TOKAMAK_DUCKDB_PYTHON")
	if python == "" {
		python, _ = filepath.Abs("../../.cache/duckdb/bin/python")
	}
	if _, err := os.Stat(python); err != nil {
		t.Skipf("no DuckDB: scripts/test prepares it (%v)", err)
	}
	o := run(t, "--url", "sim://llama3-8b@a100-80g?fail=3/100", "--rate", "40", "--duration", "4s",
		"--output-tokens", "uniform:1..60", "--inconclusive-ok")
	if o.summary.Requests.Failed == 0 {
		t.Fatalf("no request failed: %+v", o.summary.Requests)
	}
	sql, err := filepath.Abs("../../docs/metrics.sql")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", `
import duckdb, json, math, sys
rows = duckdb.connect().execute(open(sys.argv[1]).read()).fetchall()
print(json.dumps([["inf" if isinstance(x, float) and math.isinf(x) else x for x in r] for r in rows]))`, sql)
	cmd.Dir = o.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var rows [][]json.RawMessage
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	compared := 0
	for _, r := range rows {
		var name string
		if err := json.Unmarshal(r[0], &name); err != nil {
			t.Fatal(err)
		}
		m := o.summary.Metrics[name]
		for i, stat := range []string{"p50", "p90", "p95", "p99", "p999", "max"} {
			var want measure.Value
			if err := json.Unmarshal(r[2+i], &want); err != nil {
				t.Fatal(err)
			}
			if got, _ := m.Stat(stat); !got.Equal(want) {
				t.Errorf("%s.%s: summary %v, SQL %v", name, stat, got, want)
			}
			compared++
		}
	}
	if compared < 100 {
		t.Errorf("only %d figures were compared", compared)
	}
}
