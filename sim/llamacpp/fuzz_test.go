package llamacpp

import (
	"testing"

	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/token"
)

// No body makes the reader panic, and none is our fault.
func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"prompt":"hi","n_predict":3,"stop":["a"],"stream":true}`, `{"prompt":[[1],[2]],"json_schema":{"type":"object"}}`, `{`} {
		f.Add([]byte(s))
	}
	l := face.NewLanguage(token.Builtin())
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, problem := read(body, l, 1); problem != nil && problem.Kind != face.Invalid {
			t.Errorf("%s: %+v", body, problem)
		}
	})
}
