package sim

import (
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/face"
)

// emissionPath is where the simulator tells how late it writes tokens. Like the
// admin route of faults it is the simulator's own, on the engine's port.
const emissionPath = "/sim/emission"

// withEmission answers GET with a [face.Lateness]; DELETE begins it anew.
func withEmission(e *face.Emitter, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != emissionPath {
			next.ServeHTTP(w, r)
			return
		}
		switch r.Method {
		case http.MethodGet:
		case http.MethodDelete:
			e.Reset()
		default:
			w.Header().Set("Allow", "GET, DELETE")
			face.WriteDetail(w, http.StatusMethodNotAllowed, "expected GET or DELETE")
			return
		}
		face.WriteJSON(w, http.StatusOK, e.Lateness())
	})
}
