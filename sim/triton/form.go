package triton

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/tokamak-bench/tokamak/sim/face"
)

// form is a request's inputs and parameters by name: string, bool, float64,
// int64 or []string.
type form map[string]any

// textTokens is how many tokens an answer has where none are asked for.
const textTokens = 16

// query is a request as this face understands it.
type query struct {
	id     string
	form   form
	stream bool
	echo   bool // the prompt before the answer
	finish bool // tell why the answer ended
	in     bool // tell the prompt's tokens
	out    bool // … and the answer's
	prompt string
}

// set adds a value of a JSON document. A list of one is its element.
func (f form) set(name string, raw json.RawMessage) *face.Problem {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return face.Bad(name, "%s is not valid JSON", name)
	}
	return f.value(name, v)
}

func (f form) value(name string, v any) *face.Problem {
	switch v := v.(type) {
	case nil:
	case string, bool, float64, int64:
		f[name] = v
	case []any:
		return f.list(name, v)
	default:
		return face.Bad(name, "%s must be a string, a number, a boolean or a list of them", name)
	}
	return nil
}

// list adds the elements of a list, however deep.
func (f form) list(name string, v []any) *face.Problem {
	if len(v) == 1 {
		return f.value(name, v[0])
	}
	words := make([]string, 0, len(v))
	for _, x := range v {
		s, ok := x.(string)
		if !ok {
			return face.Bad(name, "%s must have one element, got %d", name, len(v))
		}
		words = append(words, s)
	}
	f[name] = words
	return nil
}

// sampling adds the fields of a JSON object in a string, as vLLM's backend has
// its sampling parameters. Values in it may be strings that hold numbers.
func (f form) sampling(name string) *face.Problem {
	s, ok := f[name].(string)
	if !ok {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(s), &fields) != nil {
		return face.Bad(name, "%s must be a JSON object in a string", name)
	}
	for k, raw := range fields {
		if _, set := f[k]; set {
			continue
		}
		if problem := f.set(k, raw); problem != nil {
			return problem
		}
	}
	return nil
}

// first is the value of the first name that is set.
func (f form) first(names []string) (string, any) {
	for _, n := range names {
		if v, ok := f[n]; ok {
			return n, v
		}
	}
	return "", nil
}

func (f form) flag(to *bool, names ...string) *face.Problem {
	name, v := f.first(names)
	switch v := v.(type) {
	case nil:
	case bool:
		*to = v
	case string:
		b, err := strconv.ParseBool(v)
		if err != nil {
			return face.Bad(name, "%s must be true or false", name)
		}
		*to = b
	default:
		return face.Bad(name, "%s must be true or false", name)
	}
	return nil
}

func (f form) number(to *float64, names ...string) (set bool, problem *face.Problem) {
	name, v := f.first(names)
	switch v := v.(type) {
	case nil:
		return false, nil
	case float64:
		*to = v
	case int64:
		*to = float64(v)
	case string:
		x, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return false, face.Bad(name, "%s must be a number", name)
		}
		*to = x
	default:
		return false, face.Bad(name, "%s must be a number", name)
	}
	if math.IsNaN(*to) || math.IsInf(*to, 0) {
		return false, face.Bad(name, "%s must be a finite number", name)
	}
	return true, nil
}

// integer reads a whole number of at least low.
func (f form) integer(to *int64, low int64, names ...string) (set bool, problem *face.Problem) {
	name, v := f.first(names)
	if n, ok := v.(int64); ok && n >= low {
		*to = n
		return true, nil
	}
	var x float64
	if set, problem = f.number(&x, names...); !set || problem != nil {
		return set, problem
	}
	if x != math.Trunc(x) || x < float64(low) || x > 1<<53 {
		return false, face.Bad(name, "%s must be a whole number of at least %d, got %v", name, low, x)
	}
	*to = int64(x)
	return true, nil
}

func (f form) strings(names ...string) []string {
	_, v := f.first(names)
	switch v := v.(type) {
	case string:
		if v != "" {
			return []string{v}
		}
	case []string:
		return v
	}
	return nil
}

// query reads what concerns the answer's form.
func (f form) query() (*query, *face.Problem) {
	q := &query{form: f}
	for _, name := range []string{"sampling_parameters", "parameters"} {
		if problem := f.sampling(name); problem != nil {
			return nil, problem
		}
	}
	if s, ok := f["id"].(string); ok {
		q.id = s
	}
	exclude := true
	for _, x := range []struct {
		to    *bool
		names []string
	}{{&q.stream, []string{"stream", "streaming"}}, {&exclude, []string{"exclude_input_in_output"}}, {&q.finish, []string{"return_finish_reason"}},
		{&q.in, []string{"return_num_input_tokens"}}, {&q.out, []string{"return_num_output_tokens"}}} {
		if problem := f.flag(x.to, x.names...); problem != nil {
			return nil, problem
		}
	}
	q.echo = !exclude
	var ok bool
	if q.prompt, ok = f["text_input"].(string); !ok {
		if f["text_input"] == nil {
			return nil, face.Bad("text_input", "expected the input 'text_input'")
		}
		return nil, face.Bad("text_input", "text_input must be one string")
	}
	return q, nil
}

// ask is what the engine gets.
func (q *query) ask(l *face.Language) (*face.Ask, *face.Problem) {
	f := q.form
	ids, err := l.Encode(nil, q.prompt)
	if err != nil {
		return nil, face.Failed(err)
	}
	a := &face.Ask{Prompts: [][]uint32{ids}, MaxTokens: textTokens, Stop: f.strings("stop_words", "stop"), ID: q.id}
	var end int64
	var seed int64
	if _, problem := f.integer(&a.MaxTokens, 1, "max_tokens", "max_new_tokens", "request_output_len"); problem != nil {
		return nil, problem
	}
	if _, problem := f.integer(&a.MinTokens, 0, "min_tokens", "min_length"); problem != nil {
		return nil, problem
	}
	if problem := f.flag(&a.IgnoreEOS, "ignore_eos"); problem != nil {
		return nil, problem
	}
	if set, problem := f.integer(&end, math.MinInt32, "end_id"); problem != nil {
		return nil, problem
	} else if set && end < 0 { // no token ends the answer
		a.IgnoreEOS = true
	}
	if set, problem := f.integer(&seed, math.MinInt64, "random_seed", "seed"); problem != nil {
		return nil, problem
	} else if set {
		a.Seed = &seed
	}
	for _, x := range []struct {
		to    **float64
		names []string
	}{{&a.Temperature, []string{"temperature"}}, {&a.TopP, []string{"runtime_top_p", "top_p"}}} {
		var v float64
		if set, problem := f.number(&v, x.names...); problem != nil {
			return nil, problem
		} else if set {
			*x.to = &v
		}
	}
	return a, nil
}

// unknownModel is what Triton says of a model that it does not have.
func unknownModel(name, version string) string {
	if version != "" {
		return fmt.Sprintf("Request for unknown model: '%s' version %s is not found", name, version)
	}
	return fmt.Sprintf("Request for unknown model: '%s' is not found", name)
}
