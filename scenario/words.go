package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/workload"
)

// String describes the load in a line: open loop, 8 requests/s poisson, 20s.
func (l *Load) String() string {
	var parts []string
	switch l.Kind {
	case OwnTiming:
		parts = append(parts, "the dataset's own timing")
		if l.Plan.Speed != 1 {
			parts = append(parts, number(l.Plan.Speed)+" times as fast")
		}
	case ModelTiming:
		parts = append(parts, "the traffic model's own timing")
		if l.Duration == 0 {
			parts = append(parts, Short(l.Plan.Stream.Summary.Duration))
		}
	case Staged:
		for _, s := range l.Plan.Stages {
			parts = append(parts, trimZeros(s.String()))
		}
		parts[0] = "stages " + parts[0]
	case OpenLoop:
		parts = append(parts, fmt.Sprintf("open loop, %s requests/s %s", number(l.Plan.Stages[0].From), l.Plan.Arrival))
	case ClosedLoop:
		users := "users"
		if l.Plan.Stages[0].From == 1 {
			users = "user"
		}
		parts = append(parts, fmt.Sprintf("closed loop, %s %s", number(l.Plan.Stages[0].From), users))
	}
	if l.Plan.Think != nil {
		parts = append(parts, "think "+l.Plan.Think.String())
	}
	if l.Plan.Adapt != nil {
		parts = append(parts, "adapted to "+l.Plan.Adapt.String())
	}
	if l.ReadRate > 0 {
		parts = append(parts, "read at "+number(l.ReadRate)+" tokens/s")
	}
	if l.Duration > 0 {
		parts = append(parts, Short(l.Duration))
	}
	if l.Requests > 0 {
		parts = append(parts, measure.Count(l.Requests)+" requests")
	}
	if l.MaxInFlight > 0 {
		parts = append(parts, "at most "+measure.Count(l.MaxInFlight)+" in flight")
	}
	return strings.Join(parts, ", ")
}

// String describes the workload in a line: 256 tokens in, 128 out.
func (w *Workload) String() string {
	if name := w.Dataset(); name != "" {
		if name == "-" {
			return "requests from standard input"
		}
		return "dataset " + name
	}
	if t := w.Config.Traffic; t != nil {
		return trafficWords(t)
	}
	c := w.Config.Classes
	if len(c) == 1 {
		return classWords(&c[0])
	}
	var total float64
	for i := range c {
		total += c[i].Weight
	}
	parts := make([]string, len(c))
	for i := range c {
		share := c[i].Weight / total
		if total == 0 { // all are alike
			share = 1 / float64(len(c))
		}
		parts[i] = fmt.Sprintf("%s %s: %s", c[i].Name, measure.Percent(100*share), classWords(&c[i]))
	}
	return strings.Join(parts, "; ")
}

func classWords(c *workload.Class) string {
	s := fmt.Sprintf("%v tokens in", c.Input)
	if c.Output != nil {
		s += fmt.Sprintf(", %v out", c.Output)
	}
	if c.PrefixTokens > 0 {
		s += fmt.Sprintf(", behind a shared prefix of %d", c.PrefixTokens)
	}
	if c.Patience != nil {
		s += fmt.Sprintf(", given up after %v", c.Patience)
	}
	if c.Turns != nil {
		s += fmt.Sprintf(", %v turns", c.Turns)
	}
	if c.Text != "" {
		s += ", text " + c.Text
	}
	return s + mediaWords(&c.Media)
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// String lists the deadlines in force.
func (t Timeouts) String() string {
	var words []string
	for _, l := range []struct {
		name string
		d    time.Duration
	}{{"connect", t.Connect}, {"first byte", t.FirstByte}, {"first token", t.FirstToken}, {"stall", t.Stall}, {"whole request", t.Total}} {
		if l.d > 0 {
			words = append(words, l.name+" "+Short(l.d))
		}
	}
	return strings.Join(words, ", ")
}

// Probing are the deadlines of a single question, as check and the battery of
// conformance ask: a minute in all, where no other total was asked for.
func (t Timeouts) Probing() Timeouts {
	if t.Total == timeoutTotal {
		t.Total = probingTotal
	}
	t.FirstByte, t.FirstToken = min(t.FirstByte, t.Total), min(t.FirstToken, t.Total)
	t.Connect = min(t.Connect, t.Total)
	return t
}

// Short writes a duration without its zero parts: 2m, not 2m0s.
func Short(d time.Duration) string { return trimZeros(d.String()) }

func trimZeros(s string) string {
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Forecast is what a run will send, expected before it starts.
type Forecast struct {
	// Requests, InputTokens and OutputTokens are for the whole run where
	// Known; else of one session on average.
	Requests, InputTokens, OutputTokens float64
	Known                               bool
	LongestInput                        int64
	PeakRate                            float64 // sessions/s of open stages
	PeakUsers                           int64   // of closed stages
	Duration                            time.Duration
}

// Forecast looks at the plan and the first sessions. A dataset is not read:
// ok is then false.
func (s *Scenario) Forecast() (f Forecast, ok bool) {
	if s.Workload.Dataset() != "" {
		return f, false
	}
	source, err := workload.New(s.Workload.Config, s.Seed)
	if err != nil {
		return f, false
	}
	plan := s.Load.Plan.Describe()
	f = Forecast{PeakRate: plan.PeakRate, PeakUsers: plan.PeakUsers, Duration: plan.Duration, Known: plan.Known}
	sessions := int64(plan.Requests)
	if !plan.Known {
		sessions = 100
	}
	each, ok := workload.Describe(source, max(sessions, 1))
	if !ok {
		return f, false
	}
	n := 1.0
	if plan.Known {
		n = plan.Requests
	}
	if most := float64(s.Load.Requests); plan.Known && most > 0 && n*each.Requests > most {
		n = most / each.Requests // the bound counts requests, the plan sessions
	}
	f.Requests, f.InputTokens, f.OutputTokens = n*each.Requests, n*each.InputTokens, n*each.OutputTokens
	f.LongestInput = each.LongestInput
	return f, true
}
