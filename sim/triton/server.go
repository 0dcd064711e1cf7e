package triton

import (
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/face"
)

// Version is what the server says of itself: the Triton whose API is modelled,
// and that it is a model of it.
const Version = "2.61.0+sim"

// version is the model's.
const version = "1"

// server answers for one service.
type server struct{ s *face.Service }

// New returns Triton's HTTP routes.
func New(s *face.Service) http.Handler {
	t, m := &server{s}, http.NewServeMux()
	m.HandleFunc("GET /v2/health/live", func(http.ResponseWriter, *http.Request) {})
	m.HandleFunc("GET /v2/health/ready", t.ready)
	m.HandleFunc("GET /v2", t.server)
	m.HandleFunc("POST /v2/repository/index", t.index)
	for _, base := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		m.HandleFunc("GET "+base, t.metadata)
		m.HandleFunc("GET "+base+"/ready", t.ready)
		m.HandleFunc("GET "+base+"/config", t.config)
		m.HandleFunc("GET "+base+"/stats", t.statistics)
		m.HandleFunc("POST "+base+"/generate", t.generate)
		m.HandleFunc("POST "+base+"/generate_stream", t.generateStream)
		m.HandleFunc("POST "+base+"/infer", t.inferHTTP)
	}
	m.HandleFunc("GET /v2/models/stats", t.statistics)
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusNotFound
		if face.OtherMethod(w, m, r) {
			status = http.StatusMethodNotAllowed
		}
		face.WriteJSON(w, status, failure{http.StatusText(status)})
	})
	return m
}

// failure is Triton's error body.
type failure struct {
	Error string `json:"error"`
}

// refuse writes what is wrong with a request.
func refuse(w http.ResponseWriter, p *face.Problem) {
	face.RetryAfter(w, p)
	face.WriteJSON(w, httpStatus(p), failure{p.Message})
}

func httpStatus(p *face.Problem) int {
	switch p.Kind {
	case face.NoModel:
		return http.StatusNotFound
	case face.TooLarge:
		return http.StatusRequestEntityTooLarge
	case face.Stopping, face.Loading, face.Overloaded:
		return http.StatusServiceUnavailable
	case face.NoSupport:
		return http.StatusNotImplemented
	case face.Injected:
		return p.Status
	case face.Internal:
		return http.StatusInternalServerError
	case face.Invalid, face.TooLong:
	}
	return http.StatusBadRequest
}

// known refuses a model or version that is not served.
func (t *server) known(model, v string) *face.Problem {
	if model == "" || !t.s.Is(model) {
		return &face.Problem{Kind: face.NoModel, Param: "model", Message: unknownModel(model, "")}
	}
	if v != "" && v != version {
		return &face.Problem{Kind: face.NoModel, Param: "version", Message: unknownModel(model, v)}
	}
	return nil
}
