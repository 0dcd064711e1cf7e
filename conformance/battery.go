package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/check"
	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/wire"
)

// Options say what to ask, and through what.
type Options struct {
	Transport wire.Transport
	API       string         // openai-chat (default) or openai-completions
	OpenAI    openai.Options // Base is needed; Model empty: the server's only one
	// All bounds the whole battery (default 5 min): what is not asked by then is
	// not applicable. Each question is bounded by the limits of OpenAI (a total
	// of a minute where they have none).
	All time.Duration
}

const (
	defaultTimeout = time.Minute
	defaultAll     = 5 * time.Minute

	length   = 24 // output tokens of most questions
	seed     = 11
	maxWaits = 60 // times to wait because of 429 in all,
	patience = 6  // and for one question
	longWait = 10 * time.Second
	silent   = 3 // so many questions in a row without an answer end the battery

	// What is kept of all answers together; more ends the battery.
	mostEvents = 1 << 19
	mostBytes  = 128 << 20
)

// battery is one going through all questions.
type battery struct {
	Options
	driver  *openai.Driver
	report  *Report
	models  []check.Model
	replies []*reply // in the order asked
	results map[string]Result
	began   time.Time
	until   time.Time
	waits   int
	waited  time.Duration
	// impatient: a 429 was taken for the answer although it was to be waited for.
	impatient bool
	events    int         // of all answers
	bytes     int         // of them
	unheard   int         // good questions in a row without an answer
	ended     string      // why nothing more is asked; empty: go on
	usage     error       // what the user has to say first
	reply     *reply      // to the first question
	over      func() bool // the user has gone: what comes now is no answer of the endpoint's

	maxTokens string          // name of the length field
	without   map[string]bool // fields that the server refused
	stable    bool            // the same question got the same answer
}

// Run goes through the battery. An error means that nothing could be asked,
// because of bad options; or the end of ctx, which comes with the report of what
// was asked until then. What is wrong with the endpoint stands in the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.API == "" {
		o.API = openai.APIChat
	}
	if o.All == 0 {
		o.All = defaultAll
	}
	if o.OpenAI.Limits == (wire.Limits{}) {
		o.OpenAI.Limits = wire.Limits{Connect: 10 * time.Second, Total: defaultTimeout}
	}
	d, err := openai.New(o.API, o.OpenAI)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	u := d.URL()
	u.RawQuery = ""
	b := &battery{Options: o, driver: d, results: map[string]Result{}, maxTokens: "max_tokens", without: map[string]bool{},
		report: &Report{Schema: Schema, Battery: Battery, URL: u.String(), API: o.API, Model: o.OpenAI.Model}}
	b.began = time.Now()
	b.until = b.began.Add(o.All)
	b.over = func() bool { return ctx.Err() != nil }
	b.all(ctx)
	if b.usage != nil {
		return nil, b.usage
	}
	b.over = func() bool { return false }
	if ctx.Err() != nil {
		b.ended = "interrupted"
		b.finish()
		return b.report, exit.With(exit.Interrupted, ctx.Err())
	}
	b.finish()
	return b.report, nil
}

func (b *battery) all(ctx context.Context) {
	if !b.listModels(ctx) || !b.first(ctx) {
		return
	}
	for _, probe := range []func(context.Context){b.same, b.unasked, b.lengths, b.stop, b.choices, b.characters,
		b.tools, b.schema, b.words, b.errors, b.long, b.method, b.auth, b.giveUp, b.together} {
		if b.ended != "" || ctx.Err() != nil {
			return
		}
		probe(ctx)
	}
}

// say gives a rule its verdict; of several the worst stays.
func (b *battery) say(rule string, v Verdict, format string, args ...any) {
	if b.over() {
		return
	}
	if old, ok := b.results[rule]; ok && !v.worse(old.Verdict) {
		return
	}
	b.results[rule] = Result{Rule: rule, Verdict: v, Seen: fmt.Sprintf(format, args...)}
}

// chat tells which of the two APIs is spoken.
func (b *battery) chat() bool { return b.API == openai.APIChat }

// body forms the request of a question.
func (b *battery) body(q *question) map[string]any {
	m := map[string]any{"temperature": 0, "seed": seed, "stream": q.stream}
	if b.report.Model != "" {
		m["model"] = b.report.Model
	}
	if b.chat() {
		m["messages"] = []any{map[string]any{"role": "user", "content": q.prompt}}
	} else {
		m["prompt"] = q.prompt
	}
	if q.max > 0 {
		m[b.maxTokens] = q.max
	}
	if q.n > 0 {
		m["n"] = q.n
	}
	if q.stream && q.usage {
		m["stream_options"] = map[string]any{"include_usage": true}
	}
	maps.DeleteFunc(m, func(k string, _ any) bool { return b.without[k] })
	for k, v := range q.fields {
		if m[k] = v; v == nil {
			delete(m, k)
		}
	}
	return m
}

// request forms what is sent for a body.
func (b *battery) request(q *question, body []byte) *wire.Request {
	r := b.driver.Get(b.driver.URL())
	r.Method, r.Body = http.MethodPost, body
	accept := "application/json"
	if q.stream {
		r.Framing, accept = wire.SSE, "text/event-stream"
	}
	r.Header = append(r.Header, wire.Field{Name: "Content-Type", Value: "application/json"}, wire.Field{Name: "Accept", Value: accept})
	if credential := b.driver.Credential(); q.bare && credential != "" {
		kept := r.Header[:0]
		for _, f := range r.Header {
			if !strings.EqualFold(f.Name, credential) {
				kept = append(kept, f)
			}
		}
		r.Header = kept
	}
	return r
}

// ask sends a question and keeps its reply; where the server asks for less, it
// waits and asks again.
func (b *battery) ask(ctx context.Context, q *question) *reply {
	for {
		body, err := json.Marshal(b.body(q))
		if err != nil {
			panic(err) // the battery's own values
		}
		if r := b.send(ctx, q, body); q.bad || !b.adapt(r) {
			return r
		}
	}
}

// adapt goes without a field that a server does not take, and tells whether
// the question is to be asked again.
func (b *battery) adapt(r *reply) bool {
	if !r.refused() || r.x.Status == http.StatusTooManyRequests {
		return false
	}
	text := strings.ToLower(r.answer.ErrorText)
	unwelcome := false
	for _, s := range []string{"support", "unknown", "unrecognized", "not permitted", "not allowed", "extra inputs", "unexpected"} {
		unwelcome = unwelcome || strings.Contains(text, s)
	}
	if !unwelcome {
		return false
	}
	if b.maxTokens == "max_tokens" && strings.Contains(text, "max_tokens") {
		b.maxTokens = "max_completion_tokens"
		b.missing(r, "max_tokens, sent as max_completion_tokens")
		return true
	}
	for _, f := range []string{"stream_options", "temperature", "seed"} {
		if strings.Contains(text, f) && !b.without[f] {
			b.without[f] = true
			b.missing(r, f)
			return true
		}
	}
	return false
}

func (b *battery) missing(r *reply, what string) {
	r.adapted = true
	b.report.Adapted = append(b.report.Adapted, what)
	delete(b.results, answerFields)
	b.say(answerFields, Note, "refused: %s", strings.Join(b.report.Adapted, "; "))
}

func (b *battery) send(ctx context.Context, q *question, body []byte) *reply {
	for try := 1; ; try++ {
		r := b.once(ctx, q, body)
		b.keep(r)
		if r.x.Status != http.StatusTooManyRequests || try > patience || !b.wait(ctx, r) {
			b.impatient = b.impatient || r.x.Status == http.StatusTooManyRequests
			b.listen(r)
			return r
		}
	}
}

func (b *battery) once(ctx context.Context, q *question, body []byte) *reply {
	max := q.max
	if max == 0 {
		max = length
	}
	d := b.driver.Decoder(&engine.Call{Body: body, MaxTokens: max})
	return read(q, check.Send(ctx, b.Transport, b.request(q, body), d, q.leave))
}

// keep books a reply.
func (b *battery) keep(r *reply) {
	if b.over() {
		return
	}
	b.replies = append(b.replies, r)
	b.events += len(r.events)
	for i := range r.events {
		b.bytes += len(r.events[i].Data)
	}
	b.report.Requests++
	b.report.InputTokens += r.answer.Usage.Prompt.N
	b.report.OutputTokens += r.answer.Usage.Completion.N
}

// listen ends the battery where the endpoint falls silent, or time is up.
func (b *battery) listen(r *reply) {
	switch {
	case left(r) || r.x.Status != 0 && r.x.Cause != wire.TimeoutTotal:
		b.unheard = 0
	default:
		b.unheard++
	}
	switch {
	case b.ended != "":
	case b.events > mostEvents || b.bytes > mostBytes:
		b.ended = fmt.Sprintf("the answers are too long to keep (%d events, %d MiB)", b.events, b.bytes>>20)
	case b.unheard >= silent:
		b.ended = fmt.Sprintf("%d questions in a row got no answer", silent)
	case time.Now().After(b.until):
		b.ended = fmt.Sprintf("the battery's time was up (%s)", b.All)
	}
}

// wait waits as long as a 429 says, a second where it does not; false: long
// enough was waited.
func (b *battery) wait(ctx context.Context, r *reply) bool {
	d := time.Second
	if r.answer.RetryAfter.Known {
		d = min(max(time.Duration(r.answer.RetryAfter.N), time.Second), longWait)
	}
	if b.waits >= maxWaits || time.Now().Add(d).After(b.until) {
		b.impatient = true
		return false
	}
	b.waits++
	b.waited += d
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// listModels asks for the models; false: there is nobody to ask.
func (b *battery) listModels(ctx context.Context) bool {
	models, err := check.Models(ctx, b.Transport, b.OpenAI)
	b.report.Requests++
	b.models = models
	switch {
	case errors.Is(err, check.ErrNoList):
		b.say(httpModels, Fail, "%v", err)
	case err != nil:
		b.say(httpModels, Fail, "%v", err)
		if exit.Of(err) == exit.Target && strings.Contains(err.Error(), "refuses the credential") || b.report.Model == "" {
			b.ended = err.Error()
			return false
		}
	case len(models) == 0:
		b.say(httpModels, Fail, "an empty list")
	default:
		b.say(httpModels, Pass, "%d listed", len(models))
	}
	switch {
	case b.report.Model != "" || len(models) == 0: // some servers need no name
	case len(models) == 1:
		b.report.Model = models[0].ID
	default:
		b.usage = exit.Hint(exit.Usage, fmt.Errorf("the endpoint has %d models", len(models)), "choose one with --model")
		return false
	}
	if b.report.Model != "" && len(models) > 0 && b.listed() == nil {
		b.say(httpModels, Note, "%s is not among the %d listed", short(b.report.Model, 80), len(models))
	}
	return true
}

// listed is the model's entry in the list, nil if it has none.
func (b *battery) listed() *check.Model {
	for i := range b.models {
		if b.models[i].ID == b.report.Model {
			return &b.models[i]
		}
	}
	return nil
}

// finish judges all replies by the standing rules and writes the report.
func (b *battery) finish() {
	if b.report.Usable && len(b.report.Adapted) == 0 {
		b.say(answerFields, Pass, "accepted")
	}
	b.standing()
	b.report.Seconds = time.Since(b.began).Seconds()
	b.report.Model = b.driver.Hide(b.report.Model)
	for _, rule := range Rules() {
		x, ok := b.results[rule.ID]
		if !ok {
			x = Result{Verdict: NA, Seen: "not reached"}
			if b.ended != "" {
				x.Seen += ": " + b.ended
			}
		}
		x.Seen = b.driver.Hide(x.Seen) // what a server says may hold what it was sent
		x.Rule, x.Expects, x.Sent, x.Source = rule.ID, rule.Expects, rule.Sent, rule.Source
		b.report.Results = append(b.report.Results, x)
		switch x.Verdict {
		case Pass:
			b.report.Pass++
		case Note:
			b.report.Note++
		case Fail:
			b.report.Fail++
		case NA:
			b.report.NA++
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
