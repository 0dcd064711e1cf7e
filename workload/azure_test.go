package workload

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/load"
)

// publicTrace returns the path of a public trace, or skips.
func publicTrace(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "traces", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the trace is not here: %v", err)
	}
	return path
}

// The Azure 2023 traces replayed at ten times their speed: every row, its
// lengths as they stand, its moment to the stamps' 100 ns.
func TestAzureTraces(t *testing.T) {
	for name, rows := range map[string]int{"azure2023_conv.csv": 19366, "azure2023_code.csv": 8819} {
		path := publicTrace(t, name)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := csv.NewReader(f).ReadAll()
		_ = f.Close()
		if err != nil || len(want) != rows+1 {
			t.Fatalf("%v, %d rows", err, len(want))
		}
		want = want[1:]
		d := OpenDataset(path, nil)
		at, err := Schedule(d, 0, 1)
		if err != nil || len(at) != rows {
			t.Fatalf("%v, %d moments", err, len(at))
		}
		source, err := load.New(load.Plan{Schedule: at, Speed: 10})
		if err != nil {
			t.Fatal(err)
		}
		zero, _ := time.Parse(time.DateTime, want[0][0])
		list, work := firsts(t, Config{Dataset: d})
		if n, first := work.(Skipper).Skipped(); len(list) != rows || n != 0 {
			t.Fatalf("%d requests, %d skipped: %v", len(list), n, first)
		}
		for i, r := range list {
			in, _ := strconv.ParseInt(want[i][1], 10, 64)
			out, _ := strconv.ParseInt(want[i][2], 10, 64)
			if r.InputTokens != in || promptTokens(r) != in || r.OutputTokens != out {
				t.Fatalf("row %d: %+v, want %v", i, r, want[i])
			}
			civil, _ := time.Parse(time.DateTime, want[i][0])
			due, _ := source.Peek()
			source.Pop()
			if offset := float64(civil.Sub(zero)) / 10; math.Abs(float64(due.At)-offset) > 1 || due.Index != int64(i) {
				t.Fatalf("row %d is due at %v, want %v", i, due, offset)
			}
		}
		if _, state := source.Peek(); state != load.Finished {
			t.Error("more moments than rows")
		}
	}
}

// The Mooncake trace with an unlimited cache of whole blocks: 36.6 % of its
// blocks were sent before.
func TestMooncakeReuse(t *testing.T) {
	list, _ := firsts(t, Config{Dataset: OpenDataset(publicTrace(t, "mooncake_fast25_conversation.jsonl"), nil)})
	input, shared := 0.0, 0.0
	for _, r := range list {
		input += float64(r.InputTokens)
		shared += float64(r.SharedTokens)
	}
	if len(list) != 12031 || math.Abs(shared/input-0.374) > 0.005 {
		t.Errorf("%d rows, %.1f %% shared, want 37.4", len(list), 100*shared/input)
	}
}
