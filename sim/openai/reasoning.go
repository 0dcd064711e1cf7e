package openai

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
)

// unboundThinking is how many tokens are reasoning where no length is asked for.
const unboundThinking = 64

// thinking tells whether a request switches reasoning, and how many tokens of
// each answer are that: half with enable_thinking, a share by its effort with
// reasoning_effort. A request that switches nothing has none.
func (q *query) thinking() (switched bool, tokens int64) {
	of := int64(2 * unboundThinking)
	if q.MaxTokens != nil {
		of = *q.MaxTokens
	}
	quarters := int64(0)
	if k := q.ChatTemplateKwargs; k != nil && k.EnableThinking != nil {
		if switched = true; *k.EnableThinking {
			quarters = 2
		}
	}
	if q.ReasoningEffort != nil {
		switched = true
		quarters = map[string]int64{"low": 1, "medium": 2, "high": 3}[*q.ReasoningEffort]
	}
	return switched, of * quarters / 4
}

// reasoned is what stands around the text of a token that is reasoning.
func (f *frames) reasoned() (before, after string) {
	return strings.Replace(f.before, `"content":`, `"reasoning_content":`, 1), strings.Replace(f.after, `"reasoning_content":null`, `"content":null`, 1)
}

// thoughts counts the tokens of all answers that are reasoning.
func (w *writer) thoughts(x *face.Exchange) (n int64) {
	for i := range x.Choices {
		n += min(w.thinking, x.Choices[i].Written)
	}
	return n
}

// counted writes a usage, with the reasoning in it where the request switches it.
func (w *writer) counted(b []byte, u core.Usage, x *face.Exchange, reasoning int64) []byte {
	b = w.d.Usage(b, u, x)
	if !w.switched {
		return b
	}
	if own, ok := bytes.CutSuffix(b, []byte(`"reasoning_tokens":0}`)); ok { // the engine's own place
		return append(strconv.AppendInt(append(own, `"reasoning_tokens":`...), reasoning, 10), '}')
	}
	b = append(bytes.TrimSuffix(b, []byte("}")), `,"completion_tokens_details":{"reasoning_tokens":`...)
	return append(strconv.AppendInt(b, reasoning, 10), "}}"...)
}
