package openai

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/engine"
)

func TestEncodeMedia(t *testing.T) {
	call := &engine.Call{Tools: []byte(`[{"type":"function"}]`), Messages: []engine.Message{
		{Role: "system", Content: "Look."},
		{Role: "user", Content: "What is \"this\"?", Media: []engine.Media{
			{Kind: engine.Image, Format: "png", Data: []byte("ab")}, {Kind: engine.Audio, Format: "wav", Data: []byte("c")}}},
		{Role: "user", Media: []engine.Media{{Kind: engine.Image, Format: "jpeg", Data: []byte("abc")}}},
	}}
	r, err := newDriver(t, APIChat, nil).Encode(call)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":"Look."},` +
		`{"role":"user","content":[{"type":"text","text":"What is \"this\"?"},` +
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,YWI="}},{"type":"input_audio","input_audio":{"data":"Yw==","format":"wav"}}]},` +
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,YWJj"}}]}],"tools":[{"type":"function"}]}`
	if diff := cmp.Diff(want, string(r.Body)); diff != "" {
		t.Error(diff)
	}
	r, err = newDriver(t, APIChat, func(o *Options) { o.Extra = []byte(`{"tools":null}`) }).Encode(call)
	if err != nil || strings.Contains(string(r.Body), "tools") {
		t.Errorf("%v: %s", err, r.Body)
	}
	for _, c := range []*engine.Call{{Tools: []byte("[]")}, {Messages: call.Messages}} {
		if _, err := newDriver(t, APICompletions, nil).Encode(c); err == nil || !strings.Contains(err.Error(), APIChat) {
			t.Errorf("%v", err)
		}
	}
}
