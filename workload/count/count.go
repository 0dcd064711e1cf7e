package count

import (
	"bytes"

	"github.com/valyala/fastjson"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// Tokenizer counts the tokens of texts; those of package token do.
type Tokenizer interface {
	Name() string
	Count(text string) (int, error)
}

// Turn returns the tokens of what a turn says and of its answer. An error is the
// tokenizer's.
func Turn(t *trace.Turn, c Tokenizer) (said, answer int64, err error) {
	n := sum{counter: c}
	for i := range t.Messages {
		n.text(t.Messages[i].Text)
	}
	said = n.tokens
	n.text(t.Answer)
	return said, n.tokens - said, n.err
}

// Body returns the tokens of the prompt in a request body: of what messages,
// prompt, input, contents and their like hold, what earlier answers in it say
// included. 0 is a body without such texts. An error is the tokenizer's.
func Body(body []byte, c Tokenizer) (tokens int64, err error) {
	n := sum{counter: c}
	v, err := fastjson.ParseBytes(bytes.Clone(body)) // what it returns may lie in what it was given
	if err != nil {
		return 0, nil // a body of a form that has no such texts
	}
	for _, key := range []string{"system", "system_instruction", "systemInstruction", "instructions", "messages", "prompt", "input", "inputs", "contents"} {
		n.content(v.Get(key), mostDepth)
	}
	if tools := v.Get("tools"); tools != nil && tools.Type() == fastjson.TypeArray && len(tools.GetArray()) > 0 {
		n.text(string(tools.MarshalTo(nil)))
	}
	return n.tokens, n.err
}

// mostDepth bounds how deep content lies in content.
const mostDepth = 8

// sum adds up tokens until the tokenizer fails.
type sum struct {
	counter Tokenizer
	tokens  int64
	err     error
}

func (s *sum) text(text string) {
	if text == "" || s.err != nil {
		return
	}
	n, err := s.counter.Count(text)
	s.tokens, s.err = s.tokens+int64(n), err
}

// content adds a text, a list of token ids, or lists and objects that hold
// texts.
func (s *sum) content(v *fastjson.Value, depth int) {
	if v == nil || depth == 0 {
		return
	}
	switch v.Type() {
	case fastjson.TypeString:
		s.text(string(v.GetStringBytes()))
	case fastjson.TypeNumber:
		s.tokens++ // of a prompt given as ids
	case fastjson.TypeArray:
		for _, part := range v.GetArray() {
			s.content(part, depth-1)
		}
	case fastjson.TypeObject:
		s.object(v, depth-1)
	}
}

// object adds what a message or a part of one says.
func (s *sum) object(v *fastjson.Value, depth int) {
	for _, key := range []string{"content", "parts", "text", "reasoning_content", "arguments", "output", "name"} {
		if t := v.Get(key); t != nil && t.Type() != fastjson.TypeNumber {
			s.content(t, depth)
		}
	}
	for _, call := range v.GetArray("tool_calls") {
		s.content(call.Get("function", "name"), depth)
		s.content(call.Get("function", "arguments"), depth)
	}
	if input := v.Get("input"); input != nil && input.Type() == fastjson.TypeObject { // a tool's, of Anthropic's form
		s.text(string(input.MarshalTo(nil)))
	}
}
