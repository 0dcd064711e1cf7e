package conformance

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/check"
	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

// question is one request of the battery.
type question struct {
	name   string // as a report quotes it
	prompt string
	stream bool
	usage  bool // ask a stream for its usage
	max    int64
	n      int
	fields map[string]any // set in the body besides; nil removes one
	// bad: an error is what the question is for.
	bad bool
	// optional: a refusal is no failure to answer, but the rule's own affair.
	optional bool
	leave    int  // give a stream up after so many events; 0: never
	bare     bool // without the credential
}

// reply is the answer to a question.
type reply struct {
	q      *question
	x      *wire.Exchange
	answer *engine.Answer
	events []check.Event
	chunks []chunk // of a stream, or the one whole body
	sse    bool
	marked int  // [DONE] came so often
	late   bool // an event with data came after one
	// adapted: the question was asked again without a field that the server refused.
	adapted bool
}

// chunk is a JSON text of an answer.
type chunk struct {
	at      int64
	event   int          // which event held it
	valid   bool         // it could be read as one
	ID      *string      `json:"id"`
	Object  *string      `json:"object"`
	Created *json.Number `json:"created"`
	Model   *string      `json:"model"`
	Choices []choice     `json:"choices"`
	Usage   *usage       `json:"usage"`
	Error   any          `json:"error"`
}

type choice struct {
	Index   *int    `json:"index"`
	Delta   *delta  `json:"delta"`
	Message *delta  `json:"message"`
	Text    *string `json:"text"`
	Finish  *string `json:"finish_reason"`
}

type delta struct {
	Role  *string `json:"role"`
	Calls []call  `json:"tool_calls"`
}

type call struct {
	Index    *int    `json:"index"`
	ID       *string `json:"id"`
	Type     *string `json:"type"`
	Function struct {
		Name      *string `json:"name"`
		Arguments *string `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	Prompt     *int64 `json:"prompt_tokens"`
	Completion *int64 `json:"completion_tokens"`
	Total      *int64 `json:"total_tokens"`
}

// said returns the delta or the message.
func (c *choice) said() *delta {
	if c.Delta != nil {
		return c.Delta
	}
	return c.Message
}

func (c *choice) index() int {
	if c.Index == nil {
		return 0
	}
	return *c.Index
}

// read takes a transcript apart.
func read(q *question, t *check.Transcript) *reply {
	r := &reply{q: q, x: &t.Exchange, answer: t.Answer, events: t.Events}
	r.sse = r.x.ContentFraming == wire.SSE
	for i, e := range t.Events {
		data := e.Data
		if r.sse {
			_, d, ok := wire.EventData(e.Data)
			if !ok || len(bytes.TrimSpace(d)) == 0 {
				continue
			}
			data = d
			if string(bytes.TrimSpace(d)) == "[DONE]" {
				r.marked++
				continue
			}
			r.late = r.late || r.marked > 0
		}
		c := chunk{at: e.At, event: i}
		c.valid = json.Unmarshal(data, &c) == nil
		c.bound()
		r.chunks = append(r.chunks, c)
	}
	return r
}

// mostParts is how many choices a chunk may have, and calls a choice: more are
// no answer to the battery's questions, and too many to keep.
const mostParts = 1 << 10

// bound lets go of what is too much to be true.
func (c *chunk) bound() {
	if len(c.Choices) > mostParts {
		c.valid, c.Choices = false, nil
	}
	for i := range c.Choices {
		if d := c.Choices[i].said(); d != nil && len(d.Calls) > mostParts {
			c.valid, d.Calls = false, nil
		}
	}
}

// ok tells whether a 2xx came to its end, whole by its API or not.
func (r *reply) ok() bool {
	return r.x.Cause == wire.Completed && r.x.Status >= 200 && r.x.Status <= 299
}

// whole tells whether the answer has nothing against it.
func (r *reply) whole() bool { return r.ok() && r.answer.Failure == engine.Whole }

// refused tells whether the server said no: a status of 400 to 499.
func (r *reply) refused() bool { return r.x.Status >= 400 && r.x.Status <= 499 }

// has tells whether the decoder said a word of the answer.
func (r *reply) has(word string) bool {
	for _, list := range [][]string{r.answer.Violations, r.answer.Notes} {
		for _, w := range list {
			if w == word {
				return true
			}
		}
	}
	return false
}

// text is the text of a choice: without reasoning and tool calls.
func (r *reply) text(index int) string { return string(r.answer.Text(int32(index))) }

// lost says in a few words how an exchange ended that is no answer.
func (r *reply) lost() string {
	switch {
	case r.x.Cause != wire.Completed && r.x.Status == 0:
		return r.x.Cause.String() + ", no answer"
	case r.x.Cause != wire.Completed:
		return "status " + itoa(r.x.Status) + ", then " + r.x.Cause.String()
	case r.answer.ErrorText != "":
		return "status " + itoa(r.x.Status) + ": " + short(r.answer.ErrorText, 160)
	case len(r.answer.Violations) > 0:
		return "status " + itoa(r.x.Status) + ", and what came is no answer: " + strings.Join(r.answer.Violations, ", ")
	}
	return "status " + itoa(r.x.Status)
}

// readable tells whether something of the answer was of the API: a chunk with
// choices, a usage or an error.
func (r *reply) readable() bool {
	return slices.ContainsFunc(r.chunks, func(c chunk) bool {
		return c.valid && (len(c.Choices) > 0 || c.Usage != nil || c.Error != nil)
	})
}

// finish is the finish reason of a choice, empty if none came.
func (r *reply) finish(index int) string {
	for i := range r.chunks {
		for j := range r.chunks[i].Choices {
			if c := &r.chunks[i].Choices[j]; c.index() == index && c.Finish != nil && *c.Finish != "" {
				return *c.Finish
			}
		}
	}
	return ""
}

// id is the first id that came.
func (r *reply) id() string {
	for i := range r.chunks {
		if id := r.chunks[i].ID; id != nil && *id != "" {
			return *id
		}
	}
	return ""
}

// short cuts a text at a rune.
func short(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
