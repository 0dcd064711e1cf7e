package llamacpp

import (
	"encoding/json"
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// query is a request of POST /completion.
type query struct {
	Prompt       json.RawMessage `json:"prompt"`
	Predict      *int64          `json:"n_predict"`
	MaxTokens    *int64          `json:"max_tokens"`
	Stream       bool            `json:"stream"`
	Seed         *int64          `json:"seed"`
	Stop         json.RawMessage `json:"stop"`
	IgnoreEOS    bool            `json:"ignore_eos"`
	ReturnTokens bool            `json:"return_tokens"`
	Probs        int             `json:"n_probs"`
	Schema       json.RawMessage `json:"json_schema"`
}

// read turns a query's body into what the engine gets.
func read(body []byte, l *face.Language, seed uint64) (*face.Ask, *face.Problem) {
	var q query
	problem := face.Parse(body, &q)
	if problem != nil {
		return nil, problem
	}
	if q.Predict == nil {
		q.Predict = q.MaxTokens
	}
	ask := &face.Ask{Seed: q.Seed, IgnoreEOS: q.IgnoreEOS, LateHeaders: true}
	switch {
	case len(q.Prompt) == 0:
		return nil, face.Bad("prompt", "\"prompt\" is missing")
	case q.Predict != nil && (*q.Predict < -2 || *q.Predict == 0):
		return nil, face.Bad("n_predict", "n_predict must be at least 1, or -1, got %d", *q.Predict)
	case q.Predict != nil && *q.Predict > 0:
		ask.MaxTokens = *q.Predict
	}
	if ask.Prompts, problem = openai.Prompts(q.Prompt, l); problem != nil {
		return nil, problem
	}
	if ask.Stop, problem = openai.Strings("stop", q.Stop); problem != nil {
		return nil, problem
	}
	if ask.Script, problem = openai.JSONWords(l, "json_schema", q.Schema, seed); problem != nil {
		return nil, problem
	}
	w := &writer{q: &q, stop: ask.Stop}
	if q.Stream {
		ask.Stream = func(x *face.Exchange) face.Frames { return w }
	} else {
		ask.Body = w.body
	}
	return ask, nil
}

// writer writes the answer; it is its own stream.
type writer struct {
	q    *query
	stop []string
}

type event struct {
	Index     int      `json:"index"`
	Content   string   `json:"content"`
	Tokens    []uint32 `json:"tokens"`
	Stop      bool     `json:"stop"`
	Slot      int      `json:"id_slot"`
	Predicted int64    `json:"tokens_predicted"`
	Evaluated int64    `json:"tokens_evaluated"`
	Probs     []prob   `json:"completion_probabilities,omitempty"`
}

type prob struct {
	ID      uint32  `json:"id"`
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
}

// last is the event with the end.
type last struct {
	event
	Model        string         `json:"model"`
	Settings     map[string]any `json:"generation_settings"`
	Prompt       any            `json:"prompt"`
	NewLine      bool           `json:"has_new_line"`
	Truncated    bool           `json:"truncated"`
	StopType     string         `json:"stop_type"`
	StoppingWord string         `json:"stopping_word"`
	Cached       int64          `json:"tokens_cached"`
	Timings      timings        `json:"timings"`
}

func (w *writer) event(c *face.Choice, t *text.Word) event {
	e := event{Index: c.Index, Content: t.Text, Tokens: []uint32{t.ID}, Slot: -1, Predicted: c.Written, Evaluated: c.PromptTokens()}
	if w.q.Probs > 0 {
		e.Probs = []prob{{t.ID, t.Text, openai.Logprob(c)}}
	}
	return e
}

// Token writes a token's event.
func (w *writer) Token(b []byte, c *face.Choice, t *text.Word) []byte {
	b = face.AppendJSON(append(b, "data: "...), w.event(c, t))
	return append(b, "\n\n"...)
}

// Finish writes the event with the end.
func (w *writer) Finish(b []byte, c *face.Choice) []byte {
	b = face.AppendJSON(append(b, "data: "...), w.last(c, ""))
	return append(b, "\n\n"...)
}

// Close writes nothing: a stream of this route has no terminator.
func (w *writer) Close(b []byte, _ *face.Exchange) []byte { return b }

func (w *writer) last(c *face.Choice, said string) last {
	st := c.Stats()
	e := last{event: event{Index: c.Index, Content: said, Tokens: []uint32{}, Stop: true, Predicted: c.Written, Evaluated: st.Prompt},
		Model: c.Exchange().Served(), Prompt: w.q.Prompt, StopType: "limit", StoppingWord: c.StopString(), Cached: st.Prompt + c.Written - 1,
		Settings: settings(w, c), Timings: timingsOf(st, c.Written)}
	switch {
	case e.StoppingWord != "":
		e.StopType = "word"
	case c.Finish == core.Stop:
		e.StopType = "eos"
	}
	return e
}

// settings are the sampler's defaults with what the request changed. None but
// the lengths, the seed and the stop strings changes an answer here.
func settings(w *writer, _ *face.Choice) map[string]any {
	predict, seed, stop := int64(-1), int64(1<<32-1), []string{}
	if w.q.Predict != nil {
		predict = *w.q.Predict
	}
	if w.q.Seed != nil {
		seed = *w.q.Seed
	}
	return map[string]any{"seed": seed, "temperature": 0.8, "top_k": 40, "top_p": 0.95, "min_p": 0.05, "repeat_penalty": 1.0, "max_tokens": predict,
		"n_predict": predict, "ignore_eos": w.q.IgnoreEOS, "stream": w.q.Stream, "n_probs": w.q.Probs, "stop": append(stop, w.stop...)}
}

// body is the answer of a request that does not stream: an object, or a list
// of them to a list of prompts.
func (w *writer) body(x *face.Exchange, _ http.Header) any {
	var list []last
	for i := range x.Choices {
		c := &x.Choices[i]
		var said string
		var probs []prob
		ids := []uint32{}
		c.Each(func(t *text.Word) {
			said += t.Text
			if w.q.ReturnTokens {
				ids = append(ids, t.ID)
			}
			if w.q.Probs > 0 {
				probs = append(probs, prob{t.ID, t.Text, openai.Logprob(c)})
			}
		})
		e := w.last(c, said)
		e.event.Tokens, e.Probs = ids, probs
		list = append(list, e)
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
}
