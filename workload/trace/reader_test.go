package trace

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// content opens a text.
func content(s string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }
}

// all reads every row of a text.
func all(t testing.TB, s string, o Options) ([]*Row, *Reader) {
	t.Helper()
	r, err := Open("data", content(s), o)
	if err != nil {
		t.Fatal(err)
	}
	return rest(t, r), r
}

func rest(t testing.TB, r *Reader) []*Row {
	t.Helper()
	var list []*Row
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, row.Clone())
	}
}

// public returns a file of the public traces, or skips.
func public(t testing.TB, name string) func() (io.ReadCloser, error) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "traces", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the trace is not here: %v", err)
	}
	return func() (io.ReadCloser, error) { return os.Open(path) }
}

func TestPublicTraces(t *testing.T) {
	for _, c := range []struct {
		file, format  string
		rows          int
		input, output int64
		first         int64 // ns
	}{
		{"azure2023_conv.csv", "azure", 19366, 22361870, 4088665, 1700158546680590000},
		{"azure2023_code.csv", "azure", 8819, 18059974, 245896, 1700158623979960000},
		{"mooncake_fast25_conversation.jsonl", "mooncake", 12031, 144793823, 4122048, 0},
		{"etalon_bwb_lengths_5000.csv", "etalon", 5000, 0, 0, 0},
		{"higress_ai_access_example.log", "higress", 4, 1000, 590, 1769938215000000000},
		{"llmservingsim_vllm_bench/RTX4090_Llama-3.1-8B__requests.jsonl", "llmservingsim", 300, 0, 0, 1787267980082740300},
	} {
		t.Run(c.file, func(t *testing.T) {
			r, err := Open(c.file, public(t, c.file), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			list := rest(t, r)
			input, output := int64(0), int64(0)
			for _, row := range list {
				input += row.Input
				output += row.Output
			}
			n, _ := r.Skipped()
			if r.Format() != c.format || n != 0 || len(list) != c.rows || list[0].At != c.first || c.input > 0 && (input != c.input || output != c.output) {
				t.Errorf("%s: %d rows, %d skipped, %d in, %d out, from %d", r.Format(), len(list), n, input, output, list[0].At)
			}
		})
	}
}

func TestServeGenIsAModel(t *testing.T) {
	for _, name := range []string{"servegen_deepseek-r1_client_windows.csv", "servegen_deepseek-r1_length_quantiles.csv.gz"} {
		if _, err := Open(name, public(t, name), Options{}); !errors.Is(err, ErrServeGen) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open("chunk-0-trace.csv", content("0,22.46,173.81,Weibull,0.0575,0.000573\n"), Options{}); !errors.Is(err, ErrServeGen) {
		t.Error(err)
	}
}
