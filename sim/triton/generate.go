package triton

import (
	"encoding/json"
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/face"
)

// generateForm reads the body of the generate extension: inputs at the top and
// in "parameters"; the first win.
func generateForm(body []byte) (form, *face.Problem) {
	var fields map[string]json.RawMessage
	if problem := face.Parse(body, &fields); problem != nil {
		return nil, problem
	}
	f := form{}
	var nested map[string]json.RawMessage
	if raw, ok := fields["parameters"]; ok && json.Unmarshal(raw, &nested) == nil {
		delete(fields, "parameters")
	}
	for _, m := range []map[string]json.RawMessage{nested, fields} {
		for k, raw := range m {
			if problem := f.set(k, raw); problem != nil {
				return nil, problem
			}
		}
	}
	return f, nil
}

// generated is the body of an answer to generate; its fields are in Triton's order.
type generated struct {
	ID      string  `json:"id,omitempty"`
	Finish  *string `json:"finish_reason,omitempty"`
	Model   string  `json:"model_name"`
	Version string  `json:"model_version"`
	In      *int64  `json:"num_input_tokens,omitempty"`
	Out     *int64  `json:"num_output_tokens,omitempty"`
	Text    string  `json:"text_output"`
}

func (t *server) generated(q *query, p *part) any {
	if p.failed() {
		return failure{broken}
	}
	g := generated{ID: q.id, Model: t.s.Served, Version: version, Text: p.text}
	if q.finish {
		r := p.reason()
		g.Finish = &r
	}
	if q.in {
		g.In = &p.in
	}
	if q.out {
		g.Out = &p.out
	}
	return g
}

// readGenerate reads a request to either route of the extension.
func (t *server) readGenerate(r *http.Request) (*query, *face.Problem) {
	if problem := t.known(r.PathValue("model"), r.PathValue("version")); problem != nil {
		return nil, problem
	}
	body, problem := face.Body(r)
	if problem != nil {
		return nil, problem
	}
	f, problem := generateForm(body)
	if problem != nil {
		return nil, problem
	}
	return f.query()
}

// generate answers with one response.
func (t *server) generate(w http.ResponseWriter, r *http.Request) {
	q, problem := t.readGenerate(r)
	if problem == nil && q.stream {
		problem = face.Bad("stream", "generate gives one response, and stream asks for several: use generate_stream")
	}
	if problem == nil {
		var answer any
		problem = t.run(r.Context(), r.Header, q, func(p *part) error {
			answer = t.generated(q, p)
			return nil
		})
		if _, failed := answer.(failure); problem == nil && answer != nil && !failed {
			face.WriteJSON(w, http.StatusOK, answer)
			return
		}
	}
	if problem == nil {
		problem = &face.Problem{Kind: face.Internal, Message: broken}
	}
	refuse(w, problem)
}

// generateStream answers with server-sent events: one a token where the request
// asks for a stream, else one. What goes wrong before the first is an HTTP
// status, later an event under the 200 already sent. The connection's end is
// the stream's.
func (t *server) generateStream(w http.ResponseWriter, r *http.Request) {
	q, problem := t.readGenerate(r)
	if problem != nil {
		refuse(w, problem)
		return
	}
	out := http.NewResponseController(w)
	plain := !q.finish && !q.in && !q.out
	prefix := t.eventPrefix(q)
	var buf []byte
	problem = t.run(r.Context(), r.Header, q, func(p *part) error {
		if buf == nil {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			w.WriteHeader(http.StatusOK)
		}
		if plain && !p.failed() {
			buf = face.AppendString(append(buf[:0], prefix...), p.text)
			buf = append(buf, "}\n\n"...)
		} else {
			buf = face.AppendJSON(append(buf[:0], "data: "...), t.generated(q, p))
			buf = append(buf, "\n\n"...)
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		return out.Flush()
	})
	if problem != nil {
		refuse(w, problem)
	}
}

// eventPrefix is an event up to its text.
func (t *server) eventPrefix(q *query) []byte {
	b := []byte("data: {")
	if q.id != "" {
		b = append(face.AppendString(append(b, `"id":`...), q.id), ',')
	}
	b = face.AppendString(append(b, `"model_name":`...), t.s.Served)
	return append(b, `,"model_version":"`+version+`","text_output":`...)
}
