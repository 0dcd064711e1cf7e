package openai

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/wire/wiretest"
)

// exchange decodes a response that a transport brings.
type exchange struct {
	dec  engine.Decoder
	done chan *engine.Answer
}

func (e *exchange) Segment(_ *wire.Exchange, s *wire.Segment) { e.dec.Segment(s) }
func (e *exchange) Ended(x *wire.Exchange)                    { e.done <- e.dec.End(x) }

// TestFaults drives the fault server: each answer is told for what it is.
func TestFaults(t *testing.T) {
	server := wiretest.NewFaultServer(t)
	for _, f := range server.Faults {
		if f.Cause != wire.Completed || f.Warmups > 0 {
			continue // the transport's own affair
		}
		t.Run(f.Name, func(t *testing.T) {
			tr := wire.NewNetHTTP(wire.Config{Clock: clock.NewPortable()})
			defer tr.Close()
			base, err := url.Parse(f.URL)
			if err != nil {
				t.Fatal(err)
			}
			f.Limits.Total = 30 * time.Second
			d, err := New(APIChat, Options{Base: base, Model: "fault-model", Limits: f.Limits})
			if err != nil {
				t.Fatal(err)
			}
			c := &engine.Call{MaxTokens: 4, Messages: hi().Messages}
			req, err := d.Encode(c)
			if err != nil {
				t.Fatal(err)
			}
			e := &exchange{d.Decoder(c), make(chan *engine.Answer, 1)}
			var x wire.Exchange
			x.Reset(req, e)
			tr.Start(&x)
			a := <-e.done
			outcome := map[engine.Failure]string{engine.Whole: "ok", engine.Rejected: "rejected", engine.BadStatus: "http_error",
				engine.ErrorEvent: "stream_error", engine.Broken: "stream_broken"}[a.Failure]
			if outcome != f.Outcome || a.ErrorClass != f.ErrorClass {
				t.Errorf("%s, %q (%s), want %s, %q", outcome, a.ErrorClass, a.ErrorText, f.Outcome, f.ErrorClass)
			}
			for _, v := range f.Violations {
				if !slices.Contains(a.Violations, v) {
					t.Errorf("violations %v lack %s", a.Violations, v)
				}
			}
			for _, n := range f.Notes {
				if !slices.Contains(a.Notes, n) {
					t.Errorf("notes %v lack %s", a.Notes, n)
				}
			}
			if f.Outcome == "ok" && len(f.Notes) == 0 && len(a.Notes) > 0 {
				t.Errorf("notes %v", a.Notes)
			}
		})
	}
}
