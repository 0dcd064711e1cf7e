package tgi

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// query is a request of TGI's own routes.
type query struct {
	Inputs     *string    `json:"inputs"`
	Parameters parameters `json:"parameters"`
	Stream     bool       `json:"stream"`
}

type parameters struct {
	MaxNew      *int64   `json:"max_new_tokens"`
	Stop        []string `json:"stop"`
	Seed        *int64   `json:"seed"`
	Details     bool     `json:"details"`
	Full        bool     `json:"return_full_text"`
	Truncate    *int     `json:"truncate"`
	Temperature *float64 `json:"temperature"`
	TopP        *float64 `json:"top_p"`
	Grammar     *struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	} `json:"grammar"`
}

// Lengths and numbers that TGI sets.
const (
	defaultNew = 100 // tokens of an answer that asks for none
	maxStop    = 4   // stop sequences
)

// read turns a query's body into what the engine gets. Which route it came
// through says whether the answer streams; the route / leaves it to the body.
func read(body []byte, l *face.Language, seed uint64, stream *bool) (*face.Ask, *face.Problem) {
	var q query
	if problem := face.Parse(body, &q); problem != nil {
		return nil, problem
	}
	p := &q.Parameters
	ask := &face.Ask{Seed: p.Seed, Stop: p.Stop, KeepStop: true, MaxTokens: defaultNew}
	switch {
	case q.Inputs == nil:
		return nil, face.Bad("inputs", "inputs is missing")
	case *q.Inputs == "":
		return nil, face.Bad("inputs", "inputs cannot be empty")
	case p.MaxNew != nil && *p.MaxNew < 1:
		return nil, face.Bad("max_new_tokens", "max_new_tokens must be strictly positive")
	case len(p.Stop) > maxStop:
		return nil, face.Bad("stop", "at most %d stop sequences, given %d", maxStop, len(p.Stop))
	case p.Temperature != nil && *p.Temperature <= 0:
		return nil, face.Bad("temperature", "temperature must be strictly positive")
	case p.TopP != nil && (*p.TopP <= 0 || *p.TopP >= 1):
		return nil, face.Bad("top_p", "top_p must be above 0 and below 1")
	case p.Truncate != nil && *p.Truncate < 1:
		return nil, face.Bad("truncate", "truncate must be strictly positive")
	case p.MaxNew != nil:
		ask.MaxTokens = *p.MaxNew
	}
	ids, err := l.Encode(nil, *q.Inputs)
	if err != nil {
		return nil, face.Failed(err)
	}
	if p.Truncate != nil && len(ids) > *p.Truncate {
		ids = ids[len(ids)-*p.Truncate:]
	}
	ask.Prompts = [][]uint32{ids}
	var problem *face.Problem
	if g := p.Grammar; g != nil && g.Type == "json" {
		ask.Script, problem = openai.JSONWords(l, "grammar", g.Value, seed)
	}
	w := &writer{p: p, inputs: *q.Inputs, compat: stream == nil}
	if stream == nil {
		stream = &q.Stream
	}
	if *stream {
		ask.Stream = func(*face.Exchange) face.Frames { return w }
	} else {
		ask.Body = w.body
	}
	return ask, problem
}

// writer writes the answer; it is its own stream.
type writer struct {
	p      *parameters
	inputs string
	compat bool // the route /, whose answer is a list
	said   []byte
	held   *text.Word // the last token, which comes with the end
}

type saidToken struct {
	ID      uint32  `json:"id"`
	Text    string  `json:"text"`
	Logprob float64 `json:"logprob"`
	Special bool    `json:"special"`
}

type event struct {
	Index     int64     `json:"index"`
	Token     saidToken `json:"token"`
	Generated *string   `json:"generated_text"`
	Details   *details  `json:"details"`
}

type details struct {
	Reason    string       `json:"finish_reason"`
	Generated int64        `json:"generated_tokens"`
	Seed      *int64       `json:"seed"`
	Input     *int64       `json:"input_length,omitempty"` // in a stream
	Prefill   *[]any       `json:"prefill,omitempty"`      // in a whole answer
	Tokens    *[]saidToken `json:"tokens,omitempty"`       // the same
}

func (w *writer) token(c *face.Choice, t *text.Word) saidToken {
	return saidToken{ID: t.ID, Text: t.Text, Logprob: openai.Logprob(c)}
}

// Token writes a token's event; the last one waits for the end.
func (w *writer) Token(b []byte, c *face.Choice, t *text.Word) []byte {
	w.said = append(w.said, t.Text...)
	if c.Last() {
		w.held = t
		return b
	}
	return w.event(b, event{Index: c.Written, Token: w.token(c, t)})
}

func (w *writer) event(b []byte, e event) []byte {
	return append(face.AppendJSON(append(b, "data:"...), e), "\n\n"...)
}

// Finish writes the last token with the whole text.
func (w *writer) Finish(b []byte, c *face.Choice) []byte {
	if w.held == nil { // cut before its end
		return append(b, `data:{"error":"Request failed during generation","error_type":"generation"}`+"\n\n"...)
	}
	said, input := w.text(string(w.said)), c.PromptTokens()
	return w.event(b, event{Index: c.Written, Token: w.token(c, w.held), Generated: &said,
		Details: &details{Reason: reason(c), Generated: c.Written, Seed: w.p.Seed, Input: &input}})
}

// Close writes nothing: a stream of this route has no terminator.
func (w *writer) Close(b []byte, _ *face.Exchange) []byte { return b }

func (w *writer) text(said string) string {
	if w.p.Full {
		return w.inputs + said
	}
	return said
}

// reason is TGI's finish reason.
func reason(c *face.Choice) string {
	switch {
	case c.Finish == core.Length:
		return "length"
	case c.StopString() != "":
		return "stop_sequence"
	}
	return "eos_token"
}

type answer struct {
	Text    string   `json:"generated_text"`
	Details *details `json:"details,omitempty"`
}

// body is the answer of a request that does not stream.
func (w *writer) body(x *face.Exchange, h http.Header) any {
	c := &x.Choices[0]
	tokens, prefill := []saidToken{}, []any{}
	c.Each(func(t *text.Word) {
		w.said = append(w.said, t.Text...)
		if w.p.Details {
			tokens = append(tokens, w.token(c, t))
		}
	})
	headers(h, x, len(w.inputs))
	a := answer{Text: w.text(string(w.said))}
	if w.p.Details {
		a.Details = &details{Reason: reason(c), Generated: c.Written, Seed: w.p.Seed, Prefill: &prefill, Tokens: &tokens}
	}
	if w.compat {
		return []answer{a}
	}
	return a
}

// headers are the times of a whole answer, in ms but for the compute time.
func headers(h http.Header, x *face.Exchange, characters int) {
	st := x.Choices[0].Stats()
	ms := func(ns int64) string { return strconv.FormatInt(ns/1e6, 10) }
	total := st.Ended - st.Arrived
	for k, v := range map[string]string{
		"X-Compute-Type": "gpu+optimized", "X-Compute-Characters": strconv.Itoa(characters),
		"X-Compute-Time": strconv.FormatFloat(float64(total)/1e9, 'f', 6, 64), "X-Total-Time": ms(total), "X-Validation-Time": ms(st.Queued - st.Arrived),
		"X-Queue-Time": ms(st.Scheduled - st.Queued), "X-Inference-Time": ms(st.Ended - st.Scheduled), "X-Time-Per-Token": ms((st.Ended - st.Scheduled) / max(st.Output, 1)),
		"X-Prompt-Tokens": strconv.FormatInt(st.Prompt, 10), "X-Generated-Tokens": strconv.FormatInt(st.Output, 10),
	} {
		h.Set(k, v)
	}
}
