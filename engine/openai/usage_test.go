package openai

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/engine"
)

func known(n int64) engine.Count { return engine.Count{N: n, Known: true} }

// withUsage is a content chunk that carries a usage object.
func withUsage(choice int, text string, prompt, completion int) string {
	return fmt.Sprintf(`{"choices":[{"index":%d,"delta":{"content":%q}}],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`,
		choice, text, prompt, completion)
}

func final(completion int) string {
	return fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":%d}}`, completion)
}

func TestUsage(t *testing.T) {
	tests := map[string]struct {
		body   string
		want   engine.Usage
		tokens []int32
		times  [3]engine.Count
		n      int
	}{
		"last chunk": {body: sse(delta(`"content":"a"`), finish("stop"), usage, done),
			want: engine.Usage{Prompt: known(5), Completion: known(2)}},
		"details": {body: sse(delta(`"content":"a"`), finish("stop"), `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"audio_tokens":0,"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":1}}}`, done),
			want: engine.Usage{Prompt: known(5), Completion: known(2), Cached: known(4), Reasoning: known(1)}},
		"details of null": {body: sse(delta(`"content":"a"`), finish("stop"), `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":null,"completion_tokens_details":{"reasoning_tokens":null}}}`, done),
			want: engine.Usage{Prompt: known(5), Completion: known(2)}},
		"DeepSeek's cache hits": {body: sse(delta(`"content":"a"`), finish("stop"), `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_cache_hit_tokens":3,"prompt_cache_miss_tokens":2}}`, done),
			want: engine.Usage{Prompt: known(5), Completion: known(2), Cached: known(3)}},
		"usage within the choice": {body: sse(delta(`"content":"a"`), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":5,"completion_tokens":2}}]}`, done),
			want: engine.Usage{Prompt: known(5), Completion: known(2)}},
		"usage in x_groq": {body: sse(delta(`"content":"a"`), finish("stop"), `{"choices":[],"x_groq":{"id":"r","usage":{"queue_time":0.25,"prompt_tokens":5,"prompt_time":0.5,"completion_tokens":2,"completion_time":1}}}`, done),
			want: engine.Usage{Prompt: known(5), Completion: known(2)}, times: [3]engine.Count{known(25e7), known(5e8), known(1e9)}},
		"llama.cpp's timings": {body: sse(delta(`"content":"a"`), finish("stop"), `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2},"timings":{"cache_n":1,"prompt_n":4,"prompt_ms":1.5,"predicted_n":2,"predicted_ms":20.25}}`, done),
			want: engine.Usage{Prompt: known(5), Completion: known(2)}, times: [3]engine.Count{{}, known(15e5), known(2025e4)}},
		"zeros in each chunk": {body: sse(withUsage(0, "a", 0, 0), withUsage(0, "b", 0, 0), finish("stop"), usage, done),
			want: engine.Usage{Prompt: known(5), Completion: known(2)}},
		"running totals": {body: sse(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}],"usage":{"prompt_tokens":5,"completion_tokens":0}}`,
			withUsage(0, "a", 5, 1), withUsage(0, "bc", 5, 3), withUsage(0, "d", 5, 4), finish("stop"), final(5), done),
			want: engine.Usage{Prompt: known(5), Completion: known(5)}, tokens: []int32{1, 2, 1}},
		"running totals of two choices": {n: 2, body: sse(withUsage(0, "a", 5, 1), withUsage(1, "b", 5, 2), withUsage(0, "c", 5, 3), withUsage(1, "d", 5, 3),
			finish("stop"), `{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}`, final(6), done),
			want: engine.Usage{Prompt: known(5), Completion: known(6)}, tokens: []int32{1, 2, 2, 1}},
		"running totals without a last": {body: sse(withUsage(0, "a", 5, 1), withUsage(0, "b", 5, 2), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`, done),
			want: engine.Usage{Prompt: known(5), Completion: known(3)}, tokens: []int32{1, 1}},
		"counts of the chunk": {body: sse(withUsage(0, "a", 5, 1), withUsage(0, "b", 5, 1), withUsage(0, "cd", 5, 2), withUsage(0, "e", 5, 1), finish("stop"), final(5), done),
			want: engine.Usage{Prompt: known(5), Completion: known(5)}, tokens: []int32{1, 1, 2, 1}},
		"counts of the chunk that never fall": {body: sse(withUsage(0, "a", 5, 1), withUsage(0, "b", 5, 1), withUsage(0, "c", 5, 1), withUsage(0, "de", 5, 2), finish("stop"), final(5), done),
			want: engine.Usage{Prompt: known(5), Completion: known(5)}, tokens: []int32{1, 1, 1, 2}},
		"totals that fall": {body: sse(withUsage(0, "a", 5, 3), withUsage(0, "b", 5, 2), finish("stop"), final(4), done),
			want: engine.Usage{Prompt: known(5), Completion: known(4)}},
		"not in each chunk": {body: sse(withUsage(0, "a", 5, 1), delta(`"content":"b"`), withUsage(0, "c", 5, 3), finish("stop"), final(3), done),
			want: engine.Usage{Prompt: known(5), Completion: known(3)}},
		"no counts": {body: sse(delta(`"content":"a"`), finish("stop"), `{"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":1.5}}`, `{"choices":[],"usage":{"prompt_tokens":1e300,"completion_tokens":1e12}}`, done)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := play(t, newDriver(t, APIChat, func(o *Options) { o.N = tt.n }), hi(), stream(tt.body))
			if a.Failure != engine.Whole {
				t.Errorf("violations %v", a.Violations)
			}
			if diff := cmp.Diff(tt.want, a.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.tokens, a.Chunks.Tokens); diff != "" {
				t.Errorf("tokens (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.times, [3]engine.Count{a.Queue, a.Prefill, a.Decode}); diff != "" {
				t.Errorf("queue, prefill, decode (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUsageOfBrokenEvent: what stood in an event that is no JSON does not count.
func TestUsageOfBrokenEvent(t *testing.T) {
	a := play(t, newDriver(t, APIChat, nil), hi(), stream(sse(delta(`"content":"a"`), finish("stop"), final(2)+"]", done)))
	if a.Usage != (engine.Usage{}) || a.ErrorClass != badJSON {
		t.Errorf("%+v, %s", a.Usage, a.ErrorClass)
	}
}

// TestUsageThatCannotBe: what is no number breaks the API's form; numbers that
// count nothing or contradict each other are noted, and never taken for zero.
func TestUsageThatCannotBe(t *testing.T) {
	for object, want := range map[string]string{
		`{"prompt_tokens":"5","completion_tokens":2}`:                                                   badShape,
		`{"prompt_tokens":5,"completion_tokens":true}`:                                                  badShape,
		`{"prompt_tokens":5,"completion_tokens":[2]}`:                                                   badShape,
		`{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":[1]}`:                         badShape,
		`{"prompt_tokens":5,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":""}}`: badShape,
		`[5,2]`: badShape,
		`{"prompt_tokens":-5,"completion_tokens":2}`:                                                                                               usageImplausible,
		`{"prompt_tokens":5,"completion_tokens":1e30}`:                                                                                             usageImplausible,
		`{"prompt_tokens":5,"completion_tokens":2.5}`:                                                                                              usageImplausible,
		`{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":6}}`:                                                    usageImplausible,
		`{"prompt_tokens":5,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":500}}`:                                           usageImplausible,
		`{"prompt_tokens":null,"completion_tokens":2}`:                                                                                             "",
		`{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":5},"completion_tokens_details":{"reasoning_tokens":2}}`: "",
		`null`: "",
	} {
		for form, response := range map[string]string{
			"stream": sse(delta(`"content":"a"`), finish("stop"), `{"choices":[],"usage":`+object+`}`, done),
			"groq":   sse(delta(`"content":"a"`), finish("stop"), `{"choices":[],"x_groq":{"usage":`+object+`}}`, done),
		} {
			a := play(t, newDriver(t, APIChat, nil), hi(), stream(response))
			if got := strings.Join(a.Violations, " "); (want == badShape) != (got == badShape) {
				t.Errorf("%s %s: violations %q", form, object, got)
			}
			if got := slices.Contains(a.Notes, usageImplausible); got != (want == usageImplausible) || slices.Contains(a.Notes, usageZero) {
				t.Errorf("%s %s: notes %q", form, object, a.Notes)
			}
		}
	}
}
