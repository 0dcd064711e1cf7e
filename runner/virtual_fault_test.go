package runner_test

import (
	"context"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/runner"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/sim/fault"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/workload"
)

// seen is what a client sees of a fault.
type seen struct {
	outcome record.Outcome
	class   string
	note    string
	output  int64 // tokens of the usage; 0: no usage
	chunks  int   // content chunks received
	status  int64
	retry   int64 // ns
}

// The clients' view of each fault of single requests, for 8 tokens asked.
var clients = map[string]seen{
	"usage_wrong:by=5":         {outcome: record.OK, note: "over_max_tokens", output: 13, chunks: 8, status: 200},
	"usage_missing":            {outcome: record.OK, note: "usage_missing", chunks: 8, status: 200},
	"chunk_missing":            {outcome: record.OK, output: 8, chunks: 7, status: 200},
	"chunk_duplicate:chunk=1":  {outcome: record.OK, note: "usage_below_chunks", output: 8, chunks: 9, status: 200},
	"chunk_reorder:chunk=3":    {outcome: record.OK, output: 8, chunks: 8, status: 200},
	"no_end":                   {outcome: record.StreamBroken, class: "no_terminator", output: 8, chunks: 8, status: 200},
	"split_utf8":               {outcome: record.OK, note: "split_utf8", output: 8, chunks: 8, status: 200},
	"error_after_200:after=3":  {outcome: record.StreamError, class: "error_event", chunks: 3, status: 200},
	"cut:after=3":              {outcome: record.StreamBroken, class: "reset_in_response", chunks: 3, status: 200},
	"ignore_max_tokens":        {outcome: record.OK, note: "over_max_tokens", output: 16, chunks: 16, status: 200},
	"ignore_stop":              {outcome: record.OK, output: 8, chunks: 8, status: 200},
	"garbage":                  {outcome: record.OK, output: 8, chunks: 8, status: 200},
	"buffered":                 {outcome: record.OK, note: "buffered", output: 8, chunks: 8, status: 200},
	"refuse":                   {outcome: record.Rejected, class: "rate_limited", status: 429},
	"refuse:retry_after=2":     {outcome: record.Rejected, class: "rate_limited", status: 429, retry: 2e9},
	"refuse:status=500":        {outcome: record.HTTPError, class: "server_error", status: 500},
	"truncate_prompt:keep=0.5": {outcome: record.OK, output: 8, chunks: 8, status: 200},
	"unstable":                 {outcome: record.OK, output: 8, chunks: 8, status: 200},
	"cache_poison":             {outcome: record.OK, output: 8, chunks: 8, status: 200},
	"rate_limit":               {outcome: record.OK, output: 8, chunks: 8, status: 200},
	"ignore_n":                 {outcome: record.OK, output: 8, chunks: 8, status: 200},
	"loading:time=100":         {outcome: record.Rejected, class: "overloaded", status: 503},
}

func look(a *record.Attempt) seen {
	s := seen{outcome: a.Outcome, class: a.ErrorClass, output: a.OutputUsage.Or(0), chunks: a.Chunks.Len(), status: a.HTTPStatus.Or(0), retry: a.RetryAfter.Or(0)}
	if len(a.Notes) > 0 {
		s.note = a.Notes[0]
	}
	return s
}

const small = "sim://llama3-8b@h100?max_model_len=1000&num_gpu_blocks=200"

// TestFaultsOfTheEngine sends a request into every fault of single requests,
// over the real transport and in virtual time.
func TestFaultsOfTheEngine(t *testing.T) {
	for _, d := range fault.Table() {
		found := d.Kind != fault.OnRequest
		for name := range clients {
			found = found || name == d.Name || strings.HasPrefix(name, d.Name+":")
		}
		if !found {
			t.Errorf("no test of %s", d.Name)
		}
	}
	for name, want := range clients {
		t.Run(name, func(t *testing.T) {
			target := small + "&fault=" + url.QueryEscape(name)
			served := serveEngine(t, target)
			got := served.ask(t)
			if want.note != "buffered" { // a client that was not scheduled meanwhile sees all chunks at once
				got.Notes = slices.DeleteFunc(got.Notes, func(n string) bool { return n == "buffered" })
			}
			if look(&got) != want {
				t.Errorf("served: %+v, %s %v; want %+v", look(&got), got.ErrorText, got.Notes, want)
			}
			virtual := inVirtualTime(t, target)
			if l := look(&virtual); l != want {
				t.Errorf("virtual: %+v, want %+v", l, want)
			}
		})
	}
}

// servedEngine is a served engine and a client of it.
type servedEngine struct {
	driver    *openai.Driver
	transport wire.Transport
}

func serveEngine(t *testing.T, target string, header ...wire.Field) *servedEngine {
	t.Helper()
	o, err := sim.ParseTarget(target)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- sim.Serve(ctx, l, o, sim.ServeOptions{}) }()
	c := clock.NewReal()
	tr := wire.NewNetHTTP(wire.Config{Clock: c})
	t.Cleanup(func() {
		tr.Close()
		c.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	base := &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/v1"}
	driver, err := openai.New(openai.APIChat, openai.Options{Base: base, Model: "llama3-8b", Header: header})
	if err != nil {
		t.Fatal(err)
	}
	return &servedEngine{driver: driver, transport: tr}
}

func (s *servedEngine) ask(t *testing.T) record.Attempt {
	t.Helper()
	target := &runner.HTTP{Name: "sim", Driver: s.driver, Transport: s.transport}
	call := &runner.Call{Spec: &workload.Request{OutputTokens: 8, Body: []byte(`{"messages":[{"role":"user","content":"one two three four"}],"max_tokens":8,"ignore_eos":true}`)}}
	if err := target.Prepare(call); err != nil {
		t.Fatal(err)
	}
	sink := make(rows, 1)
	target.Start(call, sink)
	select {
	case c := <-sink:
		return c.Row
	case <-time.After(30 * time.Second):
		t.Fatal("never ended")
	}
	panic("not reached")
}

func inVirtualTime(t *testing.T, target string) record.Attempt {
	t.Helper()
	v, c := newVirtual(t, target)
	sink := make(rows, 1)
	v.Start(&runner.Call{Spec: &workload.Request{OutputTokens: 8, InputTokens: 4, Messages: []workload.Message{{Blocks: []workload.Block{{ID: 1, Tokens: 4}}}}}}, sink)
	c.Wait(1e12)
	return (<-sink).Row
}

func newVirtual(t *testing.T, target string) (*runner.Virtual, *clock.Virtual) {
	t.Helper()
	o, err := sim.ParseTarget(target)
	if err != nil {
		t.Fatal(err)
	}
	c := clock.NewVirtual(time.Unix(0, 0))
	v, err := runner.NewVirtual(o, c)
	if err != nil {
		t.Fatal(err)
	}
	return v, c
}

// TestFaultByHeader asks for a fault of one request alone.
func TestFaultByHeader(t *testing.T) {
	s := serveEngine(t, small, wire.Field{Name: fault.Header, Value: "usage_wrong:by=5; split-utf8"})
	got := s.ask(t)
	if want := (seen{outcome: record.OK, note: "split_utf8", output: 13, chunks: 8, status: 200}); look(&got) != want {
		t.Errorf("%+v, want %+v", look(&got), want)
	}
	s = serveEngine(t, small, wire.Field{Name: fault.Header, Value: "nonsense"})
	if got := s.ask(t); got.HTTPStatus.Or(0) != 400 || !strings.Contains(got.ErrorText, "unknown fault") {
		t.Errorf("%+v", got.Result)
	}
}

// TestFaultByHeaderInVirtualTime asks for it by the scenario's header fields:
// the row is that of a served engine, a field that is wrong ends the command, and what virtual
// time cannot show is told.
func TestFaultByHeaderInVirtualTime(t *testing.T) {
	v, c := newVirtual(t, small)
	v.FaultField = "usage_wrong:by=5; split-utf8"
	sink := make(rows, 1)
	v.Start(&runner.Call{Spec: &workload.Request{OutputTokens: 8, InputTokens: 4, Messages: []workload.Message{{Blocks: []workload.Block{{ID: 1, Tokens: 4}}}}}}, sink)
	c.Wait(1e12)
	row := (<-sink).Row
	if want := (seen{outcome: record.OK, note: "over_max_tokens", output: 13, chunks: 8, status: 200}); look(&row) != want || !slices.Contains(row.Notes, "split_utf8") {
		t.Errorf("%+v %v, want %+v", look(&row), row.Notes, want)
	}
	v.FaultField = "leak" // not of single requests
	v.Start(&runner.Call{Spec: &workload.Request{OutputTokens: 8, Messages: []workload.Message{{Blocks: []workload.Block{{ID: 1, Tokens: 4}}}}}}, sink)
	if row := (<-sink).Row; row.HTTPStatus.Or(0) != 400 || !strings.Contains(row.ErrorText, "not one of single requests") {
		t.Errorf("%+v", row.Result)
	}

	run := func(url, header string) ([]string, error) {
		yes, none, one := true, "none", "1"
		s, err := scenario.Read("", scenario.Flags{URL: []string{url}, Virtual: &yes, Out: &none, Requests: &one, Header: []string{header}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := runner.New(t.Context(), s, runner.Options{})
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return r.Plan().Notices, nil
	}
	notices, err := run(small+"&fault=garbage", "x-sim-fault: ignore_n; usage_wrong")
	if got := strings.Join(notices, "\n"); err != nil || !strings.Contains(got, "the fault ignore_n shows nothing") || !strings.Contains(got, "the fault garbage shows nothing") || strings.Contains(got, "usage_wrong") {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := run(small, "X-Sim-Fault: nonsense"); err == nil || !strings.Contains(err.Error(), "unknown fault") || exit.Of(err) != exit.Usage {
		t.Errorf("%v", err)
	}
}

// TestRateLimit has a bucket of one request, full again after a second.
func TestRateLimit(t *testing.T) {
	v, c := newVirtual(t, small+"&fault=rate_limit:rpm%3D60,burst%3D1")
	var got []seen
	var fields []string
	for i, at := range []int64{0, 400e6, 1500e6} {
		c.Wait(at)
		sink := make(rows, 1)
		v.Start(&runner.Call{Spec: &workload.Request{OutputTokens: 1, Messages: []workload.Message{{Blocks: []workload.Block{{ID: uint64(i), Tokens: 4}}}}}}, sink)
		c.Wait(at + 300e6)
		row := (<-sink).Row
		got, fields = append(got, look(&row)), row.RateLimit
	}
	one := seen{outcome: record.OK, output: 1, chunks: 1, status: 200}
	if want := []seen{one, {outcome: record.Rejected, class: "rate_limited", status: 429, retry: 1e9}, one}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if want := []string{"x-ratelimit-limit-requests=60", "x-ratelimit-remaining-requests=0", "x-ratelimit-reset-requests=1s"}; !slices.Equal(fields, want) {
		t.Errorf("%v, want %v", fields, want)
	}
}

// TestDeathAndRestart has an engine die, be away and live again.
func TestDeathAndRestart(t *testing.T) {
	v, c := newVirtual(t, small+"&fault=crash:at%3D1s,restart%3D2s")
	var got []seen
	for i, at := range []int64{0, 999e6, 2000e6, 3500e6} {
		c.Wait(at)
		sink := make(rows, 1)
		v.Start(&runner.Call{Spec: &workload.Request{OutputTokens: 20, Messages: []workload.Message{{Blocks: []workload.Block{{ID: uint64(i), Tokens: 4}}}}}}, sink)
		c.Wait(at + 480e6)
		row := (<-sink).Row
		s := look(&row)
		s.chunks = 0
		got = append(got, s)
	}
	ok := seen{outcome: record.OK, output: 20, status: 200}
	want := []seen{ok, {outcome: record.TransportError, class: "reset_before_response"}, {outcome: record.TransportError, class: "refused"}, ok}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if n := v.Engine.State().Counts.OutputTokens; n != 20 {
		t.Errorf("the new life has counted %d tokens", n)
	}
	// Under a stream.
	v, c = newVirtual(t, small+"&fault=crash:at%3D100ms,restart%3D0")
	sink := make(rows, 1)
	v.Start(&runner.Call{Spec: &workload.Request{OutputTokens: 900, Messages: []workload.Message{{Blocks: []workload.Block{{ID: 1, Tokens: 4}}}}}}, sink)
	c.Wait(1e12)
	row := (<-sink).Row
	if s := look(&row); s.outcome != record.StreamBroken || s.class != "reset_in_response" || s.chunks < 5 || row.Moments.Ended.Or(0) != 100e6 {
		t.Errorf("%+v", s)
	}
}
