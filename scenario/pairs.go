package scenario

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/workload"
)

// pairs refuses settings that have no effect beside others.
func (r *resolver) pairs(s *Scenario) {
	l := &s.Load
	switch {
	case l.Duration > 0 && l.WarmupTime >= l.Duration:
		r.together("load.warmup", "leaves nothing: expected less than the duration, %s", Short(l.Duration))
	case l.Requests > 0 && l.WarmupRequests >= l.Requests:
		r.together("load.warmup", "leaves nothing: expected fewer than the %s requests", measure.Count(l.Requests))
	}
	if l.Kind == Staged && len(r.errs) == 0 {
		mode := func(m load.Mode) bool {
			return slices.ContainsFunc(l.Plan.Stages, func(g load.Stage) bool { return g.Mode == m })
		}
		if !mode(load.OpenLoop) {
			r.together("load.arrival", "needs a stage with a rate: users begin again when the last has ended")
		}
		if !mode(load.ClosedLoop) {
			r.together("load.think", "needs a stage of users: a rate does not wait for them")
		}
	}
	if d := s.Workload.Config.Dataset; d != nil && d.Repeat && l.Kind != Staged && l.Duration == 0 && l.Requests == 0 {
		r.together("workload.repeat", "needs duration or requests: nothing else ends it")
	}
	if a := l.Plan.Adapt; a != nil && a.Metric == "tpot" && !s.Target.Stream && !s.Target.Virtual {
		r.together("load.adapt", "by tpot never acts with no-stream: an answer that comes whole has none")
	}
	if s.Target.Virtual && s.Target.Sim() {
		r.virtualModel(&s.Target)
	}
}

// virtualModel refuses a model that the simulated engine would not know: in
// virtual time no request names one.
func (r *resolver) virtualModel(t *Target) {
	o, err := sim.ParseTarget(t.URLs[0].String())
	if err == nil && t.Model != "" && t.Model != o.Served && t.Model != o.Model.ID && !slices.Contains(o.Adapters, t.Model) {
		r.fail(r.set["target.model"].expected("the model of the simulated engine, " + o.Served))
	}
}

// bounds notes limits that can never be reached beside others.
func (s *Scenario) bounds() {
	t := &s.Target.Timeouts
	for _, d := range []struct {
		id string
		of bool
	}{
		{"timeout-connect", t.Connect > t.Total}, {"timeout-first-byte", t.FirstByte > t.Total},
		{"timeout-first-token", t.FirstToken > t.Total}, {"timeout-stall", t.Stall > t.Total},
	} {
		if d.of && s.Given("target."+d.id) {
			s.note("%s never strikes: the limit on a whole request, %s, comes first", d.id, Short(t.Total))
		}
	}
	s.untrusted()
	w := &s.Workload.Config
	turns := w.Dataset != nil || w.Traffic != nil || slices.ContainsFunc(w.Classes, func(c workload.Class) bool { return c.Turns != nil })
	if s.Load.ReadRate > 0 && s.Load.Kind == OpenLoop && !turns {
		s.note("read-rate has nothing to hold back: there are no turns, and a rate does not wait for readers")
	}
	if users := s.Load.Plan.Stages; s.Load.Kind == ClosedLoop && float64(s.Load.MaxInFlight) > users[0].From {
		s.note("max-in-flight is never reached: there are %s users", number(users[0].From))
	}
}

// untrusted notes what only TLS has a use for where nothing is reached by it.
func (s *Scenario) untrusted() {
	secure := func(u *url.URL) bool { return u != nil && u.Scheme == "https" }
	t := &s.Target
	if t.Virtual || slices.ContainsFunc(t.URLs, secure) || secure(t.Against) || secure(t.Proxy.URL) || strings.HasPrefix(t.Proxy.environment.HTTPProxy, "https:") {
		return
	}
	var words []string
	for _, id := range []string{"target.ca", "target.cert", "target.key", "target.insecure"} {
		if s.Given(id) {
			words = append(words, word(id))
		}
	}
	if len(words) > 0 {
		s.note("no target is reached by https: %s %s not used", strings.Join(words, ", "), isAre(len(words)))
	}
}

func (s *Scenario) note(format string, args ...any) {
	s.Notices = append(s.Notices, fmt.Sprintf(format, args...))
}

// virtually are the settings that have nothing to work on in virtual time, in
// the order in which a notice names them: there are no connections, no bodies
// and no texts.
var virtually = []string{"target.header", "target.api-key-env", "target.api-key-file", "target.auth-command", "target.auth-header",
	"target.ca", "target.cert", "target.key", "target.insecure", "target.proxy", "target.no-proxy", "target.connections", "target.http2",
	"target.timeout-connect", "target.wait-ready", "target.no-stream",
	"workload.text", "workload.tokenizer", "workload.chat-template", "workload.temperature", "workload.output-mode", "workload.body", "workload.salt",
	"workload.image-format", "workload.image-bytes"}

// unused notes what was asked for and has nothing to work on in virtual time.
func (s *Scenario) unused() {
	if !s.Target.Virtual {
		return
	}
	var words []string
	for _, id := range virtually {
		if s.Given(id) || s.Given(classPlace(id, 0)) {
			words = append(words, word(id))
		}
	}
	if len(words) > 0 {
		s.note("virtual time has no connections, bodies and texts: %s %s checked and not used", strings.Join(words, ", "), isAre(len(words)))
	}
	if s.Out.SaveOutputs {
		s.note("virtual time has no texts: there are no outputs to save")
	}
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
