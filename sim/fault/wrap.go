package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// Admin is the path at which faults are listed, added and cleared. It is the
// simulator's own, on the same port, and works under every fault of a living
// process.
const Admin = "/sim/faults"

// Header is the request field that names faults for one request.
const Header = "X-Sim-Fault"

// Wrap puts the faults of requests, of the metrics page and of loading before
// and behind a face, and answers the admin route.
func (s *Set) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == Admin:
			s.admin(w, r)
		case !s.any.Load() && r.Header.Get(Header) == "":
			next.ServeHTTP(w, r)
		case s.refusedLoading(w, r):
		case r.URL.Path == "/metrics":
			s.metrics(w, r, next)
		case r.Method == http.MethodPost && generates(r.URL.Path):
			s.request(w, r, next)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// generates tells whether a path is one that computes answers.
func generates(path string) bool {
	switch path {
	case "/tokenize", "/detokenize", "/ping", "/api/show":
		return false
	}
	return true
}

func (s *Set) refusedLoading(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	left := s.loading(s.loop.Now())
	s.mu.Unlock()
	if left <= 0 {
		return false
	}
	s.refuse(w, r, &Refusal{Status: http.StatusServiceUnavailable, Message: "the model is being loaded"}, true)
	return true
}

// request runs one request with the faults that strike it.
func (s *Set) request(w http.ResponseWriter, r *http.Request, next http.Handler) {
	hits, err := s.Arrive(Arrival{At: s.loop.Now(), Header: r.Header.Get(Header), Tokens: max(r.ContentLength, 0) / 4})
	if err != nil {
		refuse(w, &Refusal{Status: http.StatusBadRequest, Message: Header + ": " + err.Error()})
		return
	}
	for _, h := range hits {
		for i := 0; i+1 < len(h.Fields); i += 2 {
			w.Header().Set(h.Fields[i], h.Fields[i+1])
		}
	}
	if no := Refused(hits); no != nil {
		s.refuse(w, r, no, false)
		return
	}
	if len(hits) == 0 {
		next.ServeHTTP(w, r)
		return
	}
	if err := rewriteBody(r, hits); err != nil {
		refuse(w, &Refusal{Status: http.StatusBadRequest, Message: "the request body could not be read"})
		return
	}
	a := newAnswer(s, w, r.URL.Path, hits)
	if len(a.stages) == 0 && !a.hold {
		next.ServeHTTP(w, r)
		return
	}
	next.ServeHTTP(a, r)
	a.end()
}

// refuse answers with an error object that both OpenAI's clients and those of
// the other APIs read.
// refuse writes a refusal of a request.
func (s *Set) refuse(w http.ResponseWriter, r *http.Request, no *Refusal, loading bool) {
	if s.Refuse != nil {
		s.Refuse(w, r, no, loading)
		return
	}
	refuse(w, no)
}

func refuse(w http.ResponseWriter, no *Refusal) {
	kind := "InternalServerError"
	switch {
	case no.Status == http.StatusTooManyRequests:
		kind = "TooManyRequests"
	case no.Status == http.StatusServiceUnavailable:
		kind = "ServiceUnavailableError"
	case no.Status < 500:
		kind = "BadRequestError"
	}
	if no.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(no.RetryAfter, 10))
	}
	reply(w, no.Status, map[string]any{"error": map[string]any{"message": no.Message, "type": kind, "param": nil, "code": no.Status}})
}

func reply(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// listed is a fault of a set as the admin route tells it.
type listed struct {
	ID     int64              `json:"id"`
	Name   string             `json:"fault"`
	Share  float64            `json:"share"`
	Count  int64              `json:"count,omitempty"`
	At     float64            `json:"at"`
	For    float64            `json:"for,omitempty"`
	Seed   uint64             `json:"seed"`
	Values map[string]float64 `json:"values,omitempty"`
	Seen   uint64             `json:"seen"`   // requests in its window
	Struck int64              `json:"struck"` // of them
}

// admin lists, adds and clears faults.
func (s *Set) admin(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		reply(w, http.StatusOK, map[string]any{"active": s.list(), "known": Table()})
	case http.MethodDelete:
		s.Clear()
		reply(w, http.StatusOK, map[string]any{"active": []listed{}})
	case http.MethodPost:
		f, err := ReadJSON(http.MaxBytesReader(w, r.Body, 64<<10))
		if err == nil {
			err = s.Add(f)
		}
		if err != nil {
			refuse(w, &Refusal{Status: http.StatusBadRequest, Message: err.Error()})
			return
		}
		reply(w, http.StatusOK, map[string]any{"active": s.list()})
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		refuse(w, &Refusal{Status: http.StatusMethodNotAllowed, Message: "expected GET, POST or DELETE"})
	}
}

func (s *Set) list() []listed {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]listed, 0, len(s.active))
	for _, a := range s.active {
		out = append(out, listed{ID: a.id, Name: a.Definition.Name, Share: a.Share, Count: a.Count, At: float64(a.At) / 1e9, For: float64(a.For) / 1e9,
			Seed: a.Seed, Values: a.Values, Seen: a.seen, Struck: a.struck})
	}
	return out
}

// pages keeps the metrics page that stands still.
type pages struct {
	mu     sync.Mutex
	header http.Header
	body   []byte
}

// recorded is a response kept in memory.
type recorded struct {
	header http.Header
	status int
	bytes.Buffer
}

func (r *recorded) Header() http.Header    { return r.header }
func (r *recorded) WriteHeader(status int) { r.status = status }

// metrics serves the metrics page, or one of before.
func (s *Set) metrics(w http.ResponseWriter, r *http.Request, next http.Handler) {
	frozen := s.holds("frozen_metrics")
	s.page.mu.Lock()
	defer s.page.mu.Unlock()
	if !frozen {
		s.page.body = nil
		next.ServeHTTP(w, r)
		return
	}
	if s.page.body == nil {
		plain := r.Clone(r.Context())
		plain.Header.Del("Accept-Encoding")
		rec := &recorded{header: http.Header{}, status: http.StatusOK}
		next.ServeHTTP(rec, plain)
		s.page.header, s.page.body = rec.header, rec.Bytes()
	}
	for k, v := range s.page.header {
		w.Header()[k] = v
	}
	_, _ = w.Write(s.page.body)
}

// holds tells whether a fault's window is open now.
func (s *Set) holds(name string) bool {
	now := s.loop.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.active {
		if a.Definition.Name == name && a.within(a.base, now) {
			return true
		}
	}
	return false
}

// maxBody bounds a body that is rewritten.
const maxBody = 64 << 20

// rewriteBody changes what is asked for.
func rewriteBody(r *http.Request, hits []Hit) error {
	var edits []func(object)
	for i := range hits {
		if f := edit(&hits[i]); f != nil {
			edits = append(edits, f)
		}
	}
	if len(edits) == 0 {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil || len(body) > maxBody {
		return errors.Join(err, errors.New("body too large"))
	}
	var o object
	if json.Unmarshal(body, &o) == nil {
		for _, f := range edits {
			f(o)
		}
		if changed, err := json.Marshal(o); err == nil {
			body = changed
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	return nil
}
