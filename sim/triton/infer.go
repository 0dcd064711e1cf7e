package triton

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/tokamak-bench/tokamak/sim/face"
)

// headerLength says where the JSON of a body ends and its tensors begin.
const headerLength = "Inference-Header-Content-Length"

// inferBody is a request to infer over HTTP.
type inferBody struct {
	ID     string `json:"id"`
	Inputs []struct {
		Name       string          `json:"name"`
		Datatype   string          `json:"datatype"`
		Shape      []int64         `json:"shape"`
		Data       json.RawMessage `json:"data"`
		Parameters struct {
			Size *int `json:"binary_data_size"`
		} `json:"parameters"`
	} `json:"inputs"`
	Outputs []struct {
		Name       string `json:"name"`
		Parameters struct {
			Binary *bool `json:"binary_data"`
		} `json:"parameters"`
	} `json:"outputs"`
	Parameters map[string]json.RawMessage `json:"parameters"`
}

// inferRequest reads a body of which the first length bytes are JSON.
func inferRequest(body []byte, length string) (*inference, *face.Problem) {
	tensors := []byte{}
	if length != "" {
		n, err := strconv.Atoi(length)
		if err != nil || n < 0 || n > len(body) {
			return nil, face.Bad("", "%s is %q, the body has %d bytes", headerLength, length, len(body))
		}
		body, tensors = body[:n], body[n:]
	}
	var v inferBody
	if problem := face.Parse(body, &v); problem != nil {
		return nil, problem
	}
	in := &inference{id: v.ID, form: form{}}
	for k, raw := range v.Parameters {
		if k == "binary_data_output" {
			_ = json.Unmarshal(raw, &in.binary)
		}
		if problem := in.form.set(k, raw); problem != nil {
			return nil, problem
		}
	}
	for _, x := range v.Inputs {
		if problem := checkShape(x.Name, x.Shape); problem != nil {
			return nil, problem
		}
		if x.Parameters.Size == nil {
			if problem := in.form.set(x.Name, x.Data); problem != nil {
				return nil, problem
			}
			continue
		}
		n := *x.Parameters.Size
		if n < 0 || n > len(tensors) {
			return nil, face.Bad(x.Name, "input '%s' has %d bytes, %d are left in the body", x.Name, n, len(tensors))
		}
		if problem := in.form.raw(x.Name, x.Datatype, tensors[:n]); problem != nil {
			return nil, problem
		}
		tensors = tensors[n:]
	}
	if len(tensors) > 0 {
		return nil, face.Bad("", "%d bytes follow the last input", len(tensors))
	}
	for _, o := range v.Outputs {
		in.asked = append(in.asked, o.Name)
		if o.Parameters.Binary != nil {
			in.binary = *o.Parameters.Binary
		}
	}
	return in, nil
}

// infer runs a request that gets one response.
func (t *server) infer(r *http.Request, in *inference) ([]output, *face.Problem) {
	if problem := t.known(in.model, in.version); problem != nil {
		return nil, problem
	}
	q, problem := in.query()
	if problem != nil {
		return nil, problem
	}
	if q.stream {
		return nil, &face.Problem{Kind: face.NoSupport, Param: "stream", Message: "infer gives one response, and stream asks for several: use ModelStreamInfer or generate_stream"}
	}
	var list []output
	problem = t.run(r.Context(), r.Header, q, in.struck.wrap(func(p *part) error {
		if !p.failed() {
			list = in.outputsOf(q, p)
		}
		return nil
	}))
	if problem == nil && list == nil {
		problem = &face.Problem{Kind: face.Internal, Message: broken}
	}
	return list, problem
}

func (t *server) inferHTTP(w http.ResponseWriter, r *http.Request) {
	body, problem := face.Body(r)
	var in *inference
	if problem == nil {
		in, problem = inferRequest(body, r.Header.Get(headerLength))
	}
	var list []output
	if problem == nil {
		in.model, in.version = r.PathValue("model"), r.PathValue("version")
		list, problem = t.infer(r, in)
	}
	if problem != nil {
		refuse(w, problem)
		return
	}
	t.writeInfer(w, in, list)
}

// jsonOutput is a tensor of a response over HTTP.
type jsonOutput struct {
	Name       string         `json:"name"`
	Datatype   string         `json:"datatype"`
	Shape      []int64        `json:"shape"`
	Parameters map[string]int `json:"parameters,omitempty"`
	Data       any            `json:"data,omitempty"`
}

func (t *server) writeInfer(w http.ResponseWriter, in *inference, list []output) {
	answer := struct {
		ID      string       `json:"id,omitempty"`
		Model   string       `json:"model_name"`
		Version string       `json:"model_version"`
		Outputs []jsonOutput `json:"outputs"`
	}{in.id, t.s.Served, version, []jsonOutput{}}
	var tensors []byte
	for _, o := range list {
		j := jsonOutput{Name: o.name, Datatype: o.datatype(), Shape: o.shape()}
		switch {
		case in.binary:
			raw := o.raw()
			j.Parameters = map[string]int{"binary_data_size": len(raw)}
			tensors = append(tensors, raw...)
		case o.words != nil:
			j.Data = o.words
		default:
			j.Data = o.count
		}
		answer.Outputs = append(answer.Outputs, j)
	}
	if !in.binary {
		face.WriteJSON(w, http.StatusOK, answer)
		return
	}
	head := face.AppendJSON(nil, answer)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set(headerLength, strconv.Itoa(len(head)))
	w.Header().Set("Content-Length", strconv.Itoa(len(head)+len(tensors)))
	_, _ = w.Write(append(head, tensors...))
}
