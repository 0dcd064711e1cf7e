package ollama

import (
	"testing"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/token"
)

// No body makes the reader panic, none is our fault, and every prompt fits.
func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"model":"m","prompt":"hi","context":[1,2],"options":{"num_predict":3,"num_ctx":2,"stop":["a"]}}`, `{"model":"m","messages":[{"role":"user","content":"hi","images":["AAAA"]}],"format":"json"}`,
		`{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}}]}`, `{`} {
		f.Add([]byte(s))
	}
	l, s := face.NewLanguage(token.Builtin()), &face.Service{Config: face.Config{Served: "m", Engine: core.Config{MaxModelLen: 8}}}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, chat := range []bool{true, false} {
			ask, problem := read(s, body, l, chat)
			if problem != nil && problem.Kind != face.Invalid && problem.Kind != face.NoModel {
				t.Errorf("%s: %+v", body, problem)
			}
			if problem == nil && len(ask.Prompts[0]) >= 8 {
				t.Errorf("%s: %d tokens", body, len(ask.Prompts[0]))
			}
		}
	})
}
