package measure_test

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/stat"
)

// TestDuckDBAgreesToTheLastDigit recomputes every percentile from the Parquet
// file with docs/metrics.sql.
func TestDuckDBAgreesToTheLastDigit(t *testing.T) {
	python := os.Getenv("TOKAMAK_DUCKDB_PYTHON")
	if python == "" {
		python, _ = filepath.Abs("../.cache/duckdb/bin/python")
	}
	if _, err := os.Stat(python); err != nil {
		t.Skipf("no DuckDB: scripts/test prepares it (%v)", err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	w, err := record.Create(dir, &record.Manifest{}, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sums := measure.New(measure.Options{})
	for _, a := range motley(2000) {
		sums.Add(a)
		if err := w.Ended(a); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for name, m := range sums.Result().Metrics {
		if !m.Rate && m.Count > 0 {
			want[name] = []string{strconv.Itoa(m.Count), m.P50.String(), m.P90.String(), m.P95.String(), m.P99.String(), m.P999.String(), m.Max.String()}
		}
	}
	if len(want) < 25 {
		t.Fatalf("only %d metrics have values", len(want))
	}
	if d := cmp.Diff(want, recomputed(t, python, dir)); d != "" {
		t.Error(d)
	}
}

func recomputed(t *testing.T, python, dir string) map[string][]string {
	t.Helper()
	sql, err := filepath.Abs("../docs/metrics.sql")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", `
import duckdb, json, sys
print(json.dumps(duckdb.connect().execute(open(sys.argv[1]).read()).fetchall()))`, sql)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var rows [][]any
	if err := json.Unmarshal([]byte(infinities.Replace(string(out))), &rows); err != nil {
		t.Fatalf("%v: %.500s", err, out)
	}
	got := map[string][]string{}
	for _, r := range rows {
		var figures []string
		for _, x := range r[1:] {
			f, ok := x.(float64)
			if !ok {
				f = math.Inf(1)
			}
			figures = append(figures, measure.Some(f).String())
		}
		got[r[0].(string)] = figures
	}
	return got
}

// infinities turns what Python writes into JSON.
var infinities = strings.NewReplacer("-Infinity", "null", "Infinity", "null")

// motley makes attempts of every sort: retried, failed, cut, with several
// choices, several tokens a chunk or none, unknown tokens, hidden reasoning,
// fresh connections, waits for a slot.
func motley(n int64) []*record.Attempt {
	var out []*record.Attempt
	for id := range n {
		r := stat.Random(1, "motley", uint64(id))
		attempts := int64(1)
		if id%11 == 0 {
			attempts = 3
		}
		intended := id*7e6 + r.Int64N(5e6)
		for k := int64(1); k <= attempts; k++ {
			a := &record.Attempt{}
			a.RequestID, a.Attempt, a.Outcome = id, k, record.OK
			if k < attempts {
				a.Outcome, a.ErrorClass = record.Rejected, "http_429"
			} else if outcome := []record.Outcome{record.Timeout, record.Cut, record.Unsent, record.Cancelled}; id%13 == 0 {
				a.Outcome = outcome[id/13%4]
			}
			a.Intended = record.Some(intended)
			if a.Outcome != record.Unsent {
				send(a, intended+(k-1)*500e6, r.Int64N)
			}
			out = append(out, a)
		}
	}
	return out
}

func send(a *record.Attempt, at int64, random func(int64) int64) {
	a.ConnReused = a.RequestID%5 != 0
	if !a.ConnReused {
		a.ConnStart, a.ConnReady = record.Some(at+random(4e6)-2e6), record.Some(at+3e6)
	}
	if a.RequestID%7 == 0 {
		a.Held = record.Some(random(3e6))
	}
	a.WriteStart = record.Some(at + 3e6 + random(1e5))
	a.Sent = record.Some(at + 3e6 + 1e5 + random(1e5))
	a.StampSource, a.SentSource = record.SourceKernel, record.SourceKernel
	a.Ended = record.Some(at + 50e6)
	if a.Outcome != record.OK {
		return
	}
	answer(a, at+20e6, random)
}

func answer(a *record.Attempt, at int64, random func(int64) int64) {
	c := &a.Chunks
	var tokens int64
	for i := range random(40) {
		if random(6) > 0 || i == 0 {
			at += random(30e6) + 1
		}
		n := int32(max(0, random(5)-1))
		tokens += int64(n)
		c.At, c.Tokens, c.Bytes = append(c.At, at), append(c.Tokens, n), append(c.Bytes, 4*n)
		c.Choice = append(c.Choice, int32(random(1+a.RequestID%3)))
		kind := record.TextChunk
		if a.RequestID%4 == 0 && i < 5 {
			kind = record.ReasoningChunk
		}
		c.Kind, c.Flags = append(c.Kind, kind), append(c.Flags, 0)
		if kind == record.TextChunk && !a.FirstAnswer.Valid() {
			a.FirstAnswer = record.Some(at)
		}
	}
	if k := c.Len(); k > 0 {
		a.FirstByte, a.FirstToken, a.LastToken = record.Some(c.At[0]), record.Some(c.At[0]), record.Some(c.At[k-1])
		a.Ended = a.LastToken
	}
	if a.RequestID%6 == 0 {
		c.Tokens = nil
	}
	if a.RequestID%9 != 0 {
		a.OutputUsage, a.ReasoningUsage = record.Some(tokens+random(2)), record.Some(tokens/3)
	}
	a.OutputCounted, a.PromptUsage = record.Some(tokens), record.Some(200+random(9))
	a.PromptCounted = record.Some(int64(200))
}
