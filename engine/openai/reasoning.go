package openai

import (
	"encoding/json"
	"errors"
	"strings"
)

// Switch is the field of a request that switches a model's reasoning, with its
// values. The API has none that all servers know, so that the user names it.
type Switch struct {
	Field   string
	On, Off json.RawMessage
	text    string
}

// Switches lists the forms that ParseSwitch reads.
const Switches = "enable_thinking, or reasoning_effort=ON/OFF such as reasoning_effort=high/low"

// ParseSwitch reads a switch:
//
//	enable_thinking              chat_template_kwargs: {enable_thinking: true or false}, which vLLM, SGLang and llama.cpp hand to the chat template
//	reasoning_effort=high/low    reasoning_effort: the word in front of the slash, or the one behind it
func ParseSwitch(s string) (*Switch, error) {
	if s == "enable_thinking" {
		return &Switch{"chat_template_kwargs", []byte(`{"enable_thinking":true}`), []byte(`{"enable_thinking":false}`), s}, nil
	}
	words, ok := strings.CutPrefix(s, "reasoning_effort=")
	on, off, two := strings.Cut(words, "/")
	if !ok || !two || !isEffort(on) || !isEffort(off) || on == off {
		return nil, errors.New("expected " + Switches)
	}
	return &Switch{"reasoning_effort", []byte(`"` + on + `"`), []byte(`"` + off + `"`), s}, nil
}

// isEffort tells whether a text is a word of an API.
func isEffort(s string) bool { return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == "" }

// String is the form that ParseSwitch reads.
func (s *Switch) String() string { return s.text }

// value is what the field says.
func (s *Switch) value(on bool) json.RawMessage {
	if on {
		return s.On
	}
	return s.Off
}
