package face

import (
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim/core"
)

// Config describes a service.
type Config struct {
	Engine      core.Config // Observer is the service's
	Gate        *core.Gate
	Served      string // model name of the API
	ID          string // of the model on the hub; also accepted
	Seed        uint64
	MeanOutput  float64
	Utilization float64
	Adapters    []string // names of LoRA adapters, as models
	Hidden      int64    // width of the model: the length of an embedding
	// LoadCodec returns the tokenizer. It is called once, after the server
	// has begun to listen; requests with text wait for it.
	LoadCodec func() (Codec, error)
	Log       io.Writer // one JSON line for each ended request; nil: none
	LogTokens bool
	// Emitter, where set, writes the streams.
	Emitter *Emitter
	// Ended, where set, is told of each request that has ended, with the headers
	// it came with, after the answer was written. It must not block.
	Ended func(x *Exchange, h http.Header)
}

// Service owns a core.Engine and answers requests with it.
type Service struct {
	Config
	loop     clock.Loop
	epoch    time.Time
	engine   *core.Engine
	meter    *Meter
	log      requestLog
	language func() (*Language, error)
	loaded   atomic.Bool
	number   atomic.Uint64 // of requests, for ids
	load     atomic.Int64
	inside   atomic.Int64 // requests that wait or run
	busy     sync.RWMutex // read-locked by each request that needs the loop
}

// New returns a service whose engine runs on loop; epoch is the loop's moment 0.
func New(cfg Config, loop clock.Loop, epoch time.Time) (*Service, error) {
	s := &Service{Config: cfg, loop: loop, epoch: epoch, log: requestLog{w: cfg.Log}}
	s.meter = newMeter()
	s.Engine.Observer = s.meter
	of := s.Engine
	of.MaxRequests = 0 // requests are counted here; the core counts sequences
	e, err := core.New(of, loop)
	if err != nil {
		return nil, err
	}
	s.engine = e
	s.meter.engine = e
	s.language = sync.OnceValues(func() (*Language, error) {
		c, err := cfg.LoadCodec()
		if err != nil {
			return nil, err
		}
		l := NewLanguage(c)
		s.loaded.Store(true)
		return l, nil
	})
	return s, nil
}

// Language returns the model's, which it loads where no one has yet.
func (s *Service) Language() (*Language, error) { return s.language() }

// Warm loads the tokenizer.
func (s *Service) Warm() { _, _ = s.language() }

// Ready tells whether the model is loaded.
func (s *Service) Ready() bool { return s.loaded.Load() }

// Stop refuses new requests and returns when none is being answered. The loop
// must run until then.
func (s *Service) Stop() { s.busy.Lock() }

// Kill ends the engine as a process dies; see [core.Engine.Kill]. It belongs to
// the loop.
func (s *Service) Kill(at int64) { s.engine.Kill(at) }

// Started is when the service was made.
func (s *Service) Started() time.Time { return s.epoch }

// Load is the number of requests being answered.
func (s *Service) Load() int64 { return s.load.Load() }

// Is tells whether a request's model is the one that is served; none is.
func (s *Service) Is(model string) bool {
	return model == "" || model == s.Served || model == s.ID || slices.Contains(s.Adapters, model)
}

// adapter is the key of an adapter's answers and KV blocks; 0: of no adapter.
func (s *Service) adapter(model string) uint64 {
	if !slices.Contains(s.Adapters, model) {
		return 0
	}
	return core.Mix(1, saltKey(model))
}

// A Reader reads a request of one API; l is the model's language.
type Reader func(r *http.Request, l *Language) (*Ask, *Problem)

// Handle answers requests that read reads; refuse writes what is wrong with one.
func (s *Service) Handle(read Reader, refuse func(http.ResponseWriter, *Problem)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		arrived := s.loop.Now()
		if !s.busy.TryRLock() {
			refuse(w, &Problem{Kind: Stopping, Message: "the server is shutting down"})
			return
		}
		defer s.busy.RUnlock()
		s.load.Add(1)
		defer s.load.Add(-1)
		x := &Exchange{service: s, requestID: r.Header.Get("X-Request-Id"), arrived: arrived, notify: make(chan struct{}, 1)}
		defer x.leave()
		if problem := x.open(r, read); problem != nil {
			s.meter.refused(problem.Kind)
			rec := statusOf{ResponseWriter: w}
			refuse(&rec, problem)
			s.log.refused(x, rec.status)
			return
		}
		x.begin(r.Context(), w)
		x.submit()
		x.end(x.answer(r.Context(), w))
		if s.Ended != nil {
			s.Ended(x, r.Header)
		}
	}
}

// open reads the request and sets up its sequences.
func (x *Exchange) open(r *http.Request, read Reader) *Problem {
	l, err := x.service.language()
	if err != nil {
		return Failed(err)
	}
	ask, problem := read(r, l)
	if problem == nil {
		problem = x.service.refuse()
	}
	if problem == nil && !x.enter() {
		problem = &Problem{Kind: Overloaded, Message: "too many requests are waiting or running"}
	}
	if problem != nil {
		return problem
	}
	return x.prepare(ask, l)
}

// enter takes a place among the requests that may wait and run, which leave
// gives back, and tells whether there was one.
func (x *Exchange) enter() bool {
	s := x.service
	for n := s.inside.Load(); s.Engine.MaxRequests == 0 || n < s.Engine.MaxRequests; n = s.inside.Load() {
		if s.inside.CompareAndSwap(n, n+1) {
			x.entered = true
			return true
		}
	}
	return false
}

func (x *Exchange) leave() {
	if x.entered {
		x.service.inside.Add(-1)
	}
}

// refuse says no where a fault asks for it.
func (s *Service) refuse() *Problem {
	if s.Gate == nil {
		return nil
	}
	no := s.Gate.Admit()
	if no == nil {
		return nil
	}
	return &Problem{Kind: Injected, Message: "refused on purpose by the simulated engine", Status: no.Status, RetryAfter: no.RetryAfter}
}

// statusOf remembers a response's status.
type statusOf struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status.
func (s *statusOf) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}
