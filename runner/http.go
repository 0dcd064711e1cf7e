package runner

import (
	"fmt"
	"strings"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/workload"
)

// HTTP is a server behind a transport as a target: a driver gives calls their
// form and reads the answers.
type HTTP struct {
	Name      string
	Driver    engine.Driver
	Transport wire.Transport
}

// Prepare writes the call's text and encodes its request.
func (h *HTTP) Prepare(c *Call) error {
	ec := &engine.Call{MaxTokens: c.Spec.OutputTokens, Body: c.Spec.Body}
	for _, m := range c.Spec.Messages {
		ec.Messages = append(ec.Messages, engine.Message{Role: m.Role, Content: render(m)})
	}
	req, err := h.Driver.Encode(ec)
	if err != nil {
		return err
	}
	x := &httpCall{target: h, call: c, decoder: h.Driver.Decoder(ec)}
	x.exchange.Reset(req, x)
	c.prepared = x
	return nil
}

// render is a stand-in for workload.Render: about one token a word.
func render(m workload.Message) string {
	if m.Text != "" {
		return m.Text
	}
	var b strings.Builder
	for _, blk := range m.Blocks {
		fmt.Fprintf(&b, "%x", blk.ID)
		for range blk.Tokens - 1 {
			b.WriteString(" word")
		}
	}
	return b.String()
}

// Start sends the prepared request.
func (h *HTTP) Start(c *Call, sink Sink) {
	x := c.prepared.(*httpCall)
	x.sink = sink
	c.Row.Target = h.Name
	h.Transport.Start(&x.exchange)
}

// Cancel ends the exchange.
func (h *HTTP) Cancel(c *Call, why record.Outcome) {
	cause := wire.Cut
	if why == record.Cancelled {
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
func (h *httpCall) Segment(_ *wire.Exchange, s *wire.Segment) { h.decoder.Segment(s) }

// Ended fills the row and hands the call back.
func (h *httpCall) Ended(x *wire.Exchange) {
	a := h.decoder.End(x)
	fillMoments(&h.call.Row, x, a)
	fillResult(&h.call.Row, x, a)
	h.call.Answer = workload.Answer{Text: string(a.Content), Tokens: a.Usage.Completion.N}
	h.sink.Ended(h.call)
}
