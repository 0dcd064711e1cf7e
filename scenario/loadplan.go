package scenario

import (
	"strconv"
	"strings"
	"time"
)

// The defaults of a load.
const (
	defaultUsers    = 8
	defaultDuration = 30 * time.Second
	defaultDrain    = time.Minute
	defaultSeed     = 1
)

func (r *resolver) load(s *Scenario) {
	l := &s.Load
	r.exclusive(loadKinds...)
	r.exclusive("load.stages", "load.duration")
	r.needs("load.speed", "workload.dataset")
	r.needs("load.arrival", "load.rate", "load.stages")
	r.needs("load.think", "load.concurrency", "load.stages")
	l.Rate = r.number("load.rate", "requests/s above 0", 0, false)
	l.Concurrency = r.whole("load.concurrency", 0, 1)
	l.Stages = r.stages()
	l.Arrival = r.text("load.arrival", "poisson, constant or gamma:cv=2")
	l.Think = r.text("load.think", "a distribution of durations, such as 2s")
	l.Duration = r.duration("load.duration", 0, false)
	l.Requests = r.whole("load.requests", 0, 1)
	r.warmup(l)
	l.Drain = r.duration("load.drain", defaultDrain, true)
	l.MaxInFlight = r.whole("load.max-in-flight", 0, 1)
	l.Speed = r.number("load.speed", "a factor above 0", 1, false)
	l.Abort = r.text("load.abort", "a condition such as error_rate>50%")
	l.MaxTotalTokens = r.whole("load.max-total-tokens", 0, 1)
	s.Seed = r.seed()
	r.kind(s)
}

// kind decides what the moments come from and fills in what was left out.
func (r *resolver) kind(s *Scenario) {
	l := &s.Load
	switch {
	case r.has("load.rate"):
		l.Kind = OpenLoop
	case r.has("load.concurrency"):
		l.Kind = ClosedLoop
	case r.has("load.stages"):
		l.Kind = Staged
		return
	case r.has("load.speed"):
		l.Kind = OwnTiming
		return
	default:
		l.Kind, l.Concurrency = ClosedLoop, defaultUsers
		s.Notices = append(s.Notices, "no load given: closed loop of 8 users")
	}
	if l.Kind == OpenLoop && l.Arrival == "" {
		l.Arrival = "poisson"
	}
	if l.Duration == 0 && l.Requests == 0 && s.Workload.Dataset == "" {
		l.Duration = defaultDuration
	}
}

// stages reads the text of --stages or a list of such texts.
func (r *resolver) stages() string {
	v, ok := r.set["load.stages"]
	if !ok {
		return ""
	}
	var parts []string
	for _, item := range v.list() {
		if item.kind != textValue && item.kind != flagText || strings.TrimSpace(item.text) == "" {
			r.fail(item.expected("stages such as rate=5:30s,rate=20:30s"))
			continue
		}
		parts = append(parts, item.text)
	}
	return strings.Join(parts, ",")
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
	l.WarmupTime = r.duration("load.warmup", 0, true)
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
