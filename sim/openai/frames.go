package openai

import (
	"net/http"
	"strconv"

	"encoding/json"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// writer writes the answer to one query.
type writer struct {
	d     *Dialect
	q     *query
	api   api
	shape *Shape
	call  *Call
	// switched says that the request switches reasoning on or off, and thinking
	// how many tokens of an answer are that.
	switched bool
	thinking int64
}

// frames are the chunks of one stream. All but a token's text is ready before
// the first one.
type frames struct {
	writer
	x      *face.Exchange
	head   []byte // up to the choice's index
	before string // from the index to the text
	after  string // from the text to the logprobs, or to the end of the choice without
	tail   string // of every chunk
	counts bool   // usage in every chunk
	usage  bool   // in a chunk of its own
	held   []*text.Word
}

func (w writer) frames(x *face.Exchange) *frames {
	f := &frames{writer: w, x: x, before: w.shape.Open, after: w.shape.Close, tail: w.d.Tail}
	if o := w.q.StreamOptions; o != nil {
		f.counts, f.usage = o.ContinuousUsage, o.IncludeUsage
	}
	if f.usage && w.d.UsageTail != "" {
		f.tail = w.d.UsageTail
	}
	if w.call != nil {
		f.before, f.after = `,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"`, `"}}]}`
	}
	if w.q.logprobs < 0 {
		f.after += w.noLogprobs() + w.shape.NotEnded + "]"
	}
	if w.shape.Joined {
		f.held = make([]*text.Word, len(x.Choices))
	}
	f.head = w.head([]byte("data: "), x, true)
	f.head = append(f.head, `,"choices":[{"index":`...)
	return f
}

func (w *writer) noLogprobs() string {
	if w.shape.Logprobs {
		return `,"logprobs":null`
	}
	return ""
}

// head appends the fields that all chunks share.
func (w *writer) head(b []byte, x *face.Exchange, chunk bool) []byte {
	b = append(b, `{"id":`...)
	if w.d.NoID {
		b = append(b, `""`...)
	} else {
		b = face.AppendString(b, x.ID)
	}
	b = append(b, `,"object":"`+w.api.object(chunk)+`","created":`...)
	b = strconv.AppendInt(b, x.Created, 10)
	b = append(b, `,"model":`...)
	b = face.AppendString(b, x.Served())
	if w.d.Fingerprint != "" {
		b = append(b, `,"system_fingerprint":"`+w.d.Fingerprint+`"`...)
	}
	return b
}

// Token writes the chunk of a token, before the first one that of the role.
func (f *frames) Token(b []byte, c *face.Choice, w *text.Word) []byte {
	if c.Written == 1 {
		b = f.begin(b, c)
	}
	if f.held != nil && c.Last() {
		f.held[c.Index] = w
		return b
	}
	b = f.open(b, c)
	before, after := f.before, f.after
	if c.Written <= f.thinking {
		before, after = f.reasoned()
	}
	b = append(b, before...)
	b = append(b, w.JSON...)
	b = append(b, after...)
	if f.q.logprobs >= 0 {
		b = f.appendLogprobs(b, c, w)
		b = append(b, f.shape.NotEnded...)
		b = append(b, ']')
	}
	return f.end(b, c, c.Written)
}

// begin writes what comes before a choice's first token.
func (f *frames) begin(b []byte, c *face.Choice) []byte {
	delta := f.shape.Role
	if delta == "" && f.call == nil {
		return b
	}
	if delta != "" {
		b = append(f.open(b, c), delta...)
		b = f.end(append(b, f.noLogprobs()+f.shape.NotEnded+"]"...), c, 0)
	}
	if f.call != nil {
		b = append(f.open(b, c), `,"delta":{"tool_calls":[{"index":0,"id":"`+f.call.ID+`","type":"function","function":{"name":`...)
		b = face.AppendString(b, f.call.Name)
		b = f.end(append(b, `,"arguments":""}}]}`+f.noLogprobs()+f.shape.NotEnded+"]"...), c, 0)
	}
	return b
}

func (f *frames) open(b []byte, c *face.Choice) []byte {
	b = append(b, f.head...)
	return strconv.AppendInt(b, int64(c.Index), 10)
}

// end ends a chunk, where asked with the usage of its choice after so many tokens.
func (f *frames) end(b []byte, c *face.Choice, tokens int64) []byte {
	if f.counts {
		b = append(b, `,"usage":`...)
		b = f.counted(b, core.Usage{Prompt: c.PromptTokens(), Cached: -1, Output: tokens}, f.x, min(f.thinking, tokens))
	} else {
		b = append(b, f.tail...)
	}
	return append(b, "}\n\n"...)
}

// Finish writes the chunk with the reason.
func (f *frames) Finish(b []byte, c *face.Choice) []byte {
	b = f.open(b, c)
	var w *text.Word
	if f.held != nil {
		w = f.held[c.Index]
	}
	switch {
	case w != nil && f.call != nil:
		b = append(append(append(b, f.before...), w.JSON...), `"}}]}`...)
	case w != nil:
		b = append(append(append(b, f.shape.Open...), w.JSON...), f.shape.Close...)
	default:
		b = append(b, f.shape.Empty...)
	}
	if w != nil && f.q.logprobs >= 0 {
		b = f.appendLogprobs(b, c, w)
	} else {
		b = append(b, f.noLogprobs()...)
	}
	b = f.shape.Ended(b, f.reason(c), c.StopString())
	b = append(b, ']')
	if f.shape.EndUsage && !f.counts {
		b = append(b, `,"usage":`...)
		st := c.Stats()
		b = f.counted(b, core.Usage{Prompt: st.Prompt, Cached: st.Cached, Output: c.Written}, f.x, min(f.thinking, c.Written))
	}
	if f.d.Extra != nil && (!f.usage || f.shape.EndUsage) {
		b = f.d.Extra(b, c)
	}
	return f.end(b, c, c.Written)
}

// reason is the finish reason as OpenAI has it.
func (w *writer) reason(c *face.Choice) string {
	if w.call != nil && c.Finish == core.Stop {
		return "tool_calls"
	}
	return string(c.Finish)
}

// Close writes the usage and the terminator.
func (f *frames) Close(b []byte, x *face.Exchange) []byte {
	if f.usage && !f.shape.EndUsage {
		b = f.writer.head(append(b, "data: "...), x, true)
		b = append(b, `,"choices":[],"usage":`...)
		b = f.counted(b, x.Usage(), x, f.thoughts(x))
		if f.d.Extra != nil {
			b = f.d.Extra(b, &x.Choices[0])
		}
		b = append(b, "}\n\n"...)
	}
	return append(b, "data: [DONE]\n\n"...)
}

// body is the answer of a request that does not stream.
func (w *writer) body(x *face.Exchange, _ http.Header) any {
	b := w.head(nil, x, false)
	b = append(b, `,"choices":[`...)
	for i := range x.Choices {
		if i > 0 {
			b = append(b, ',')
		}
		b = w.choice(b, &x.Choices[i])
	}
	b = append(b, `],"usage":`...)
	b = w.counted(b, x.Usage(), x, w.thoughts(x))
	if w.d.Extra != nil {
		b = w.d.Extra(b, &x.Choices[0])
	}
	return json.RawMessage(append(b, '}'))
}

func (w *writer) choice(b []byte, c *face.Choice) []byte {
	var said []byte
	var probs []chosen
	var thought []byte
	c.Each(func(t *text.Word) {
		if c.Written <= w.thinking {
			thought = append(thought, t.Text...)
		} else {
			said = append(said, t.Text...)
		}
		if w.q.logprobs >= 0 {
			probs = append(probs, w.token(c, t))
		}
	})
	b = append(b, `{"index":`...)
	b = strconv.AppendInt(b, int64(c.Index), 10)
	switch {
	case w.api == textAPI:
		b = face.AppendString(append(b, `,"text":`...), string(said))
	case w.call != nil:
		b = append(b, `,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"`+w.call.ID+`","type":"function","function":{"name":`...)
		b = face.AppendString(b, w.call.Name)
		b = face.AppendString(append(b, `,"arguments":`...), string(said))
		b = append(b, `}}]}`...)
	default:
		b = face.AppendString(append(b, `,"message":{"role":"assistant","content":`...), string(said))
		if w.d.RequestID {
			b = append(b, `,"refusal":null`...)
		}
		if len(thought) > 0 {
			b = face.AppendString(append(b, `,"reasoning_content":`...), string(thought))
		}
		b = append(b, '}')
	}
	if w.q.logprobs >= 0 {
		b = append(append(b, `,"logprobs":`...), w.logprobs(probs)...)
	} else {
		b = append(b, w.noLogprobs()...)
	}
	return w.shape.Ended(b, w.reason(c), c.StopString())
}
