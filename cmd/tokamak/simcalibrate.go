package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/goccy/go-yaml"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/sim/accuracy"
	"github.com/tokamak-bench/tokamak/sim/calibrate"
)

type calibrateCommand struct {
	Measured    string  `arg:"" name:"run-or-table" help:"Run directory, or a CSV table with the columns isl, osl, concurrency, tpot_ms, and where known ttft_ms, tp, dtype."`
	GPU         string  `name:"gpu" required:"" placeholder:"NAME" help:"Accelerator whose peaks count: of the catalogue, or a YAML file."`
	Model       string  `name:"model" required:"" placeholder:"NAME" help:"Model that was measured: of the catalogue, or a config.json."`
	Engine      *string `name:"engine" placeholder:"NAME" help:"Engine that was measured (default vllm)."`
	TP          *string `name:"tp" placeholder:"N" help:"Tensor parallelism."`
	DType       *string `name:"dtype" placeholder:"TYPE" help:"Precision of the weights."`
	KVDType     *string `name:"kv-dtype" placeholder:"TYPE" help:"Precision of the KV cache."`
	MaxSeqs     *string `name:"max-num-seqs" placeholder:"N" help:"Sequences in a step."`
	MaxTokens   *string `name:"max-num-batched-tokens" placeholder:"N" help:"Token budget of a step."`
	Blocks      *string `name:"num-gpu-blocks" placeholder:"N" help:"Blocks of the KV cache."`
	Accelerator string  `name:"accelerator" placeholder:"FILE" help:"Write the accelerator here (default: GPU-calibrated.yaml)."`
	output
}

func (c *calibrateCommand) options() (sim.Options, error) {
	o, err := sim.ParseTarget(sim.Scheme + c.Model + "@" + c.GPU)
	if err != nil {
		return o, err
	}
	values := url.Values{}
	for name, v := range map[string]*string{"engine": c.Engine, "tp": c.TP, "dtype": c.DType, "kv_dtype": c.KVDType,
		"max_num_seqs": c.MaxSeqs, "max_num_batched_tokens": c.MaxTokens, "num_gpu_blocks": c.Blocks} {
		if v != nil {
			values.Set(name, *v)
		}
	}
	return o, o.Set(values)
}

// Run fits, prints what came out and writes the accelerator.
func (c *calibrateCommand) Run(std streams) error {
	o, err := c.options()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	r, notes, err := c.fit(o)
	if err != nil {
		return exit.With(exit.Usage, fmt.Errorf("%s: %w", c.Measured, err))
	}
	a := r.Accelerator(&o, filepath.Base(filepath.Clean(c.Measured)))
	text, err := yaml.Marshal(a)
	if err != nil {
		return err
	}
	path := cmp.Or(c.Accelerator, a.Name+".yaml")
	if err := replaceFile(path, bytesOf(text)); err != nil {
		return err
	}
	for _, n := range notes {
		_, _ = fmt.Fprintln(std.err, "note:", n)
	}
	if c.json() {
		return printJSON(std.out, map[string]any{"accelerator": path, "fitted": fitted(r), "in_sample": score(r.InSample), "held_out": score(r.HeldOut)})
	}
	return c.print(std.out, r, path)
}

func (c *calibrateCommand) fit(o sim.Options) (*calibrate.Result, []string, error) {
	info, err := os.Stat(c.Measured)
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		requests, notes, err := measuredRequests(c.Measured)
		if err != nil {
			return nil, nil, err
		}
		r, err := calibrate.Run(o, requests)
		return r, notes, err
	}
	f, err := os.Open(c.Measured)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	rows, err := accuracy.ReadTable(f)
	if err != nil {
		return nil, nil, err
	}
	r, err := calibrate.Table(o, rows)
	return r, []string{"each row is taken as ten requests a client, all prompts different and of exactly the row's lengths"}, err
}

// measuredRequests are a run's answered requests.
func measuredRequests(dir string) ([]calibrate.Request, []string, error) {
	run, err := record.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	var list []calibrate.Request
	left, cached := 0, 0
	for a, err := range run.Attempts() {
		if err != nil {
			return nil, nil, err
		}
		q := calibrate.Request{Sent: a.Sent.Or(a.WriteStart.Or(-1)), First: a.FirstToken.Or(-1), Last: a.LastToken.Or(-1),
			Prompt: a.PromptUsage.Or(a.PromptCounted.Or(0)), Output: a.OutputUsage.Or(a.OutputCounted.Or(0))}
		if a.Outcome != record.OK || q.Sent < 0 || q.First < q.Sent || q.Last < q.First || q.Prompt < 1 || q.Output < 1 {
			left++
			continue
		}
		if a.CachedUsage.Or(0) > 0 {
			cached++
		}
		list = append(list, q)
	}
	var notes []string
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%d attempts without an answer, its moments or its token counts are left out: what they cost the others is not seen", left))
	}
	if cached > 0 {
		notes = append(notes, fmt.Sprintf("%d requests found a part of their prompt in the prefix cache, and are fitted as if they had not: use prompts that differ", cached))
	}
	if len(list) == 0 {
		return nil, nil, errors.New("no answered request with moments and token counts")
	}
	return list, notes, nil
}

// fitted are the fitted parameters by name.
func fitted(r *calibrate.Result) map[string]float64 {
	e, out := &r.Efficiency, map[string]float64{}
	for name, v := range map[string]float64{"matmul": e.Matmul, "weights": e.Weights, "kv": e.KV, "attention": e.Attention, "step_us": e.StepMicros,
		"sequence_us": e.SeqMicros, "api_us": e.APIMicros, "link_us": e.LinkMicros, "expert_us": e.ExpertMicros} {
		for _, n := range r.Names {
			if n == name {
				out[name] = v
			}
		}
	}
	return out
}

// score is a score as JSON: what was not measured is null.
func score(s calibrate.Score) map[string]any {
	number := func(v float64) any {
		if math.IsNaN(v) {
			return nil
		}
		return v
	}
	return map[string]any{"n": s.N, "tpot_mape_percent": number(s.TPOT), "tpot_median_percent": number(s.TPOTMedian), "ttft_median_percent": number(s.TTFT)}
}

func (c *calibrateCommand) print(w io.Writer, r *calibrate.Result, path string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	values := fitted(r)
	for _, n := range r.Names {
		_, _ = fmt.Fprintf(t, "%s\t%.4g\n", n, values[n])
	}
	percent := func(v float64) string {
		if math.IsNaN(v) {
			return "–"
		}
		return fmt.Sprintf("%.1f %%", v)
	}
	for _, s := range []struct {
		name string
		calibrate.Score
	}{{"fitted on", r.InSample}, {"held out", r.HeldOut}} {
		_, _ = fmt.Fprintf(t, "%s\t%d %s\tTPOT error %s, median %s; TTFT median %s\n", s.name, s.N, r.Unit, percent(s.TPOT), percent(s.TPOTMedian), percent(s.TTFT))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	model := c.Model
	if strings.ContainsAny(model, " ?") {
		model = "MODEL"
	}
	_, err := fmt.Fprintf(w, "written: %s, for %s%s@%s\n", path, sim.Scheme, model, path)
	return err
}
