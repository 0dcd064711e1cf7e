package sglang

import (
	"encoding/json"
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// query is a request of POST /generate.
type query struct {
	Text     json.RawMessage `json:"text"`
	InputIDs json.RawMessage `json:"input_ids"`
	Sampling json.RawMessage `json:"sampling_params"`
	Stream   bool            `json:"stream"`
	RID      string          `json:"rid"`
	Logprob  bool            `json:"return_logprob"`
}

type sampling struct {
	MaxNew    *int64          `json:"max_new_tokens"`
	MinNew    int64           `json:"min_new_tokens"`
	N         int             `json:"n"`
	Stop      json.RawMessage `json:"stop"`
	IgnoreEOS bool            `json:"ignore_eos"`
	NoTrim    bool            `json:"no_stop_trim"`
	Schema    *string         `json:"json_schema"` // JSON in a string
	Seed      *int64          `json:"sampling_seed"`
}

// defaultNew is the length of an answer that asks for none.
const defaultNew = 128

// read turns a query's body into what the engine gets.
func read(body []byte, l *face.Language, seed uint64) (*face.Ask, *face.Problem) {
	var q query
	if problem := face.Parse(body, &q); problem != nil {
		return nil, problem
	}
	var p sampling
	if len(q.Sampling) > 0 {
		if err := json.Unmarshal(q.Sampling, &p); err != nil {
			return nil, face.Bad("sampling_params", "sampling_params must be one object: %v", err)
		}
	}
	ask := &face.Ask{ID: q.RID, N: p.N, MinTokens: p.MinNew, IgnoreEOS: p.IgnoreEOS, KeepStop: p.NoTrim, Seed: p.Seed, MaxTokens: defaultNew}
	switch {
	case p.MaxNew != nil && *p.MaxNew < 1:
		return nil, face.Bad("max_new_tokens", "max_new_tokens must be at least 1, got %d", *p.MaxNew)
	case p.N < 0 || p.N > face.MaxChoices:
		return nil, face.Bad("n", "n must be from 1 to %d, got %d", face.MaxChoices, p.N)
	case p.MinNew < 0:
		return nil, face.Bad("min_new_tokens", "min_new_tokens must not be negative, got %d", p.MinNew)
	case len(q.Text) == 0 && len(q.InputIDs) == 0:
		return nil, face.Bad("text", "either text or input_ids is needed")
	case p.MaxNew != nil:
		ask.MaxTokens = *p.MaxNew
	}
	prompt := q.Text
	if len(prompt) == 0 {
		prompt = q.InputIDs
	}
	var problem *face.Problem
	if ask.Prompts, problem = openai.Prompts(prompt, l); problem != nil {
		return nil, problem
	}
	if ask.Stop, problem = openai.Strings("stop", p.Stop); problem != nil {
		return nil, problem
	}
	if p.Schema != nil {
		if ask.Script, problem = openai.JSONWords(l, "json_schema", json.RawMessage(*p.Schema), seed); problem != nil {
			return nil, problem
		}
	}
	w := &writer{logprobs: q.Logprob, batch: len(ask.Prompts)*max(p.N, 1) > 1}
	if q.Stream {
		ask.Stream = func(x *face.Exchange) face.Frames {
			w.said = make([]said, len(x.Choices))
			return w
		}
	} else {
		ask.Body = w.body
	}
	return ask, nil
}

// writer writes the answer; it is its own stream, whose events hold all text so far.
type writer struct {
	logprobs bool
	batch    bool
	said     []said
}

// said is what a choice has said so far.
type said struct {
	text  []byte
	ids   []uint32
	probs [][3]any
}

func (s *said) add(c *face.Choice, w *text.Word, logprobs bool) {
	s.text, s.ids = append(s.text, w.Text...), append(s.ids, w.ID)
	if logprobs {
		s.probs = append(s.probs, [3]any{openai.Logprob(c), w.ID, nil})
	}
}

type output struct {
	Index *int     `json:"index,omitempty"`
	Text  string   `json:"text"`
	IDs   []uint32 `json:"output_ids"`
	Meta  meta     `json:"meta_info"`
}

type meta struct {
	ID         string         `json:"id"`
	Finish     map[string]any `json:"finish_reason"`
	Prompt     int64          `json:"prompt_tokens"`
	Weights    string         `json:"weight_version"`
	Retracted  int64          `json:"total_retractions"`
	Completion int64          `json:"completion_tokens"`
	Cached     int64          `json:"cached_tokens"`
	E2E        *float64       `json:"e2e_latency,omitempty"`
	Logprobs   [][3]any       `json:"output_token_logprobs,omitempty"`
}

func (w *writer) output(c *face.Choice, s *said) output {
	o := output{Text: string(s.text), IDs: s.ids, Meta: meta{ID: c.Exchange().ID, Prompt: c.PromptTokens(), Weights: "default", Completion: c.Written,
		Cached: c.Cached(), Logprobs: s.probs}}
	if w.batch && w.said != nil {
		o.Index = &c.Index
	}
	if o.IDs == nil {
		o.IDs = []uint32{}
	}
	if c.Finish == "" {
		return o
	}
	o.Meta.Finish = map[string]any{"type": string(c.Finish)}
	switch c.Finish {
	case core.Length:
		o.Meta.Finish["length"] = c.Written
	case core.Stop:
		o.Meta.Finish["matched"] = nil
		if stop := c.StopString(); stop != "" {
			o.Meta.Finish["matched"] = stop
		}
	}
	e2e := float64(c.Stats().Ended-c.Stats().Arrived) / 1e9
	o.Meta.E2E, o.Meta.Retracted = &e2e, c.Stats().Preempted
	return o
}

// Token writes the text so far; the last token comes with the end.
func (w *writer) Token(b []byte, c *face.Choice, t *text.Word) []byte {
	s := &w.said[c.Index]
	s.add(c, t, w.logprobs)
	if c.Last() {
		return b
	}
	return w.event(b, c)
}

// Finish writes the last event of c.
func (w *writer) Finish(b []byte, c *face.Choice) []byte { return w.event(b, c) }

// Close writes the terminator.
func (w *writer) Close(b []byte, _ *face.Exchange) []byte { return append(b, "data: [DONE]\n\n"...) }

func (w *writer) event(b []byte, c *face.Choice) []byte {
	b = face.AppendJSON(append(b, "data: "...), w.output(c, &w.said[c.Index]))
	return append(b, "\n\n"...)
}

// body is the answer of a request that does not stream: an object, or a list
// of them.
func (w *writer) body(x *face.Exchange, _ http.Header) any {
	list := make([]output, len(x.Choices))
	for i := range x.Choices {
		c := &x.Choices[i]
		var s said
		c.Each(func(t *text.Word) { s.add(c, t, w.logprobs) })
		list[i] = w.output(c, &s)
	}
	if !w.batch {
		return list[0]
	}
	return list
}
