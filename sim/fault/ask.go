package fault

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// object is a JSON object of which only some fields are read.
type object map[string]json.RawMessage

// edit returns how a fault changes what is asked for; nil: not at all.
func edit(h *Hit) func(object) {
	switch h.Definition.Name {
	case "ignore_max_tokens":
		return func(o object) { o.each(func(o object) { o.lengthen(h.value("times")) }) }
	case "ignore_stop":
		return func(o object) { o.each(func(o object) { delete(o, "stop"); delete(o, "stop_token_ids") }) }
	case "ignore_n":
		return func(o object) { o.each(func(o object) { delete(o, "n"); delete(o, "best_of") }) }
	case "unstable":
		return func(o object) {
			o.each(func(o object) { o["seed"] = strconv.AppendUint(nil, h.Key>>12, 10) })
		}
	case "cache_poison":
		return func(o object) { delete(o, "cache_salt") }
	case "truncate_prompt":
		return func(o object) { o.truncate(h.value("keep")) }
	}
	return nil
}

// each calls f with the object and with those below it in which the APIs keep
// their sampling parameters.
func (o object) each(f func(object)) {
	f(o)
	for _, key := range []string{"parameters", "sampling_params", "options"} {
		var below object
		if json.Unmarshal(o[key], &below) != nil || below == nil {
			continue
		}
		f(below)
		if b, err := json.Marshal(below); err == nil {
			o[key] = b
		}
	}
}

// lengthen multiplies whichever limit of the answer there is, and makes the
// answer reach it.
func (o object) lengthen(times float64) {
	for _, key := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "n_predict", "num_predict"} {
		n, err := strconv.ParseFloat(string(o[key]), 64)
		if err != nil || n < 1 {
			continue
		}
		n = math.Ceil(n * times)
		o[key] = strconv.AppendInt(nil, int64(min(n, 1<<40)), 10)
		o["ignore_eos"] = json.RawMessage("true")
	}
}

// truncate drops the front of every prompt text, and of token ids.
func (o object) truncate(keep float64) {
	for _, key := range []string{"prompt", "inputs", "text", "input", "text_input"} {
		if raw, ok := o[key]; ok {
			o[key] = tail(raw, keep)
		}
	}
	var messages []object
	if json.Unmarshal(o["messages"], &messages) != nil {
		return
	}
	for _, m := range messages {
		if raw, ok := m["content"]; ok && m != nil {
			m["content"] = tail(raw, keep)
		}
	}
	if b, err := json.Marshal(messages); err == nil {
		o["messages"] = b
	}
}

// tail keeps the last share of a text or of a list.
func tail(raw json.RawMessage, keep float64) json.RawMessage {
	var text string
	var list []json.RawMessage
	var out any
	switch {
	case json.Unmarshal(raw, &text) == nil:
		i := len(text) - int(math.Ceil(float64(len(text))*keep))
		for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
			i++
		}
		out = text[i:]
	case json.Unmarshal(raw, &list) != nil || len(list) == 0:
		return raw
	case list[0][0] == '"' || list[0][0] == '[': // several prompts
		for i := range list {
			list[i] = tail(list[i], keep)
		}
		out = list
	case list[0][0] >= '0' && list[0][0] <= '9': // token ids
		out = list[len(list)-int(math.Ceil(float64(len(list))*keep)):]
	default:
		return raw
	}
	b, err := json.Marshal(out)
	if err != nil {
		return raw
	}
	return b
}
