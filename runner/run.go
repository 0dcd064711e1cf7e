package runner

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/calibration"
	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/workload"
)

// Options are what a run needs of the process around it.
type Options struct {
	Executable string    // this binary, which starts the simulated engine
	DryRun     bool      // nothing is started or asked: only Plan and First are called
	Version    string    // of tokamak
	Command    []string  // the command line, for the manifest
	Stdin      io.Reader // for a dataset named -
	// Calibrations says what this machine carries; without a path nothing is looked up.
	Calibrations calibration.Cache
	// Asking, where set, is told what check is about to ask.
	Asking func(what string)
	// Writing, where set, is told how many texts a model is about to write. wrote is
	// called for each that is there, from several goroutines, and end after the last.
	Writing func(texts int) (wrote, end func())
}

// Run is a scenario made ready: everything is built, nothing is sent yet but
// what finds out the model and whether the target is ready.
type Run struct {
	scenario *scenario.Scenario
	opt      Options
	id       string // prefix of request ids, name of the run directory
	dir      string

	clock     clock.Clock
	real      *clock.Real // nil in virtual time
	plan      load.Plan
	work      workload.Source
	dataset   *workload.Dataset // nil: synthetic
	salt      uint64
	counter   token.Tokenizer // nil: nothing is counted
	ownTokens bool            // counter is the model's own
	prompts   Prompts         // nil: whole prompts are not counted
	model     string
	texts     *Texts
	target    Target
	servers   []*HTTP // none in virtual time
	drivers   []engine.Driver
	transport []connected
	child     *Child
	facts     []record.TargetFacts
	auth      scenario.Header // empty value: none
	secrets   []string
	live      *Live
	lags      lags
}

// New makes a scenario ready to run. Errors carry their exit code.
func New(ctx context.Context, s *scenario.Scenario, o Options) (*Run, error) {
	r := &Run{scenario: s, opt: o, live: NewLive()}
	now := time.Now()
	r.name(now)
	if s.Target.Virtual {
		r.clock = clock.NewVirtual(now)
	} else {
		r.real = clock.NewReal()
		r.clock = r.real
	}
	if err := r.build(ctx); err != nil {
		r.Close()
		return nil, err
	}
	r.heed()
	return r, nil
}

// name chooses the run's id and directory: the start in UTC and the name.
func (r *Run) name(now time.Time) {
	name := r.scenario.Name
	if name == "" {
		name = "run"
	}
	id := now.UTC().Format("2006-01-02T15-04-05") + "-" + safeName(name)
	r.id = id
	switch {
	case r.scenario.Out.None:
	case r.scenario.Out.Dir != "":
		r.dir = r.scenario.Out.Dir
	default:
		r.dir = filepath.Join("runs", r.id)
	}
}

// rename gives the run the next name, where another one took its own.
func (r *Run) rename(id string, n int) {
	r.id = fmt.Sprintf("%s-%d", id, n)
	r.dir = filepath.Join("runs", r.id)
	for _, h := range r.servers {
		h.Run = r.id
	}
}

// safeName makes a name fit for a file and a header.
func safeName(s string) string {
	safe := strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_':
			return c
		}
		return '-'
	}, s)
	if safe = strings.Trim(safe, "-."); safe == "" {
		return "run" // a name in letters that a header cannot hold
	}
	return safe
}

func (r *Run) build(ctx context.Context) error {
	steps := []func(context.Context) error{r.credential, r.openDataset, r.buildLoad, r.buildWorkload, r.buildTarget}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// credential finds out what requests are allowed by.
func (r *Run) credential(ctx context.Context) error {
	a := &r.scenario.Target.Auth
	if r.scenario.Target.Sim() {
		return nil
	}
	if r.opt.DryRun && a.Command != "" { // it is not run
		r.auth = scenario.Header{Name: a.Header, Value: scenario.NewSecret("Bearer KEY")}
		return nil
	}
	var err error
	r.auth, err = a.Field(ctx)
	return err
}

func (r *Run) buildTarget(ctx context.Context) error {
	if r.scenario.Target.Virtual {
		return r.buildVirtual()
	}
	return r.buildServed(ctx)
}

// buildVirtual makes the simulated engine in virtual time the target.
func (r *Run) buildVirtual() error {
	name := r.scenario.Target.URLs[0].String()
	o, err := sim.ParseTarget(name)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	v, err := NewVirtual(o, r.clock.(*clock.Virtual))
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if err := r.askFaults(v); err != nil {
		return exit.With(exit.Usage, err)
	}
	r.unbacked(o)
	v.Name, v.Limits = name, r.scenario.Target.Timeouts
	v.Reasoning = r.scenario.Workload.Reasoning != nil
	r.target, r.model = v, o.Served
	r.facts = []record.TargetFacts{{Name: name, URL: name, Model: o.Served, Engine: o.Engine}}
	return nil
}

// unbacked tells the reader where no measurement stands behind a user's own
// accelerator or model.
func (r *Run) unbacked(o sim.Options) {
	if b := o.Backing(); b.Custom {
		r.scenario.Notices = append(r.scenario.Notices, b.Warnings...)
	}
}

// First returns the first request as it would be sent, secrets included; nil
// in virtual time, where there is none.
func (r *Run) First() (*wire.Request, error) {
	session, err := r.work.Session(0)
	if err != nil {
		return nil, err
	}
	spec, ok := session.Next(nil)
	if !ok || r.scenario.Target.Virtual {
		return nil, nil
	}
	c := &Call{Spec: spec, session: session}
	if err := r.target.Prepare(c); err != nil {
		return nil, err
	}
	return c.prepared.(*httpCall).exchange.Request, nil
}

// Snapshot returns live figures; it may be called from any goroutine.
func (r *Run) Snapshot() Snapshot { return r.live.Snapshot() }

// Close frees the target.
func (r *Run) Close() {
	for _, t := range r.transport {
		t.Close()
	}
	if r.child != nil {
		_ = r.child.Close()
	}
	if r.real != nil {
		r.real.Close()
	}
}
