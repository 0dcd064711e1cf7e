package trace

import (
	"bytes"

	"github.com/valyala/fastjson"
)

// limitFields are the fields of request bodies that limit an answer, those of
// the newer APIs first: OpenAI's, Anthropic's and vLLM's, then of TGI, SGLang,
// llama.cpp, Ollama, Gemini and Bedrock.
func limitFields() []string {
	return []string{"max_completion_tokens", "max_tokens", "max_output_tokens", "max_new_tokens", "n_predict",
		"parameters.max_new_tokens", "sampling_params.max_new_tokens", "options.num_predict", "generationConfig.maxOutputTokens", "inferenceConfig.maxTokens"}
}

// limit returns the limit that the first of the fields with one sets; 0 where
// none does. There are many ways to say that there is none: null (OpenAI, vLLM,
// TGI), -1 (llama.cpp, Ollama, whose -2 is the room that is left), 0, and numbers
// that no model reaches, such as 2^31-1. What is no whole number is an error.
func (o object) limit(keys ...string) int64 {
	for _, key := range keys {
		if v := o.get(key); v != nil {
			if n := o.limitOf(v, key); n > 0 || *o.err != nil {
				return n
			}
		}
	}
	return 0
}

// limitOf is limit of one value.
func (o object) limitOf(v *fastjson.Value, name string) int64 {
	n, ok := binding(v, o.raw(v))
	if !ok {
		o.fail("expected %s%s to be a whole number of tokens, found %s", o.path, name, shown(v, o.raw(v)))
	}
	return n
}

// binding reads a limit, a value and what is written of it: 0 where it is none or no answer can reach it; false
// where it is no whole number.
func binding(v *fastjson.Value, b []byte) (n int64, ok bool) {
	if t := v.Type(); t != fastjson.TypeNumber && t != fastjson.TypeString {
		return 0, false
	}
	if v.Type() == fastjson.TypeString && none(b) {
		return 0, true
	}
	n, exact, ok := decimal(b, 0)
	switch {
	case !ok: // 2^64-1 is a number too
		return 0, len(bytes.Trim(b, "0123456789")) == 0
	case !exact:
		return 0, false
	case n < 0 || n > MaxTokens:
		return 0, true
	}
	return n, true
}
