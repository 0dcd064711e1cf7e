package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/load"
)

// The defaults of a load.
const (
	defaultUsers    = 8
	defaultDuration = 30 * time.Second
	defaultDrain    = time.Minute
	defaultSeed     = 1
	defaultPairs    = 8
	mostPairs       = 1000
	leastFactor     = 1e-6
	mostFactor      = 1e6
)

func (r *resolver) load(s *Scenario) {
	l := &s.Load
	r.exclusive(loadKinds...)
	r.exclusive("load.stages", "load.duration")
	r.needs("load.speed", "workload.dataset")
	r.needs("load.arrival", "load.rate", "load.stages")
	r.needs("load.think", "load.concurrency", "load.stages")
	r.needs("load.adapt", "load.concurrency", "load.stages")
	l.Duration = r.duration("load.duration", 0, false)
	l.Requests = r.whole("load.requests", 0, 1)
	r.warmup(l)
	l.Drain = r.duration("load.drain", defaultDrain, true)
	l.MaxInFlight = r.whole("load.max-in-flight", 0, 1)
	l.Abort = r.abort()
	l.StopWhenDecided = r.boolean("load.stop-when-decided")
	l.MaxTotalTokens = r.whole("load.max-total-tokens", 0, 1)
	if pairs := r.within("load.pairs", defaultPairs, 1, mostPairs); r.has("target.against") {
		l.Pairs = int(pairs)
	}
	s.Seed = r.seed()
	l.Plan.Seed = s.Seed
	l.Plan.Arrival = r.arrival()
	l.Plan.Think = r.pause("load.think")
	l.Plan.Adapt = r.adapt()
	l.ReadRate = r.between("load.read-rate", "tokens/s", 0, leastFactor, mostFactor)
	l.Plan.Speed = r.between("load.speed", "a factor", 1, leastFactor, mostFactor)
	if r.timing(s) {
		l.Plan.MaxRequests = l.Requests
		return
	}
	stage := r.kind(s)
	r.bound(s, stage)
	r.checkPlan(s)
}

// kind decides what the moments come from and returns the stage to hold;
// none where the plan is complete without.
func (r *resolver) kind(s *Scenario) *load.Stage {
	l := &s.Load
	rate := r.number("load.rate", "requests/s above 0", 0, false)
	users := float64(r.whole("load.concurrency", defaultUsers, 1))
	l.Plan.Stages = r.stages()
	switch {
	case r.has("load.stages"):
		l.Kind = Staged
		return nil
	case r.has("load.rate"):
		l.Kind = OpenLoop
		return &load.Stage{Mode: load.OpenLoop, From: rate, To: rate}
	case r.has("load.concurrency"):
		l.Kind = ClosedLoop
	case r.has("load.speed"):
		l.Kind = OwnTiming
		return nil
	case s.Workload.Dataset() != "" && s.Workload.Dataset() != "-":
		l.Kind = OwnTiming
	default:
		l.Kind = ClosedLoop
		s.Notices = append(s.Notices, fmt.Sprintf("no load given: closed loop of %d users", defaultUsers))
	}
	return &load.Stage{Mode: load.ClosedLoop, From: users, To: users}
}

// bound gives the plan its end.
func (r *resolver) bound(s *Scenario, stage *load.Stage) {
	l := &s.Load
	p := &l.Plan
	p.MaxRequests = l.Requests
	if stage == nil {
		return
	}
	if l.Duration == 0 && l.Requests == 0 {
		if s.Workload.Dataset() == "" {
			l.Duration = defaultDuration
		} else {
			p.MaxRequests = Unbounded
		}
	}
	stage.Duration = l.Duration
	p.Stages = append(p.Stages, *stage)
}

// checkPlan refuses what load itself would refuse.
func (r *resolver) checkPlan(s *Scenario) {
	if len(r.errs) > 0 || len(s.Load.Plan.Stages) == 0 {
		return
	}
	if _, err := load.New(s.Load.Plan); err != nil {
		pos := Pos{File: s.File}
		for _, id := range append([]string{"load.duration"}, loadKinds...) {
			if v, ok := r.set[id]; ok {
				pos = v.pos
			}
		}
		text := err.Error()
		if v, ok := r.set["load.adapt"]; ok && strings.HasPrefix(text, "adapt: ") {
			pos, text = v.pos, strings.TrimPrefix(text, "adapt: ")
		}
		if s.Load.Kind != Staged { // nobody spoke of stages
			text = strings.TrimPrefix(text, "stage 1: ")
		}
		r.fail(&Error{pos, text})
	}
}

func (r *resolver) arrival() load.Arrival {
	text := r.text("load.arrival", "poisson, constant or gamma:cv=2")
	if text == "" {
		return load.Arrival{}
	}
	a, err := load.ParseArrival(text)
	if err != nil {
		r.fail(r.set["load.arrival"].syntax(err))
	}
	return a
}

// adapt reads the rule by which a closed loop answers to latency.
func (r *resolver) adapt() *load.Adapt {
	text := r.text("load.adapt", "a rule such as e2e.p95/50ms")
	if text == "" {
		return nil
	}
	a, err := load.ParseAdapt(text)
	if err != nil {
		r.fail(r.set["load.adapt"].syntax(err))
		return nil
	}
	return a
}

// stages reads the text of --stages or a list of such texts.
func (r *resolver) stages() []load.Stage {
	v, ok := r.set["load.stages"]
	if !ok {
		return nil
	}
	const form = "stages such as rate=5:30s,rate=5..20:2m or users=10:30s"
	var all []load.Stage
	for _, item := range v.list() {
		if item.kind != textValue && item.kind != flagText || strings.TrimSpace(item.text) == "" {
			r.fail(item.expected(form))
			continue
		}
		stages, err := load.ParseStages(item.text)
		if err != nil {
			r.fail(item.syntax(err))
		}
		all = append(all, stages...)
	}
	if v.kind == listValue && len(v.items) == 0 {
		r.fail(v.errorf("expected %s, got an empty list", form))
	}
	return all
}

func (r *resolver) warmup(l *Load) {
	v, ok := r.set["load.warmup"]
	if !ok {
		return
	}
	if n, ok := strings.CutSuffix(v.text, "req"); ok {
		count, err := strconv.ParseInt(n, 10, 64)
		if err != nil || count < 1 {
			r.fail(v.expected("a duration such as 10s or a number of requests such as 100req"))
		}
		l.WarmupRequests = count
		return
	}
	if l.WarmupTime = r.duration("load.warmup", 0, true); l.WarmupTime == 0 && v.text != "" && strings.Trim(v.text, "0s") == "" {
		r.fail(v.expected("a duration above 0, or none: the beginning is then found"))
	}
}

func (r *resolver) seed() uint64 {
	v, ok := r.set["load.seed"]
	if !ok {
		return defaultSeed
	}
	n, err := strconv.ParseUint(v.text, 10, 64)
	if err != nil || v.kind != intValue && v.kind != flagText {
		r.fail(v.expected("a whole number from 0 to 18446744073709551615"))
	}
	return n
}
