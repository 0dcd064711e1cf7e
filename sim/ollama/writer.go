package ollama

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/openai"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// writer writes the answer: a line for each token and one for the end. It is
// its own stream.
type writer struct {
	chat   bool
	prompt []uint32
	call   *openai.Call
	said   []byte
	ids    []uint32
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []call `json:"tool_calls,omitempty"`
}

type call struct {
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type line struct {
	Model    string   `json:"model"`
	Created  string   `json:"created_at"`
	Message  *message `json:"message,omitempty"`
	Response *string  `json:"response,omitempty"`
	Done     bool     `json:"done"`
	Reason   string   `json:"done_reason,omitempty"`
	Context  []uint32 `json:"context,omitempty"`
	*durations
}

// durations are in ns.
type durations struct {
	Total      int64 `json:"total_duration"`
	Load       int64 `json:"load_duration"`
	PromptN    int64 `json:"prompt_eval_count"`
	PromptTime int64 `json:"prompt_eval_duration"`
	EvalN      int64 `json:"eval_count"`
	EvalTime   int64 `json:"eval_duration"`
}

func (w *writer) line(x *face.Exchange, said string) line {
	l := line{Model: x.Served(), Created: x.Now().UTC().Format(time.RFC3339Nano)}
	if w.chat {
		l.Message = &message{Role: "assistant", Content: said}
	} else {
		l.Response = &said
	}
	return l
}

// Token writes a token's line. A call is written when it is whole.
func (w *writer) Token(b []byte, c *face.Choice, t *text.Word) []byte {
	w.said = append(w.said, t.Text...)
	if !w.chat {
		w.ids = append(w.ids, t.ID)
	}
	if w.call != nil {
		return b
	}
	return append(face.AppendJSON(b, w.line(c.Exchange(), t.Text)), '\n')
}

// Finish writes the call, where there is one, and the end.
func (w *writer) Finish(b []byte, c *face.Choice) []byte {
	if w.call != nil && c.Finish == core.Stop {
		l := w.line(c.Exchange(), "")
		l.Message.Calls = w.calls()
		b = append(face.AppendJSON(b, l), '\n')
	}
	return append(face.AppendJSON(b, w.last(c, "")), '\n')
}

// Close writes nothing: the last line says that it is.
func (w *writer) Close(b []byte, _ *face.Exchange) []byte { return b }

func (w *writer) calls() []call {
	var one call
	one.Function.Name, one.Function.Arguments = w.call.Name, json.RawMessage(w.said)
	return []call{one}
}

// last is the line with the end.
func (w *writer) last(c *face.Choice, said string) line {
	l, st := w.line(c.Exchange(), said), c.Stats()
	l.Done, l.Reason = true, string(c.Finish)
	if !w.chat {
		l.Context = append(append(l.Context, w.prompt...), w.ids...)
	}
	l.durations = &durations{Total: st.Ended - st.Arrived, Load: st.Scheduled - st.Arrived, PromptN: st.Prompt, PromptTime: st.FirstToken - st.Scheduled,
		EvalN: c.Written, EvalTime: st.LastToken - st.FirstToken}
	return l
}

// body is the answer of a request that does not stream.
func (w *writer) body(x *face.Exchange, _ http.Header) any {
	c := &x.Choices[0]
	c.Each(func(t *text.Word) { w.said, w.ids = append(w.said, t.Text...), append(w.ids, t.ID) })
	if w.call != nil && c.Finish == core.Stop {
		l := w.last(c, "")
		l.Message.Calls = w.calls()
		return l
	}
	return w.last(c, string(w.said))
}
