package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/portrait"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/workload/corpus"
	"github.com/tokamak-bench/tokamak/workload/fit"
	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

type workloadFitCommand struct {
	Logs      []string       `arg:"" name:"logs" placeholder:"LOG" help:"Traces, gateway logs or ServeGen client windows; - reads standard input."`
	Out       string         `name:"out" required:"" placeholder:"FILE" help:"Traffic model to write, such as traffic.yaml."`
	Force     bool           `name:"force" help:"Overwrite it, the words and the page."`
	By        string         `name:"by" enum:",tenant,session,model,none" default:"" placeholder:"COLUMN" help:"What divides the log into clients: tenant, session, model or none (default: tenant, else model, where the log names several)."`
	KeepNames bool           `name:"keep-names" help:"Keep the names of clients; else they become client-1, …."`
	Window    *time.Duration `name:"window" placeholder:"DURATION" help:"Windows of the rate curves, 60s or longer (default: chosen by rule)."`
	Bursts    *time.Duration `name:"bursts" placeholder:"DURATION" help:"Also keep the log's own bursts in windows this short, such as 1s: samples repeat them at their moments."`
	Lengths   string         `name:"lengths" placeholder:"FILE" help:"Table of length quantiles beside ServeGen client windows."`
	Tokenizer string         `name:"tokenizer" placeholder:"NAME|FILE" help:"Count the texts of a log that does not give their lengths: builtin, tiktoken:ENCODING, estimate, or the file of a tokenizer."`
	LearnText bool           `name:"learn-text" help:"Also learn words from the log's prompts, into a file beside the model: what many users write alike may come out again."`
	Seed      uint64         `name:"seed" default:"1" help:"Seed of the samples that are held against the log."`
	HTML      string         `name:"html" placeholder:"FILE" help:"Also draw the model beside the log, as an HTML page in FILE."`
	logFlags
	output
}

// Run learns a model of the logs, writes it and prints how far it is from them.
func (c *workloadFitCommand) Run(ctx context.Context, std streams) error {
	for _, k := range [][2]string{{"--out", c.Out}, {"--html", c.HTML}} {
		if err := ofFile(k[0], k[1]); err != nil {
			return err
		}
	}
	words := ""
	if c.LearnText {
		words = strings.TrimSuffix(c.Out, filepath.Ext(c.Out)) + ".words"
	}
	if err := apart(append([]string{c.Lengths}, c.Logs...), c.Out, words, c.HTML); err != nil {
		return err
	}
	if err := unforced(c.Force, c.Out, words, c.HTML); err != nil {
		return err
	}
	window, err := asked("--window", c.Window)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	bursts, err := asked("--bursts", c.Bursts)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	o := fit.Options{By: fit.By(c.By), KeepNames: c.KeepNames, Turns: trace.Turns(c.logFlags.Turns), Window: window, Bursts: bursts, Seed: c.Seed, Progress: progressOf(std.err)}
	if c.Tokenizer != "" {
		var err error
		if o.Tokenizer, err = openTokenizer(c.Tokenizer); err != nil {
			return exit.With(exit.Usage, err)
		}
	}
	texts := 0
	var learner *corpus.Learner
	if c.LearnText {
		var err error
		if learner, err = corpus.NewLearner(corpus.LearnOptions{}); err != nil {
			return exit.With(exit.Usage, err)
		}
		o.Texts = func(owner, text string) {
			texts++
			learner.Add(owner, text)
		}
	}
	got, err := interruptible(ctx, func() (l learned, err error) {
		l.model, l.report, err = c.learn(ctx, o, std)
		return l, err
	})
	m, r := got.model, got.report
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return exit.With(exit.Usage, err)
	}
	if learner != nil && texts == 0 {
		return exit.With(exit.Usage, errors.New("--learn-text: expected prompts with texts, and the log has none"))
	}
	if learner != nil {
		err := c.learnt(learner, m, words)
		switch {
		case errors.Is(err, corpus.ErrNothing): // the rest of the model stands without
			m.Findings = append(m.Findings, "--learn-text: "+err.Error())
			r.Findings = append(r.Findings, "--learn-text: "+err.Error())
		case err != nil:
			return exit.With(exit.Usage, err)
		}
	}
	if c.HTML != "" { // before the model, which is there only where all went well
		page := portrait.Fit(r, portrait.Options{Name: strings.Join(c.Logs, ", ")})
		if err := replaceFile(c.HTML, page.HTML); err != nil {
			return err
		}
	}
	if err := replaceFile(c.Out, m.Write); err != nil {
		return err
	}
	tell(std.err, "written to %s", c.Out)
	if c.json() {
		return printJSON(std.out, r)
	}
	_, err = io.WriteString(std.out, report.Clean(r.Text()))
	return err
}

// learned is what a log teaches.
type learned struct {
	model  *traffic.Model
	report *fit.Report
}

// learn fits rows, or reads a model of clients where the log is one.
func (c *workloadFitCommand) learn(ctx context.Context, o fit.Options, std streams) (*traffic.Model, *fit.Report, error) {
	logs := fit.NewLogs(c.Logs, func(name string) (fit.Log, error) { return c.openLog(name, std) })
	defer func() { _ = logs.Close() }() // only read
	m, r, err := fit.Fit(ctx, logs, o)
	if !errors.Is(err, trace.ErrServeGen) {
		if err == nil && c.Lengths != "" {
			err = errors.New("--lengths: it goes with ServeGen client windows, and the log has requests")
		}
		return m, r, err
	}
	if len(c.Logs) > 1 {
		return nil, nil, errors.New("expected ServeGen client windows alone, without other logs")
	}
	if c.Bursts != nil {
		return nil, nil, errors.New("--bursts: it goes with a log of requests, and ServeGen client windows have no moments")
	}
	return fit.WindowFiles(c.Logs[0], c.Lengths, func(name string) (io.ReadCloser, error) { return opener(name, std)() })
}

// learnt writes the words beside the model.
func (c *workloadFitCommand) learnt(l *corpus.Learner, m *traffic.Model, words string) error {
	model, err := l.Model()
	if err != nil {
		return err
	}
	m.Text = filepath.Base(words)
	return replaceFile(words, model.Write)
}

// progressOf tells at most once a second how many rows were read.
func progressOf(w io.Writer) func(rows int64) {
	last := time.Now()
	return func(rows int64) {
		if now := time.Now(); now.Sub(last) >= time.Second {
			last = now
			tell(w, "read %d rows", rows)
		}
	}
}
