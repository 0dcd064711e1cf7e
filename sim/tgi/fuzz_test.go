package tgi

import (
	"testing"

	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/token"
)

// No body makes the reader panic, and none is our fault.
func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"inputs":"hi","stream":true,"parameters":{"max_new_tokens":3,"stop":["a"],"truncate":1}}`, `{"inputs":"hi","parameters":{"grammar":{"type":"json","value":{}}}}`, `{`} {
		f.Add([]byte(s))
	}
	l := face.NewLanguage(token.Builtin())
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, problem := read(body, l, 1, nil); problem != nil && problem.Kind != face.Invalid {
			t.Errorf("%s: %+v", body, problem)
		}
	})
}
