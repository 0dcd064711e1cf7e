package openai

import (
	"encoding/json"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/schema"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// Tool is a function that the model may call.
type Tool struct {
	Type     string `json:"type"`
	Function struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// Call is a call of a function.
type Call struct {
	ID, Name  string
	Arguments string // JSON
}

// said is an answer that is not prose.
type said struct {
	words []text.Word
	call  *Call
}

// script returns what a query wants to hear: the arguments of a call, JSON
// after a schema, or nothing in particular.
func (q *query) script(l *face.Language, seed uint64, prompt []uint32) (said, *face.Problem) {
	seed = core.Mix(seed, face.Fingerprint(prompt))
	if q.Seed != nil {
		seed = core.Mix(seed, uint64(*q.Seed))
	}
	call, problem := q.callTool(seed)
	if problem != nil {
		return said{}, problem
	}
	if call != nil {
		words, err := l.Words(call.Arguments)
		if err != nil {
			return said{}, face.Failed(err)
		}
		return said{words, call}, nil
	}
	words, problem := JSONWords(l, "response_format", q.schema(), seed)
	return said{words: words}, problem
}

// schema is the JSON schema that the answer is to follow; nil: none.
func (q *query) schema() json.RawMessage {
	switch f := q.ResponseFormat; {
	case q.StructuredOutputs != nil && len(q.StructuredOutputs.JSON) > 0:
		return q.StructuredOutputs.JSON
	case len(q.GuidedJSON) > 0:
		return q.GuidedJSON
	case f == nil || f.Type == "text":
		return nil
	case f.JSONSchema != nil:
		return f.JSONSchema.Schema
	case len(f.Schema) > 0:
		return f.Schema
	case len(f.Value) > 0:
		return f.Value
	case f.Type == "json_object":
		return json.RawMessage(`{"type":"object"}`)
	}
	return nil
}

// JSONWords returns the tokens of a value that follows a schema; none without one.
func JSONWords(l *face.Language, param string, raw json.RawMessage, seed uint64) ([]text.Word, *face.Problem) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	value, err := schema.Generate(raw, seed)
	if err != nil {
		return nil, face.Bad(param, "%s: %v", param, err)
	}
	words, err := l.Words(string(value))
	if err != nil {
		return nil, face.Failed(err)
	}
	return words, nil
}

// callTool decides on a call. Left to itself the model calls a tool when the
// user spoke last, so that a conversation with tools ends.
func (q *query) callTool(seed uint64) (*Call, *face.Problem) {
	if len(q.Tools) == 0 {
		return nil, nil
	}
	var named struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	choice := "auto"
	if len(q.ToolChoice) > 0 && json.Unmarshal(q.ToolChoice, &choice) != nil {
		if json.Unmarshal(q.ToolChoice, &named) != nil {
			return nil, face.Bad("tool_choice", "tool_choice must be none, auto, required or name a function")
		}
	}
	last := "user"
	if n := len(q.Messages); n > 0 {
		last = q.Messages[n-1].Role
	}
	if name := named.Function.Name; name == "" && (choice == "none" || choice != "required" && last != "user") {
		return nil, nil
	}
	return CallTool(q.Tools, named.Function.Name, seed)
}

// CallTool calls one of tools, or the one that is named.
func CallTool(tools []Tool, name string, seed uint64) (*Call, *face.Problem) {
	tool := &tools[int(core.Mix(seed, 1)%uint64(len(tools)))]
	if name != "" {
		tool = nil
		for i := range tools {
			if tools[i].Function.Name == name {
				tool = &tools[i]
			}
		}
		if tool == nil {
			return nil, face.Bad("tool_choice", "no tool is named %q", name)
		}
	}
	parameters := tool.Function.Parameters
	if len(parameters) == 0 || string(parameters) == "null" {
		parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	arguments, err := schema.Generate(parameters, seed)
	if err != nil {
		return nil, face.Bad("tools", "parameters of %s: %v", tool.Function.Name, err)
	}
	return &Call{ID: "call_" + hex(core.Mix(seed, 2)), Name: tool.Function.Name, Arguments: string(arguments)}, nil
}

func hex(n uint64) string {
	const digits = "0123456789abcdef"
	b := make([]byte, 16)
	for i := range b {
		b[i] = digits[n>>(60-4*i)&15]
	}
	return string(b)
}
