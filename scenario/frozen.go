package scenario

import (
	"encoding/json"
	"strings"

	"github.com/tokamak-bench/tokamak/workload"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// Frozen returns the resolved scenario as JSON with every default filled in
// and secrets redacted, for the run's manifest. Where nothing was redacted it
// is itself a scenario file that resolves to the same run.
func (s *Scenario) Frozen() (json.RawMessage, error) {
	return json.Marshal(section{}.
		set("name", s.Name).
		set("target", s.Target.frozen()).
		set("workload", s.Workload.frozen()).
		set("load", s.Load.frozen()).
		set("slo", s.expressions()).
		set("out", s.Out.frozen(s.InconclusiveOK)))
}

// section is a mapping of a scenario file; encoding/json sorts its keys.
type section map[string]any

// set adds a setting that says something: empty text, false, zero and empty
// lists are left out.
func (s section) set(key string, v any) section {
	switch x := v.(type) {
	case string:
		if x == "" {
			return s
		}
	case bool:
		if !x {
			return s
		}
	case int:
		if x == 0 {
			return s
		}
	case int64:
		if x == 0 {
			return s
		}
	case []string:
		if len(x) == 0 {
			return s
		}
	case section:
		if len(x) == 0 {
			return s
		}
	}
	s[key] = v
	return s
}

func (t *Target) frozen() section {
	urls := make([]string, len(t.URLs))
	for i, u := range t.URLs {
		urls[i] = Redacted(u)
	}
	if t.UnixSocket != "" {
		urls = []string{"unix://" + t.UnixSocket}
	}
	headers := make([]string, len(t.Header))
	for i, h := range t.Header {
		headers[i] = h.Name + ": " + hidden
		if h.Env != "" {
			headers[i] = h.Name + ": env:" + h.Env
		}
	}
	s := section{}.set("url", urls).set("api", t.API).set("model", t.Model).set("no-stream", !t.Stream).set("header", headers).
		set("ca", t.TLS.CA).set("cert", t.TLS.Cert).set("key", t.TLS.Key).set("insecure", t.TLS.Insecure).
		set("no-proxy", t.Proxy.NoProxy).set("http2", t.HTTP2).set("retries", t.Retries).set("virtual", t.Virtual).
		set("gpus", t.GPUs).set("connections", t.Connections.frozen()).
		set("timeout", Short(t.Timeouts.Total)).set("timeout-connect", Short(t.Timeouts.Connect)).
		set("timeout-stall", Short(t.Timeouts.Stall))
	if t.Timeouts.FirstByte > 0 {
		s.set("timeout-first-byte", Short(t.Timeouts.FirstByte))
	}
	if t.Timeouts.FirstToken > 0 {
		s.set("timeout-first-token", Short(t.Timeouts.FirstToken))
	}
	if t.Retries > 0 {
		s.set("retry-on", strings.Join(t.RetryOn, ",")).set("backoff", t.Backoff.String())
	}
	if t.Against != nil {
		s.set("against", Redacted(t.Against))
	}
	if t.WaitReady > 0 {
		s.set("wait-ready", Short(t.WaitReady))
	}
	if t.Proxy.URL != nil {
		s.set("proxy", Redacted(t.Proxy.URL))
	}
	t.Auth.freeze(s)
	return s
}

func (c Connections) frozen() any {
	switch {
	case c.Fresh:
		return "fresh"
	case c.MaxIdle > 0:
		return c.MaxIdle
	}
	return "warm"
}

// freeze says where the key is from, never what it is. A command may hold a
// secret in its arguments: its first word is kept.
func (a *Auth) freeze(s section) {
	if !strings.EqualFold(a.Header, "Authorization") {
		s.set("auth-header", a.Header)
	}
	if env, ok := strings.CutPrefix(a.From, "$"); ok {
		s.set("api-key-env", env)
	}
	s.set("api-key-file", a.File)
	if a.Command != "" {
		word, rest, _ := strings.Cut(a.Command, " ")
		if rest != "" {
			word += " " + hidden
		}
		s.set("auth-command", word)
	}
}

func (w *Workload) frozen() section {
	s := section{}.set("output-mode", string(w.OutputMode)).set("tokenizer", w.Tokenizer).set("chat-template", w.ChatTemplate)
	if w.Temperature != nil {
		s.set("temperature", *w.Temperature)
	}
	if w.Reasoning != nil {
		s.set("reasoning", w.Reasoning.String())
	}
	if w.Body != nil {
		s.set("body", hidden)
	}
	if d := w.Config.Dataset; d != nil {
		s.set("dataset", d.Name).set("repeat", d.Repeat).set("salt", d.Salt).set("keep-names", d.KeepNames).set("conversations", d.Conversations)
		if d.Jitter > 0 {
			s.set("jitter", Short(d.Jitter))
		}
		freezeReading(&d.Reading, s)
		if d.Image.Format != "" {
			freezeImage(&d.Image, s)
		}
	}
	if t := w.Config.Traffic; t != nil {
		freezeTraffic(t, s)
	}
	c := w.Config.Classes
	if len(c) == 1 && plain(&c[0]) {
		freezeClass(&c[0], s)
		return s
	}
	list := make([]section, len(c))
	for i := range c {
		list[i] = section{"weight": c[i].Weight}
		freezeClass(&c[i], list[i])
	}
	if len(list) > 0 {
		s.set("classes", list)
	}
	return s
}

// freezeReading says what was told about a dataset.
func freezeReading(o *trace.Options, s section) {
	s.set("dataset-format", o.Format).set("dataset-turns", string(o.Turns)).set("block-tokens", o.BlockTokens)
	if o.Mapping != nil {
		s.set("dataset-map", o.Mapping.Name())
	}
	if o.MaxBad != 0 {
		s["max-bad"] = max(o.MaxBad, 0)
	}
}

// plain tells whether the workload's own settings can say the class.
func plain(c *workload.Class) bool {
	return c.Name == "" && c.Tenant == "" && c.Weight == 1 && c.Prefixes == 1 && c.Think == nil && !c.Reuse
}

func freezeClass(c *workload.Class, s section) {
	freezeMedia(&c.Media, s)
	s.set("name", c.Name).set("tenant", c.Tenant).set("prefix-tokens", c.PrefixTokens).set("reuse", c.Reuse).set("text", c.Text)
	if c.Prefixes != 1 {
		s.set("prefixes", c.Prefixes)
	}
	if c.Input != nil {
		s["input-tokens"] = c.Input.String()
	}
	if c.Output != nil {
		s["output-tokens"] = c.Output.String()
	}
	if c.Turns != nil {
		s["turns"] = c.Turns.String()
	}
	if c.Think != nil {
		s["think"] = c.Think.String()
	}
	if c.Patience != nil {
		s["patience"] = c.Patience.String()
	}
}

func (l *Load) frozen() section {
	s := section{"seed": l.Plan.Seed, "drain": Short(l.Drain)}
	stages := l.Plan.Stages
	switch l.Kind {
	case OpenLoop:
		s.set("rate", stages[0].From).set("arrival", l.Plan.Arrival.String())
	case ClosedLoop:
		s.set("concurrency", int64(stages[0].From))
	case Staged:
		texts := make([]string, len(stages))
		for i, g := range stages {
			texts[i] = trimZeros(g.String())
		}
		s.set("stages", texts).set("arrival", l.Plan.Arrival.String())
	case OwnTiming:
		if len(stages) == 0 {
			s.set("speed", l.Plan.Speed)
		}
	}
	if l.Plan.Think != nil {
		s.set("think", l.Plan.Think.String())
	}
	if l.Plan.Adapt != nil {
		s.set("adapt", l.Plan.Adapt.String())
	}
	if l.ReadRate > 0 {
		s.set("read-rate", l.ReadRate)
	}
	if l.Duration > 0 {
		s.set("duration", Short(l.Duration))
	}
	switch {
	case l.WarmupTime > 0:
		s.set("warmup", Short(l.WarmupTime))
	case l.WarmupRequests > 0:
		s.set("warmup", number(float64(l.WarmupRequests))+"req")
	}
	return s.set("requests", l.Requests).set("max-in-flight", l.MaxInFlight).set("abort", l.abortText()).
		set("max-total-tokens", l.MaxTotalTokens).set("stop-when-decided", l.StopWhenDecided).set("pairs", l.Pairs)
}

func (s *Scenario) expressions() []string {
	out := make([]string, len(s.SLO))
	for i := range s.SLO {
		out[i] = s.SLO[i].Expr
	}
	return out
}

func (l *Load) abortText() string {
	texts := make([]string, len(l.Abort))
	for i, a := range l.Abort {
		texts[i] = a.Text
	}
	return strings.Join(texts, ",")
}

func (o *Out) frozen(inconclusiveOK bool) section {
	dir := o.Dir
	if o.None {
		dir = "none"
	}
	tags := section{}
	for _, t := range o.Tags {
		tags[t.Key] = t.Value
	}
	return section{}.set("dir", dir).set("tag", tags).set("save-outputs", o.SaveOutputs).set("inconclusive-ok", inconclusiveOK)
}
