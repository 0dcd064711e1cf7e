package scenario

import (
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/tokamak-bench/tokamak/stat"
)

// The defaults of a synthetic workload, in tokens.
const (
	defaultInput  = 256
	defaultOutput = 128
)

func (r *resolver) workload(s *Scenario) {
	w := &s.Workload
	w.InputTokens = r.distribution("workload.input-tokens", stat.ParseDistribution)
	w.OutputTokens = r.distribution("workload.output-tokens", stat.ParseDistribution)
	w.OutputMode = OutputMode(r.oneOf("workload.output-mode", string(Exact), string(Exact), string(Cap)))
	w.Dataset = r.dataset()
	w.PrefixTokens = r.whole("workload.prefix-tokens", 0, 0)
	w.Turns = r.whole("workload.turns", 1, 1)
	if r.has("workload.temperature") {
		t := r.number("workload.temperature", "a number from 0 on", 0, true)
		w.Temperature = &t
	}
	w.Tokenizer = r.text("workload.tokenizer", "builtin, server, estimate, or a tokenizer.json")
	if w.Tokenizer == "" {
		w.Tokenizer = "builtin"
	}
	w.Body = r.body()
	if w.Dataset != "" {
		return
	}
	if w.InputTokens == nil {
		w.InputTokens = stat.Constant(defaultInput)
	}
	if w.OutputTokens == nil {
		w.OutputTokens = stat.Constant(defaultOutput)
	}
}

func (r *resolver) dataset() string {
	if r.set["workload.dataset"].text == "-" {
		return "-"
	}
	return r.file("workload.dataset")
}

// body reads a JSON object, from text or as a mapping. Errors do not repeat
// it: it may hold secrets.
func (r *resolver) body() json.RawMessage {
	v, ok := r.set["workload.body"]
	if !ok {
		return nil
	}
	b := []byte(v.text)
	if v.kind == mapValue {
		var err error
		if b, err = v.appendJSON(nil); err != nil {
			var e *Error
			if errors.As(err, &e) {
				r.fail(e)
			}
			return nil
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(b, &object); err != nil || object == nil {
		r.fail(v.errorf("expected a JSON object such as {\"top_p\": 0.9}"))
		return nil
	}
	return b
}

// cause drops the path from an error of the file system.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
