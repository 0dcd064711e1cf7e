package runner

import (
	"net/url"
	"testing"

	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/workload"
)

// early ends each exchange before Start returns, as a transport on another
// thread may.
type early struct{ cancelled int }

func (e *early) Start(x *wire.Exchange) {
	x.Cause = wire.Refused
	x.Sink.Ended(x)
}
func (e *early) Cancel(*wire.Exchange, wire.Cause) { e.cancelled++ }
func (e *early) Close()                            {}

type endedCalls []*Call

func (s *endedCalls) Ended(c *Call) { *s = append(*s, c) }

// TestCancelAfterTheEnd: the loop may cut a call that has ended and is not
// taken yet.
func TestCancelAfterTheEnd(t *testing.T) {
	d, err := openai.New(openai.APIChat, openai.Options{Base: &url.URL{Scheme: "http", Host: "127.0.0.1:1"}, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	transport := &early{}
	h := &HTTP{Driver: d, Transport: transport}
	c := &Call{Spec: &workload.Request{Body: []byte(`{}`)}}
	if err := h.Prepare(c); err != nil {
		t.Fatal(err)
	}
	var ended endedCalls
	h.Start(c, &ended)
	h.Cancel(c, record.Cut)
	if len(ended) != 1 || transport.cancelled != 1 || c.Row.Outcome != record.TransportError {
		t.Errorf("%d ended, %d cancelled, outcome %s", len(ended), transport.cancelled, c.Row.Outcome)
	}
}
