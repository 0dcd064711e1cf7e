// Command dialects holds the dialects against what the tools really printed:
// bench/rivals ran each of them on a server that plays one known timeline, and
// the same timeline, written out in chat.txt and completions.txt, goes through
// each tool's dialect.
//
//	go run ./bench rivals -trials bundled -clients vllm,sglang,guidellm,aiperf,inference-perf,evalscope -out DIR
//	go run ./bench/dialects DIR
//
// It prints a Markdown table, which docs/dialects.md has.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/dialect"
	"github.com/tokamak-bench/tokamak/measure/dialect/timeline"
)

//go:embed chat.txt
var chat []byte

//go:embed completions.txt
var completions []byte

// outcome is what bench/rivals keeps of one client in one trial.
type outcome struct {
	Client, Trial, Error string
	Said                 map[string]*float64
}

// row is a figure that bench/rivals reads from a tool, as the dialects name it.
type row struct{ said, metric string }

var rows = []row{{"OK", "requests.ok"}, {"Failed", "requests.failed"}, {"TTFTP50", "ttft.p50"}, {"TTFTP99", "ttft.p99"}, {"GapP50", "itl.p50"}, {"GapP99", "itl.p99"},
	{"MeanGapP50", "itl.p50"}, {"RequestRate", "request_rate"}, {"TokenRate", "output_rate"}}

// clients are the names in bench/rivals and those of the dialects.
var clients = [][2]string{{"vLLM bench (Rust)", "vllm-bench"}, {"SGLang (rust)", "sglang"}, {"SGLang (asyncio)", "sglang"}, {"GuideLLM", "guidellm"},
	{"AIPerf", "aiperf"}, {"inference-perf", "inference-perf"}, {"EvalScope", "evalscope"}}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: go run ./bench/dialects DIR")
	}
	said, err := outcomes(args[0])
	if err != nil {
		return err
	}
	fmt.Println("| tool | figure | it printed | its dialect | apart | tokamak's own |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, c := range clients {
		o, ok := said[c[0]]
		if !ok {
			continue
		}
		script := chat
		if c[1] == "inference-perf" {
			script = completions
		}
		if err := table(o, c[1], script); err != nil {
			return err
		}
	}
	return nil
}

func outcomes(dir string) (map[string]outcome, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	all := map[string]outcome{}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			return nil, err
		}
		var o outcome
		if err := json.Unmarshal(b, &o); err != nil {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
		if o.Trial == "bundled" && o.Error == "" {
			all[o.Client] = o
		}
	}
	return all, nil
}

func table(o outcome, name string, script []byte) error {
	run, err := timeline.Parse(bytes.NewReader(script))
	if err != nil {
		return err
	}
	trace, acc := dialect.New(dialect.Options{}), measure.New(measure.Options{})
	for i := range run.Attempts {
		trace.Add(&run.Attempts[i])
		acc.Add(&run.Attempts[i])
	}
	ours := acc.Result()
	d, _ := dialect.Find(name)
	told := map[string]dialect.Figure{}
	for _, f := range trace.Figures(&d) {
		told[f.Metric] = f
	}
	for _, r := range rows {
		if name == "aiperf" && (r.said == "GapP50" || r.said == "GapP99") {
			r.metric = strings.Replace(r.metric, "itl", "icl", 1) // its gaps are its ICL
		}
		if name == "guidellm" && strings.HasSuffix(r.metric, "_rate") {
			continue // bench/rivals reads its rates of successes, the dialect has those that its console prints, of all
		}
		v := o.Said[r.said]
		f, ok := told[r.metric]
		if v == nil || !ok || !f.Value.Valid() {
			continue
		}
		x := f.Value.Or(0)
		if f.Unit == "s" {
			x *= 1000
		}
		apart := "–"
		if x != 0 {
			apart = fmt.Sprintf("%+.1f%%", 100*(*v-x)/x)
		} else if math.Abs(*v) < 1 {
			apart = "+0.0%"
		}
		fmt.Printf("| %s | `%s` | %.4g | %.4g | %s | %.4g |\n", o.Client, r.metric, *v, x, apart, dialect.Ours(ours, r.metric).Or(math.NaN()))
	}
	return nil
}
