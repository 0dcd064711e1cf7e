package runner

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/sim/fault"
	"github.com/tokamak-bench/tokamak/wire"
)

// live begins a life of the engine.
func (v *Virtual) live() error {
	e, err := sim.NewFaultyEngine(v.options, v.Clock, v.Faults, v.died)
	if err != nil {
		return err
	}
	v.Engine, v.dead = e, false
	return nil
}

// died is called when the engine dies.
func (v *Virtual) died(at int64) {
	v.dead = true
	after := v.Faults.Revival()
	if after == 0 {
		return
	}
	v.Clock.At(at+after, func() {
		if v.live() == nil { // the first life had the same description
			v.Faults.Reborn(at+after, v.Engine.Kill)
		}
	})
}

// stopped ends a call that faults keep from the engine, and tells whether it did.
func (v *Virtual) stopped(c *virtualCall, now int64) bool {
	c.engine = v.Engine
	if v.Faults == nil {
		return false
	}
	if v.dead {
		c.unheard(now)
		return true
	}
	var err error
	c.faults, err = v.Faults.Arrive(fault.Arrival{At: now, Header: v.FaultField, Tokens: c.call.Spec.InputTokens})
	if err != nil { // as a served engine does
		c.call.Row.ErrorText = oneLine(err.Error())
		c.refused(&sim.Refusal{Status: 400}, now)
		return true
	}
	for _, h := range c.faults {
		for i := 0; i+1 < len(h.Fields); i += 2 {
			c.call.Row.RateLimit = append(c.call.Row.RateLimit, h.Fields[i]+"="+h.Fields[i+1])
		}
	}
	if no := fault.Refused(c.faults); no != nil {
		c.refused(&sim.Refusal{Status: no.Status, RetryAfter: no.RetryAfter}, now)
		return true
	}
	return false
}

// unheard ends a call while nobody listens.
func (v *virtualCall) unheard(now int64) {
	row := &v.call.Row
	row.Moments.Ended = record.Some(now)
	row.Outcome, row.ErrorClass = record.TransportError, wire.Refused.String()
	v.sink.Ended(v.call)
}

// What wire calls a connection that the other side closed.
var (
	resetEarly = wire.ResetEarly.String()
	resetLate  = wire.ResetLate.String()
)

func (v *virtualCall) hit(name string) *fault.Hit { return fault.Has(v.faults, name) }

// disturbed changes what is asked for as faults of requests do.
func (v *virtualCall) disturbed() {
	r := &v.request
	if h := v.hit("ignore_max_tokens"); h != nil {
		r.MaxTokens = int64(float64(r.MaxTokens) * h.Value("times"))
	}
	if h := v.hit("truncate_prompt"); h != nil {
		r.Prompt = cutFront(r.Prompt, h.Value("keep"))
	}
}

// cutFront keeps the last share of each part of a prompt, under names of their own.
func cutFront(prompt []sim.Span, keep float64) []sim.Span {
	out := make([]sim.Span, 0, len(prompt))
	for _, s := range prompt {
		if n := max(int64(float64(s.Tokens)*keep), 1); n < s.Tokens {
			s = sim.Span{ID: ^s.ID, Tokens: n}
		}
		out = append(out, s)
	}
	return out
}

// fingerprint names the answer: the prompt's, unless chance decides.
func (v *virtualCall) fingerprint() uint64 {
	f := fingerprint(v.request.Prompt)
	if h := v.hit("unstable"); h != nil {
		f ^= h.Key
	}
	return f
}

// faultyChunk is a chunk of a request that faults struck.
func (v *virtualCall) faultyChunk(n, at int64) {
	for _, name := range []string{"error_after_200", "cut"} {
		if h := v.hit(name); h != nil && v.arrived >= int64(h.Value("after")) {
			v.engine.Abort(&v.request)
			return
		}
	}
	v.arrived += n
	number := float64(v.arrived)
	if h := v.hit("chunk_missing"); h != nil && number == h.Value("chunk") {
		return
	}
	v.chunk(n, at)
	if h := v.hit("chunk_duplicate"); h != nil && number == h.Value("chunk") {
		v.chunk(n, at)
	}
}

// held moves chunks that were kept back on the way to the end.
func (v *virtualCall) held(at int64) {
	if v.hit("buffered") == nil {
		return
	}
	c := &v.call.Row.Chunks
	for i := range c.At {
		c.At[i] = at
	}
}

// broken decides the outcome of a call that a fault or a death ended, and
// tells whether one did.
func (v *virtualCall) broken(why sim.Finish) bool {
	row := &v.call.Row
	answered := row.FirstByte.Valid()
	switch {
	case why == sim.Died && answered:
		row.Outcome, row.ErrorClass, row.HTTPStatus = record.StreamBroken, resetLate, record.Some(int64(200))
	case why == sim.Died:
		row.Outcome, row.ErrorClass = record.TransportError, resetEarly
	case why != sim.Abort || v.cancelled != "":
		return false
	case v.hit("cut") != nil:
		row.Outcome, row.ErrorClass, row.HTTPStatus = record.StreamBroken, resetLate, record.Some(int64(200))
	case v.hit("error_after_200") != nil:
		row.Outcome, row.ErrorClass, row.HTTPStatus = record.StreamError, "error_event", record.Some(int64(200))
	default:
		return false
	}
	return true
}

// told changes what a whole answer says of itself.
func (v *virtualCall) told() {
	row := &v.call.Row
	if h := v.hit("usage_wrong"); h != nil {
		row.OutputUsage = record.Some(max(v.request.Stats.Output+int64(h.Value("by")), 0))
	}
	if v.hit("usage_missing") != nil {
		row.PromptUsage, row.CachedUsage, row.OutputUsage = record.Int{}, record.Int{}, record.Int{}
		row.Notes = append(row.Notes, "usage_missing")
	}
	if asked := v.call.Spec.OutputTokens; asked > 0 && row.OutputUsage.Or(0) > asked {
		row.Notes = append(row.Notes, "over_max_tokens")
	}
	if n, ok := row.OutputUsage.Get(); ok && int64(len(row.Chunks.At)) > n {
		row.Notes = append(row.Notes, "usage_below_chunks")
	}
	if at := row.Chunks.At; v.hit("buffered") != nil && engine.Buffered(row.Moments.Sent.Or(-1), at) {
		row.Notes = append(row.Notes, "buffered")
	}
	if v.hit("split_utf8") != nil {
		row.Notes = append(row.Notes, "split_utf8")
	}
	if v.hit("no_end") != nil {
		row.Outcome, row.ErrorClass = record.StreamBroken, "no_terminator"
		row.Violations = append(row.Violations, "no_terminator")
	}
}

// refusalClass is what the driver calls a status.
func refusalClass(status int) string {
	switch {
	case status == 429:
		return "rate_limited"
	case status == 503:
		return "overloaded"
	case status >= 500:
		return "server_error"
	case status == 400:
		return "bad_request"
	}
	return "client_error"
}

// statusOf is what a served engine answers to a request that it does not take.
func statusOf(err error) int {
	if errors.Is(err, sim.ErrOverloaded) {
		return 429
	}
	return 400
}

// unseen are sentences about the faults among some that virtual time does not show.
func unseen(list []fault.Fault) (notices []string) {
	for i := range list {
		name := list[i].Definition.Name
		switch name { // they show in texts, choices or metrics alone
		case "garbage", "cache_poison", "chunk_reorder", "ignore_stop", "ignore_n", "frozen_metrics", "ttft_without_queue":
			notices = append(notices, "virtual time has no texts and no metrics page: the fault "+name+" shows nothing; run it without --virtual")
		}
	}
	return notices
}

// askFaults takes the faults that the scenario's header fields ask for.
func (r *Run) askFaults(v *Virtual) error {
	for _, h := range r.scenario.Target.Header {
		if !strings.EqualFold(h.Name, fault.Header) {
			continue
		}
		list, err := fault.ParseList(h.Value.Reveal())
		if err != nil {
			return fmt.Errorf("header %s: %w", fault.Header, err)
		}
		v.FaultField = h.Value.Reveal()
		r.scenario.Notices = append(r.scenario.Notices, unseen(list)...)
	}
	r.scenario.Notices = append(r.scenario.Notices, unseen(v.options.Faults.List)...)
	return nil
}
