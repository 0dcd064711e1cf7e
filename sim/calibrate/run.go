package calibrate

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/sim/accuracy"
	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/hardware"
)

// Request is one answered request of a run. Moments are ns of one clock.
type Request struct {
	Sent, First, Last int64 // First: first token; Last: last token
	Prompt, Output    int64 // tokens
}

// maxRounds bounds how often the run is replayed, and maxSteps how long a
// replay may be: fitting prices each of its steps some thousand times.
const (
	maxRounds = 8
	maxSteps  = 200_000
)

// Run fits the requests of a run against an engine as o describes it. The run is
// replayed with the efficiencies so far, which gives the steps behind each
// request; the efficiencies are then fitted to these steps, and so on until they
// stay. Prompts are taken as all different.
func Run(o sim.Options, requests []Request) (*Result, error) {
	if len(requests) < 10*folds {
		return nil, fmt.Errorf("%d answered requests: expected at least %d", len(requests), 10*folds)
	}
	requests = slices.Clone(requests)
	slices.SortStableFunc(requests, func(a, b Request) int { return int(min(max(a.Sent-b.Sent, -1), 1)) })
	names := parameters(&o, true)
	e := start(&o)
	var p *priced
	best, least := e, math.Inf(1)
	for range maxRounds {
		next, err := replay(o, e, requests)
		if err != nil {
			return nil, err
		}
		p = next
		if now := p.cost(&e, everything); now < least {
			best, least = e, now
		}
		was := e
		e = p.fit(names, e, everything)
		if same(&was, &e) {
			break
		}
	}
	p, err := replay(o, e, requests)
	if err != nil {
		return nil, err
	}
	if p.cost(&e, everything) > least {
		e = best
		if p, err = replay(o, e, requests); err != nil {
			return nil, err
		}
	}
	first := true
	fit := func(keep func(int) bool) catalog.Efficiency {
		if first { // all of them: done above
			first = false
			return e
		}
		return p.fit(names, start(&o), keep)
	}
	add := func(to *deviations, i int, e *catalog.Efficiency) {
		p.price(e)
		tpot, ttft := p.predict(i)
		q := &requests[i]
		to.add(tpot, ttft, q.tpot(), float64(q.First-q.Sent))
	}
	return result(len(requests), "requests", names, fit, add), nil
}

func everything(int) bool { return true }

// tpot is the measured time per output token in ns; 0 with one token alone.
func (q *Request) tpot() float64 {
	if q.Output < 2 {
		return 0
	}
	return float64(q.Last-q.First) / float64(q.Output-1)
}

func same(a, b *catalog.Efficiency) bool {
	for _, v := range [][2]float64{{a.Matmul, b.Matmul}, {a.Weights, b.Weights}, {a.KV, b.KV}, {a.Attention, b.Attention}, {a.StepMicros, b.StepMicros}, {a.SeqMicros, b.SeqMicros}} {
		if math.Abs(v[0]/v[1]-1) > 1e-3 {
			return false
		}
	}
	return true
}

// recorder is a StepTimer that keeps the steps it was asked for.
type recorder struct {
	timer *hardware.Timer
	steps []core.Step
}

// StepTime asks the timer and keeps the step with its end.
func (r *recorder) StepTime(s *core.Step) int64 {
	t := r.timer.StepTime(s)
	kept := *s
	kept.End = s.Start + max(t, 1)
	r.steps = append(r.steps, kept)
	return t
}

// window is which steps a request's figures are made of: (queue, first] and
// (first, last], the first step of the wait with the part that it waited.
type window struct {
	begin, first, last int // indices: the step that the wait began in, of the first token, of the last
	part               float64
	ttft               float64 // of the replay, ns
}

// priced is a replayed run: its steps, and each request's windows.
type priced struct {
	setup    hardware.Setup
	requests []Request
	steps    []core.Step
	windows  []window
	before   []float64 // sums of step times in the replay
	now      []float64 // and at the prices under trial
	api      float64   // ns, of the replay
	delay    float64   // ns, under trial
}

type silent struct{}

func (silent) Tokens(int64, int64)                   {}
func (silent) Finished(sim.Finish, sim.Usage, int64) {}

// replay runs the engine in virtual time on the run's moments.
func replay(o sim.Options, e catalog.Efficiency, requests []Request) (*priced, error) {
	o.GPU.Efficiency = e
	cfg, err := o.Config()
	if err != nil {
		return nil, err
	}
	s := o.Setup()
	rec := &recorder{timer: hardware.NewTimer(s)}
	cfg.Timer = rec
	v := clock.NewVirtual(time.Unix(0, 0))
	engine, err := core.New(cfg, v)
	if err != nil {
		return nil, err
	}
	list := make([]*core.Request, len(requests))
	for i, q := range requests {
		v.Wait(q.Sent - requests[0].Sent)
		list[i] = &core.Request{Prompt: []core.Span{{ID: uint64(i) + 1, Tokens: q.Prompt}}, MaxTokens: q.Output, Listener: silent{}}
		if err := engine.Submit(list[i]); err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		if len(rec.steps) > maxSteps {
			return nil, fmt.Errorf("the run has more than %d steps up to request %d of %d: take a part of it", maxSteps, i, len(requests))
		}
	}
	v.Wait(clock.Forever)
	p := &priced{setup: s, requests: requests, steps: rec.steps, api: e.APIMicros * 1e3}
	ends := make([]int64, len(p.steps))
	for i := range p.steps {
		ends[i] = p.steps[i].End
	}
	at := func(t int64) int { return sort.Search(len(ends), func(i int) bool { return ends[i] >= t }) }
	for _, r := range list {
		st := &r.Stats
		w := window{begin: at(st.Queued + 1), first: at(st.FirstToken), last: at(st.LastToken), ttft: float64(st.FirstToken - st.Arrived)}
		if s := p.steps[w.begin]; s.Start < st.Queued {
			w.part = float64(s.End-st.Queued) / float64(s.End-s.Start)
		} else {
			w.part = 1
		}
		p.windows = append(p.windows, w)
	}
	p.price(&e)
	p.before = slices.Clone(p.now)
	return p, nil
}

// price sums the steps' times under some efficiencies: now[i] are those of
// steps 0 to i−1.
func (p *priced) price(e *catalog.Efficiency) {
	s := p.setup
	s.GPU.Efficiency = *e
	t := hardware.NewTimer(s)
	if p.now == nil {
		p.now = make([]float64, len(p.steps)+1)
	}
	for i := range p.steps {
		p.now[i+1] = p.now[i] + float64(t.StepTime(&p.steps[i]))
	}
	p.delay = e.APIMicros * 1e3
}

// predict returns a request's TPOT and TTFT in ns at the last prices.
func (p *priced) predict(i int) (tpot, ttft float64) {
	w := &p.windows[i]
	if n := p.requests[i].Output; n > 1 {
		tpot = (p.now[w.last+1] - p.now[w.first+1]) / float64(n-1)
	}
	wait := func(sums []float64) float64 {
		if w.begin >= w.first+1 {
			return 0
		}
		return sums[w.first+1] - sums[w.begin+1] + w.part*(sums[w.begin+1]-sums[w.begin])
	}
	return tpot, w.ttft + wait(p.now) - wait(p.before) + p.delay - p.api
}

func (p *priced) cost(e *catalog.Efficiency, keep func(int) bool) float64 {
	p.price(e)
	sum, n := 0.0, 0
	for i := range p.requests {
		if !keep(i) {
			continue
		}
		q := &p.requests[i]
		tpot, ttft := p.predict(i)
		sum += loss(tpot, q.tpot()) + 0.3*loss(ttft, float64(q.First-q.Sent))
		n++
	}
	return sum / float64(max(n, 1))
}

func (p *priced) fit(names []string, from catalog.Efficiency, keep func(int) bool) catalog.Efficiency {
	return accuracy.Search(names, from, func(e *catalog.Efficiency) float64 { return p.cost(e, keep) })
}
