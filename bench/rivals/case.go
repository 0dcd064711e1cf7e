package rivals

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// trial is a load on a script.
type trial struct {
	Name  string
	Plans func(dialect) []plan
	Task  task
	Busy  bool // a busy loop a processor beside the client
	Wide  bool // only for clients that bear many streams
}

const tokens = 128

// trials lists the loads; the first is what starting up costs.
func trials() []trial {
	return []trial{
		{Name: "one", Plans: steady(tokens), Task: task{Concurrency: 1, Requests: 1, Tokens: tokens}},
		{Name: "a", Plans: steady(tokens), Task: task{Concurrency: 32, Requests: 128, Tokens: tokens}},
		{Name: "b", Plans: steady(tokens), Task: task{Concurrency: 128, Requests: 512, Tokens: tokens}},
		{Name: "c", Plans: steady(tokens), Task: task{Rate: 40, Requests: 400, Tokens: tokens}},
		{Name: "d", Plans: steady(tokens), Task: task{Concurrency: 32, Requests: 128, Tokens: tokens}, Busy: true},
		{Name: "e", Plans: steady(tokens), Task: task{Rate: 40, Requests: 400, Tokens: tokens}, Busy: true},
		{Name: "w", Plans: steady(tokens), Task: task{Concurrency: 512, Requests: 2048, Tokens: tokens}, Wide: true},
		{Name: "faults", Plans: faulty, Task: task{Concurrency: 20, Requests: 200, Tokens: faultTokens}},
		{Name: "bundled", Plans: bundled, Task: task{Concurrency: 1, Requests: 10, Tokens: 200}},
	}
}

// outcome is what one client did in one trial.
type outcome struct {
	Client, Trial string
	Error         string `json:",omitempty"`
	Said          said
	CPUSeconds    float64
	PeakMB        float64
	FirstRequest  float64 // s from its start
	Events        int
	Requests      int
	TTFTP50       float64 // true, ms
	TTFTP99       float64
	GapP50        float64
	GapP99        float64
	Rate, CV      float64 // at which requests truly came
	TokenRate     float64
	LateP99       float64 // the server's own lateness, ms
}

// settings are where things are.
type settings struct {
	bin   string // the C programs
	out   string // results
	limit time.Duration
}

// run drives one client through one trial; a client that cannot be run is an
// outcome too.
func run(ctx context.Context, s settings, c client, t trial) outcome {
	o := outcome{Client: c.Name, Trial: t.Name}
	if err := o.drive(ctx, s, c, t); err != nil {
		o.Error = err.Error()
	}
	return o
}

func (o *outcome) drive(ctx context.Context, s settings, c client, t trial) error {
	dir, err := os.MkdirTemp("", "rival")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	srv, err := serve(s.bin, dir, t.Plans)
	if err != nil {
		return err
	}
	t.Task.URL = srv.url
	argv, err := c.Argv(dir, t.Task)
	if err != nil {
		return err
	}
	if t.Busy {
		defer busy()()
	}
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	used, ran := runTree(ctx, dir, c.Env, argv)
	truth, err := srv.stop()
	if err != nil {
		return err
	}
	o.CPUSeconds, o.PeakMB = used.CPU.Seconds(), used.PeakMB
	o.Events, o.Requests, o.LateP99 = truth.Events, len(truth.Requests), truth.LateP99
	if o.Events > 0 {
		o.FirstRequest = float64(truth.First-used.Started) / 1e9
		o.TTFTP50, o.TTFTP99 = rank(truth.TTFT, 0.5), rank(truth.TTFT, 0.99)
		o.GapP50, o.GapP99 = rank(truth.Gaps, 0.5), rank(truth.Gaps, 0.99)
		o.TokenRate = truth.tokenRate()
	}
	if o.Requests > 2 {
		o.Rate, o.CV = truth.pace()
	}
	said, err := c.Read(dir)
	if err != nil {
		if ran != nil {
			return ran
		}
		return err
	}
	o.Said = said // what it exits with is its verdict: not our concern
	return nil
}

// busy starts a loop for each processor and returns what ends them.
func busy() func() {
	var loops []*exec.Cmd
	for range processors() {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		if cmd.Start() == nil {
			loops = append(loops, cmd)
		}
	}
	return func() {
		for _, l := range loops {
			_ = l.Process.Kill()
			_ = l.Wait()
		}
	}
}

// keepOutcome writes an outcome to a file of its own.
func keepOutcome(dir string, o outcome) error {
	b, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s.%s.json", slug(o.Client), o.Trial)), b, 0o644)
}
