package spans

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokamak-bench/tokamak/sim/face"
)

const (
	queued    = 8192 // spans that may wait; more are dropped
	batch     = 512  // spans of a post
	linger    = time.Second
	attempts  = 4
	postLimit = 10 * time.Second
)

// Exporter posts spans to a collector. Its methods may be called from any
// goroutine; Ended never waits.
type Exporter struct {
	url     string
	service string
	client  *http.Client
	queue   chan span
	quit    chan struct{} // no more spans come
	done    chan struct{}
	closing sync.Once
	cancel  context.CancelFunc

	sent, lost atomic.Int64
	problem    atomic.Pointer[string] // of the last post that failed
}

// New returns an exporter to an OTLP/HTTP endpoint such as
// http://127.0.0.1:4318; without a path, /v1/traces is meant. service is the
// service.name of the spans. Close ends it.
func New(endpoint, service string) (*Exporter, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("expected an OTLP/HTTP endpoint, as http://127.0.0.1:4318")
	}
	if u.User != nil {
		return nil, errors.New("the endpoint must not carry a user or password")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/traces"
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &Exporter{url: u.String(), service: service, client: &http.Client{Transport: &http.Transport{MaxIdleConns: 1, IdleConnTimeout: time.Minute}},
		queue: make(chan span, queued), quit: make(chan struct{}), done: make(chan struct{}), cancel: cancel}
	go e.run(ctx)
	return e, nil
}

// Ended queues the spans of a request; where the queue is full they are lost
// and counted.
func (e *Exporter) Ended(x *face.Exchange, h http.Header) {
	for _, s := range of(x, h) {
		e.put(s)
	}
}

func (e *Exporter) put(s span) {
	select {
	case e.queue <- s:
	default:
		e.lost.Add(1)
	}
}

// Close posts what is queued, until ctx is done at the latest. Spans that are
// lost make an error that says how many and the last reason.
func (e *Exporter) Close(ctx context.Context) error {
	e.closing.Do(func() { close(e.quit) })
	select {
	case <-e.done:
	case <-ctx.Done():
		e.cancel()
		<-e.done
	}
	e.client.CloseIdleConnections()
	e.cancel()
	if n := e.lost.Load(); n > 0 {
		why := "the queue was full"
		if p := e.problem.Load(); p != nil {
			why = *p
		}
		return fmt.Errorf("%d of %d spans could not be exported: %s", n, n+e.sent.Load(), why)
	}
	return nil
}

func (e *Exporter) run(ctx context.Context) {
	defer close(e.done)
	var list []span
	for {
		list = e.collect(list[:0])
		if len(list) == 0 {
			return
		}
		if err := e.post(ctx, list); err != nil {
			e.lost.Add(int64(len(list)))
			why := err.Error()
			e.problem.Store(&why)
			continue
		}
		e.sent.Add(int64(len(list)))
	}
}

// collect waits for a first span and takes what comes within the time after it;
// nothing means the end.
func (e *Exporter) collect(list []span) []span {
	select {
	case s := <-e.queue:
		list = append(list, s)
	case <-e.quit:
		return e.rest(list)
	}
	wait := time.NewTimer(linger)
	defer wait.Stop()
	for len(list) < batch {
		select {
		case s := <-e.queue:
			list = append(list, s)
		case <-wait.C:
			return list
		case <-e.quit:
			return e.rest(list)
		}
	}
	return list
}

// rest takes what is queued already.
func (e *Exporter) rest(list []span) []span {
	for len(list) < batch {
		select {
		case s := <-e.queue:
			list = append(list, s)
		default:
			return list
		}
	}
	return list
}

// post sends a batch, again where the collector asks for it.
func (e *Exporter) post(ctx context.Context, list []span) error {
	body, err := json.Marshal(e.message(list))
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		again, err := e.try(ctx, body)
		if err == nil || !again || n == attempts || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond << n):
		case <-e.quit: // no time left to be patient
		case <-ctx.Done():
		}
	}
}

func (e *Exporter) try(ctx context.Context, body []byte) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, postLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := e.client.Do(r)
	if err != nil {
		return true, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, fmt.Errorf("the collector answered %s", resp.Status)
	}
	return false, fmt.Errorf("the collector answered %s", resp.Status)
}

type message struct {
	Resources []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource struct {
		Attributes []attribute `json:"attributes"`
	} `json:"resource"`
	Scopes []scopeSpans `json:"scopeSpans"`
}

type scopeSpans struct {
	Scope struct {
		Name string `json:"name"`
	} `json:"scope"`
	Spans []span `json:"spans"`
}

func (e *Exporter) message(list []span) message {
	var r resourceSpans
	r.Resource.Attributes = []attribute{{"service.name", text(e.service)}}
	var s scopeSpans
	s.Scope.Name, s.Spans = "vllm.llm_engine", list
	r.Scopes = []scopeSpans{s}
	return message{[]resourceSpans{r}}
}
