package check

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/wire"
)

// Options say what to look at, and through what.
type Options struct {
	Transport wire.Transport
	API       string         // openai-chat (default) or openai-completions
	OpenAI    openai.Options // Base is needed; Model empty: the server's only one
	// All bounds the whole look (default 90 s). Each request is bounded by the
	// limits of OpenAI (a total of a minute where they have none).
	All time.Duration
	// Asking, where set, is told of each question before it is asked.
	Asking func(what string)
}

const (
	outputTokens = 16
	promptWords  = 160
	defaultLimit = time.Minute
	defaultAll   = 90 * time.Second
	mostEvents   = 4096 // that a stream of a few tokens may have
	maxAdaptions = 4    // requests that may be sent again without a refused field
	cappedTokens = 2    // asked for with max_completion_tokens
	cappedEvents = 24   // after so many events it is clear that the cap is ignored
	burstShare   = 0.01 // of the wait for the first chunk: no engine makes 16 tokens in less
)

// checker is one look at a target.
type checker struct {
	Options
	r      *Report
	driver *openai.Driver
	header []wire.Field // of the first whole answer, to tell the engine
	owner  string
}

// Run looks at a target. An error means that nothing could be asked, because
// of bad options; or the end of ctx, which comes with the report of what was seen
// until then. What is wrong with the target stands in the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.API == "" {
		o.API = openai.APIChat
	}
	if o.All == 0 {
		o.All = defaultAll
	}
	if o.Asking == nil {
		o.Asking = func(string) {}
	}
	if o.OpenAI.Limits == (wire.Limits{}) {
		o.OpenAI.Limits = wire.Limits{Connect: 10 * time.Second, Total: defaultLimit}
	}
	d, err := openai.New(o.API, o.OpenAI)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	u := d.URL()
	u.RawQuery = ""
	c := &checker{Options: o, driver: d, r: &Report{URL: u.String(), API: o.API, Model: o.OpenAI.Model}}
	looking, cancel := context.WithTimeout(ctx, o.All)
	defer cancel()
	c.look(looking)
	c.r.finish(looking.Err() != nil)
	c.hide()
	if ctx.Err() != nil {
		return c.r, exit.With(exit.Interrupted, ctx.Err())
	}
	return c.r, nil
}

func (c *checker) look(ctx context.Context) {
	if !c.models(ctx) {
		return
	}
	if c.r.Model != c.OpenAI.Model { // found in the list
		c.OpenAI.Model = c.r.Model
		c.driver, _ = openai.New(c.API, c.OpenAI)
	}
	if answer := c.stream(ctx); answer {
		c.lengthField(ctx)
	}
	c.engine(ctx)
}

// models asks for the list, which also shows connection and credential. It
// returns false where nothing more can be asked.
func (c *checker) models(ctx context.Context) bool {
	u, err := openai.ModelsURL(c.OpenAI.Base.String())
	if err != nil {
		return false
	}
	c.r.Requests++
	c.Asking("the list of models")
	models, r, err := listModels(ctx, c.Transport, c.driver, u)
	if r.x.Cause != wire.Completed && r.x.Status == 0 {
		c.r.add(lineConnection, Fail, connectionHint(r, u), "%s", r.cause())
		return false
	}
	c.connection(&r.x)
	c.header, c.r.Models = r.x.Header, models
	if len(models) > 0 {
		c.owner = models[0].OwnedBy
	}
	if s := r.x.Status; s == 401 || s == 403 {
		c.refused(s)
		return false
	}
	return c.chooseModel(models, err)
}

func (c *checker) refused(status int) {
	what := "no credential given"
	if h := c.driver.Credential(); h != "" {
		what = "credential in " + h
	}
	c.r.add(lineAuth, Fail, credentialHint, "%s: refused with %d", what, status)
}

func (c *checker) connection(x *wire.Exchange) {
	took := "reused"
	if x.ConnReady != wire.NotReached && x.ConnStart != wire.NotReached && !x.ConnReused {
		took = "opened in " + short(x.ConnReady-x.ConnStart)
	}
	form := "plain"
	if x.Request.URL.Scheme == "https" {
		form = "TLS"
	}
	c.r.add(lineConnection, OK, "", "%s, %s, %s", x.Protocol, form, took)
}

func connectionHint(r *reply, u *url.URL) string {
	switch r.x.Cause {
	case wire.TLSFailed:
		if _, ok := errors.AsType[tls.RecordHeaderError](r.x.Err); ok {
			return "the port speaks no TLS: should the URL begin with http://?"
		}
		return "the certificate may need --ca FILE; --insecure leaves it unchecked"
	case wire.Refused, wire.TimeoutConnect:
		return "is the server up at " + u.Host + "?"
	case wire.BadHead:
		return "is this an HTTP server, and should the URL begin with https://?"
	}
	return ""
}

func (c *checker) chooseModel(models []Model, err error) bool {
	has := false
	for _, m := range models {
		has = has || m.ID == c.r.Model
	}
	n := len(models)
	switch {
	case c.r.Model != "" && has:
		c.r.add(lineModel, OK, "", "%s%s, one of %d", c.r.Model, contextOf(models, c.r.Model), n)
	case c.r.Model != "" && n > 0:
		c.r.add(lineModel, Warn, "", "%s is not in the list: %s", c.r.Model, names(models, 8))
	case c.r.Model != "":
		c.r.add(lineModel, Warn, "", "%s; %s", c.r.Model, listProblem(err))
	case n == 1:
		c.r.Model = models[0].ID
		c.r.add(lineModel, OK, "", "%s%s, the only one", c.r.Model, contextOf(models, c.r.Model))
	case n > 1:
		c.r.add(lineModel, Fail, "choose one with --model", "%d models: %s", n, names(models, 8))
		return false
	default:
		c.r.add(lineModel, Fail, "name it with --model", "%s", listProblem(err))
		return false
	}
	return true
}

func listProblem(err error) string {
	if err == nil {
		return "the server lists no models"
	}
	return err.Error()
}

func contextOf(models []Model, id string) string {
	for _, m := range models {
		if m.ID == id && m.Context > 0 {
			return fmt.Sprintf(" (context %d tokens)", m.Context)
		}
	}
	return ""
}

// prompt is one that no cache knows, long enough to be worth caching.
func prompt() string {
	return rand.Text() + " Count slowly and name a number each time." + strings.Repeat(" number", promptWords)
}

// stream sends the same streamed request twice; it returns false where it was
// not answered.
func (c *checker) stream(ctx context.Context) bool {
	c.Asking(fmt.Sprintf("an answer of %d tokens", outputTokens))
	q := &engine.Call{MaxTokens: outputTokens, Messages: []engine.Message{{Role: "user", Content: prompt()}}}
	r, refused, err := c.adapt(ctx, q)
	if err != nil {
		c.r.add(lineStreaming, Fail, "", "%s", err)
		return false
	}
	if s := r.x.Status; s == 401 || s == 403 {
		c.refused(s)
	}
	if !r.ok() || r.answer.Failure == engine.ErrorEvent {
		c.failed(r)
		return false
	}
	c.auth(ctx)
	if r.answer.Failure == engine.Broken && len(r.answer.Chunks.At) == 0 { // no answer of this API
		c.streaming(r)
		return false
	}
	c.header = append(c.header, r.x.Header...)
	c.streaming(r)
	c.usage(r)
	c.fields(refused)
	c.length(r)
	c.buffering(r)
	c.cached(ctx, q, r)
	return true
}

// adapt sends a call, and again without what the server refuses.
func (c *checker) adapt(ctx context.Context, q *engine.Call) (*reply, []string, error) {
	for try := 0; ; try++ {
		c.r.Requests++
		r, err := call(ctx, c.Transport, c.driver, q, mostEvents)
		if err != nil {
			return nil, nil, err
		}
		if f := r.answer.RefusedField; f == "" || try == maxAdaptions || !c.driver.Refuse(f) {
			return r, c.driver.Adapted(), nil
		}
	}
}

func (c *checker) failed(r *reply) {
	a := r.answer
	switch {
	case r.x.Cause == wire.Cancelled && r.events > mostEvents:
		c.r.add(lineStreaming, Fail, "the limit does not hold: a load test would run away", "%d tokens asked, and after %d events the answer had not ended", outputTokens, r.events)
	case r.x.Cause == wire.Cancelled:
		c.r.add(lineStreaming, Fail, "", "no whole answer when the time for looking was up")
	case r.x.Cause != wire.Completed:
		c.r.add(lineStreaming, Fail, "", "the request failed: %s", r.cause())
	case r.x.Status == 404:
		c.r.add(lineStreaming, Fail, "is the URL's path right, and does the server speak "+c.API+"?", "404 at %s: %s", r.x.Request.URL.Path, a.ErrorText)
	default:
		c.r.add(lineStreaming, Fail, "", "status %d, %s: %s", r.x.Status, a.ErrorClass, a.ErrorText)
	}
}

// auth says of an answered request whether a credential was needed; where one was given, the list is
// asked for without it.
func (c *checker) auth(ctx context.Context) {
	h := c.driver.Credential()
	if h == "" {
		c.r.add(lineAuth, OK, "", "none needed")
		return
	}
	u, err := openai.ModelsURL(c.OpenAI.Base.String())
	if err != nil {
		return
	}
	u.User = nil
	req := c.driver.Get(u)
	kept := req.Header[:0]
	for _, f := range req.Header {
		if !strings.EqualFold(f.Name, h) {
			kept = append(kept, f)
		}
	}
	req.Header = kept
	c.r.Requests++
	bare := send(ctx, c.Transport, req)
	switch s := bare.x.Status; {
	case s == 401 || s == 403:
		c.r.add(lineAuth, OK, "", "credential in %s accepted, and needed", h)
	case bare.ok():
		c.r.add(lineAuth, OK, "", "credential in %s not refused; the list of models comes without it too", h)
	default:
		c.r.add(lineAuth, OK, "", "credential in %s accepted", h)
	}
}

func short(ns int64) string {
	d := time.Duration(ns)
	if d < time.Millisecond {
		return d.Round(time.Microsecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}
