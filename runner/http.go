package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/workload"
	"github.com/tokamak-bench/tokamak/workload/media"
)

// requestIDHeader carries the run's own id of a request.
const requestIDHeader = "X-Request-Id"

// HTTP is a server behind a transport as a target: a driver gives calls their
// form and reads the answers.
type HTTP struct {
	Name      string // of the target in rows
	Run       string // prefix of request ids
	Driver    engine.Driver
	Transport wire.Transport
	Texts     *Texts // writes specified texts
	// Counter counts the tokens of prompts and answers; nil: they are not counted.
	Counter token.Tokenizer
	// Own says that Counter is the model's own tokenizer, so that it may say
	// how many tokens a chunk holds.
	Own bool
	// Prompts counts whole prompts, with what a chat template adds; nil: only
	// the texts in them are counted.
	Prompts     Prompts
	SaveOutputs bool
	// Reasoning says that requests are told whether to reason.
	Reasoning bool

	room *headroom // nil: as many connections as requests
}

// Prepare writes the call's text and encodes its request.
func (h *HTTP) Prepare(c *Call) error {
	ec := &engine.Call{MaxTokens: c.Spec.OutputTokens, Links: c.Spec.Links(), Open: c.Spec.Open, TraceID: c.Row.TraceID}
	if h.Reasoning && c.Spec.Reasons {
		ec.Reasons = new(c.Spec.Reasoning > 0)
		c.Row.ReasoningAsked = record.Some(c.Spec.Reasoning)
	}
	content := int64(0)
	if c.Spec.Body != nil {
		var err error
		if ec.Body, err = c.Spec.Complete(); err != nil {
			return err
		}
		c.Row.Media.Bytes = some(heldBytes(c.Spec.Held))
	} else {
		messages, counted, err := h.Texts.Render(c.Spec)
		if err != nil {
			return err
		}
		content = counted
		bytes := int64(0)
		for _, m := range messages {
			files := attached(m.Media)
			for i := range files {
				bytes += int64(len(files[i].Data))
			}
			ec.Messages = append(ec.Messages, engine.Message{Role: m.Role, Content: m.Text, Media: files})
		}
		c.Row.Media.Bytes = some(bytes)
		tokens := int64(0)
		if ec.Tools, tokens, err = h.Texts.Tools(c.Spec); err != nil {
			return err
		}
		c.Row.ToolsCounted = some(tokens)
	}
	req, err := h.Driver.Encode(ec)
	if err != nil {
		return err
	}
	h.countPrompt(&c.Row, req.Body, content)
	req.Header = slices.Clone(req.Header) // Start sets the request id in it
	x := &httpCall{target: h, call: c, decoder: h.Driver.Decoder(ec)}
	x.exchange.Reset(req, x)
	c.prepared = x
	return nil
}

// heldBytes is how much content a body holds beside text.
func heldBytes(held []media.Recorded) (n int64) {
	for i := range held {
		n += held[i].Bytes
	}
	return n
}

// attached are a message's files in the driver's terms.
func attached(list []media.File) []engine.Media {
	if len(list) == 0 {
		return nil
	}
	out := make([]engine.Media, len(list))
	for i, f := range list {
		out[i] = engine.Media{Kind: engine.Image, Format: f.Format, Data: f.Data, URL: f.URL}
		switch f.Kind {
		case media.Sound:
			out[i].Kind = engine.Audio
		case media.Film:
			out[i].Kind = engine.Video
		}
	}
	return out
}

// Start sends the prepared request.
func (h *HTTP) Start(c *Call, sink Sink) {
	x := c.prepared.(*httpCall)
	x.sink = sink
	c.Row.Target = h.Name
	setField(x.exchange.Request, requestIDHeader, RequestID(h.Run, &c.Row))
	h.room.started()
	h.Transport.Start(&x.exchange)
}

// setField gives a header field its value; the request is the call's own.
func setField(r *wire.Request, name, value string) {
	for i := range r.Header {
		if r.Header[i].Name == name {
			r.Header[i].Value = value
			return
		}
	}
	r.Header = append(r.Header, wire.Field{Name: name, Value: value})
}

// Cancel ends the exchange.
func (h *HTTP) Cancel(c *Call, why record.Outcome) {
	cause := wire.Cut
	if why == record.Abandoned {
		cause = wire.Cancelled
	}
	h.Transport.Cancel(&c.prepared.(*httpCall).exchange, cause)
}

type httpCall struct {
	target   *HTTP
	call     *Call
	sink     Sink
	exchange wire.Exchange
	decoder  engine.Decoder
}

// Segment decodes the next events.
func (h *httpCall) Segment(x *wire.Exchange, s *wire.Segment) {
	h.decoder.Segment(s)
	if b, ok := h.decoder.(engine.Bounded); ok && b.Full() {
		h.target.Transport.Cancel(x, wire.TooLong)
	}
}

// Ended fills the row and hands the call back.
func (h *httpCall) Ended(x *wire.Exchange) {
	h.target.room.ended()
	a := h.decoder.End(x)
	row := &h.call.Row
	fillResult(row, x, a)
	h.countTokens(row, a, x.Cause == wire.Completed)
	fillMoments(row, x, a)
	if len(a.Content) > 0 {
		sum := sha256.Sum256(a.Content)
		row.OutputSHA256 = hex.EncodeToString(sum[:])
	}
	if h.target.SaveOutputs {
		row.Output = a.Content
	}
	h.call.Answer = workload.Answer{Text: string(a.Text(0)), Tokens: a.Usage.Completion.N, Reasoning: reasoningIn(a)}
	if a.RefusedField != "" {
		if adapter, ok := h.target.Driver.(engine.Adapter); ok {
			h.call.Again = adapter.Refuse(a.RefusedField)
		}
	}
	h.sink.Ended(h.call)
}

// reasoningIn is how many of an answer's tokens are reasoning: as the usage
// says, else, also where it says none, as those of its chunks are known.
func reasoningIn(a *engine.Answer) (n int64) {
	if a.Usage.Reasoning.N > 0 {
		return a.Usage.Reasoning.N
	}
	for i, tokens := range a.Chunks.Tokens {
		if a.Chunks.Kind[i] == engine.Reasoning {
			n += int64(tokens)
		}
	}
	return n
}

// countTokens counts the answer and says how many tokens each chunk holds.
func (h *httpCall) countTokens(row *record.Attempt, a *engine.Answer, whole bool) {
	if h.target.Counter != nil && len(a.Content) > 0 {
		if n, err := h.target.Counter.Count(string(a.Content)); err == nil {
			row.OutputCounted = record.Some(int64(n))
		}
	}
	if n, ok := row.OutputCounted.Get(); ok && whole && h.target.Own {
		if note := openai.UnlikeCount(a, n); note != "" {
			row.Notes = append(row.Notes, note)
		}
	}
	var own token.Codec
	if h.target.Own {
		own, _ = h.target.Counter.(token.Codec)
	}
	a.Chunks.Tokens, row.TokenSource = engine.ChunkTokens(a, own)
}
