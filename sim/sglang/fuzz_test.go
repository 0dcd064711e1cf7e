package sglang

import (
	"testing"

	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/token"
)

// No body makes the reader panic, and none is our fault.
func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"text":"hi","sampling_params":{"max_new_tokens":3,"stop":"a","n":2},"stream":true}`, `{"input_ids":[[1],[2]],"sampling_params":{"json_schema":"{}"}}`, `{`} {
		f.Add([]byte(s))
	}
	l := face.NewLanguage(token.Builtin())
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, problem := read(body, l, 1); problem != nil && problem.Kind != face.Invalid {
			t.Errorf("%s: %+v", body, problem)
		}
	})
}
