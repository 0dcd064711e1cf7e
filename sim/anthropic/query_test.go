package anthropic

import (
	"testing"

	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/token"
)

// No body makes the reader panic, and none is our fault.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{
		`{"max_tokens":3,"messages":[{"role":"user","content":"hi"}],"system":[{"type":"text","text":"brief"}],"stop_sequences":["a"],"stream":true}`,
		`{"max_tokens":3,"messages":[{"role":"user","content":[{"type":"image","source":{"data":"AAAA"}},{"type":"tool_result","content":[{"type":"text","text":"x"}]}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`,
		`{"max_tokens":3,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"f"}],"tool_choice":{"type":"tool","name":"g"}}`, `{`,
	} {
		f.Add([]byte(s))
	}
	l := face.NewLanguage(token.Builtin())
	f.Fuzz(func(t *testing.T, body []byte) {
		q, problem := parse(body)
		if problem == nil {
			_, problem = q.ask(l, 1)
		}
		if problem != nil && problem.Kind != face.Invalid {
			t.Errorf("%s: %+v", body, problem)
		}
	})
}
