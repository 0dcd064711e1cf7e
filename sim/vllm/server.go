package vllm

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// Codec gives and takes token ids.
type Codec interface {
	Encode(ids []uint32, text string) ([]uint32, error)
}

// Config describes a server.
type Config struct {
	Engine      core.Config // Observer is the server's
	Gate        *core.Gate
	Served      string // model name of the API
	ID          string // of the model on the hub; also accepted
	Seed        uint64
	MeanOutput  float64
	Utilization float64
	// LoadCodec returns the tokenizer. It is called once, after the server
	// has begun to listen; requests with text wait for it.
	LoadCodec func() (Codec, error)
	Log       io.Writer // one JSON line for each ended request; nil: none
	LogTokens bool
}

// Server is the face. It owns a core.Engine.
type Server struct {
	cfg      Config
	loop     clock.Loop
	epoch    time.Time
	engine   *core.Engine
	metrics  *metrics
	log      requestLog
	language func() (*language, error)
	number   atomic.Uint64 // of requests, for ids
	load     atomic.Int64
	busy     sync.RWMutex // read-locked by each request that needs the loop
}

// language is what turns text into tokens and back.
type language struct {
	codec   Codec
	answers *text.Answers
}

// New returns a server whose engine runs on loop; epoch is the loop's moment 0.
func New(cfg Config, loop clock.Loop, epoch time.Time) (*Server, error) {
	s := &Server{cfg: cfg, loop: loop, epoch: epoch, log: requestLog{w: cfg.Log, tokens: cfg.LogTokens}}
	s.metrics = newMetrics(&s.cfg)
	cfg.Engine.Observer = s.metrics
	e, err := core.New(cfg.Engine, loop)
	if err != nil {
		return nil, err
	}
	s.engine = e
	s.metrics.engine = e
	s.language = sync.OnceValues(func() (*language, error) {
		c, err := cfg.LoadCodec()
		if err != nil {
			return nil, err
		}
		word := func(w string) uint32 {
			ids, err := c.Encode(nil, w)
			if err != nil || len(ids) == 0 {
				return 0
			}
			return ids[0]
		}
		return &language{codec: c, answers: text.NewAnswers(word)}, nil
	})
	return s, nil
}

// Warm loads the tokenizer.
func (s *Server) Warm() { _, _ = s.language() }

// Stop refuses new requests and returns when none is being answered. The loop
// must run until then.
func (s *Server) Stop() { s.busy.Lock() }

// Handler returns the server's routes.
func (s *Server) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, chatAPI) })
	m.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) { s.complete(w, r, completionAPI) })
	m.HandleFunc("GET /v1/models", s.models)
	m.HandleFunc("POST /tokenize", s.tokenize)
	m.HandleFunc("GET /version", s.version)
	m.HandleFunc("GET /load", s.serverLoad)
	for _, p := range []string{"GET /health", "GET /ping", "POST /ping"} {
		m.HandleFunc(p, func(http.ResponseWriter, *http.Request) {})
	}
	m.Handle("GET /metrics", s.metrics.handler())
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		_, pattern := m.Handler(&http.Request{Method: other(r.Method), URL: r.URL, Host: r.Host})
		if pattern != "/" {
			writeDetail(w, http.StatusMethodNotAllowed, "Method Not Allowed")
			return
		}
		writeDetail(w, http.StatusNotFound, "Not Found")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id := r.Header.Get("X-Request-Id"); id != "" {
			w.Header().Set("X-Request-Id", id)
		}
		m.ServeHTTP(w, r)
	})
}

// other is a method that a route may have where this one is not allowed.
func other(method string) string {
	if method == http.MethodPost {
		return http.MethodGet
	}
	return http.MethodPost
}

// complete answers one request of either API.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, a api) {
	arrived := s.loop.Now()
	if !s.busy.TryRLock() {
		(&apiError{Message: "the server is shutting down", Type: "ServiceUnavailableError", Code: http.StatusServiceUnavailable}).write(w)
		return
	}
	defer s.busy.RUnlock()
	s.load.Add(1)
	defer s.load.Add(-1)
	q, problem := s.read(r, a)
	if problem == nil {
		problem = s.refuse()
	}
	x := &exchange{server: s, api: a, query: q, requestID: r.Header.Get("X-Request-Id"), arrived: arrived, notify: make(chan struct{}, 1)}
	if problem == nil {
		problem = x.prepare()
	}
	if problem != nil {
		s.log.refused(x, problem.Code)
		problem.write(w)
		return
	}
	x.submit()
	err := x.answer(r.Context(), w)
	x.end(err)
}

// refuse says no where a fault asks for it.
func (s *Server) refuse() *apiError {
	if s.cfg.Gate == nil {
		return nil
	}
	no := s.cfg.Gate.Admit()
	if no == nil {
		return nil
	}
	e := &apiError{Message: "refused on purpose by the simulated engine", Type: "InternalServerError", Code: no.Status, retryAfter: no.RetryAfter}
	if no.Status == http.StatusTooManyRequests {
		e.Type = "TooManyRequests"
	}
	return e
}
