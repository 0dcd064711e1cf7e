package vllm

import (
	"testing"

	"github.com/tokamak-bench/tokamak/sim/text"
)

func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		`{"messages":[{"role":"user","content":"hi"}],"max_tokens":3,"stream":true,"stream_options":{"include_usage":true}}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`,
		`{"prompt":["a","b"],"n":2,"seed":-1}`, `{"prompt":[[1,2],[3]]}`, `{"prompt":[1,2]}`, `{"prompt":"\ud800"}`, `{`,
	} {
		f.Add([]byte(s))
	}
	l := &language{codec: text.Pieces{}, answers: text.NewAnswers(func(string) uint32 { return 0 })}
	f.Fuzz(func(t *testing.T, body []byte) {
		q, problem := parse(body)
		if problem != nil {
			return
		}
		for _, a := range []api{chatAPI, completionAPI} {
			if q.check(a) != nil {
				continue
			}
			if _, problem := l.prompts(q, a); problem != nil && (problem.Code < 400 || problem.Code == 500) {
				t.Errorf("%s: %+v", body, problem)
			}
		}
	})
}
