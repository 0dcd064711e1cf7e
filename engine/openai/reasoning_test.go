package openai

import (
	"bytes"
	"net/url"
	"testing"

	"github.com/tokamak-bench/tokamak/engine"
)

func TestSwitches(t *testing.T) {
	for text, want := range map[string][2]string{
		"enable_thinking":            {`"chat_template_kwargs":{"enable_thinking":true}`, `"chat_template_kwargs":{"enable_thinking":false}`},
		"reasoning_effort=high/none": {`"reasoning_effort":"high"`, `"reasoning_effort":"none"`},
	} {
		s, err := ParseSwitch(text)
		if err != nil || s.String() != text {
			t.Fatal(s, err)
		}
		d, err := New(APIChat, Options{Base: &url.URL{Scheme: "http", Host: "h"}, Switch: s})
		if err != nil {
			t.Fatal(err)
		}
		for i, on := range []bool{true, false} {
			r, err := d.Encode(&engine.Call{Messages: []engine.Message{{Content: "x"}}, Reasons: &on})
			if err != nil || !bytes.Contains(r.Body, []byte(want[i])) {
				t.Errorf("%s %v: %s %v", text, on, r.Body, err)
			}
			r, err = d.Encode(&engine.Call{Body: []byte(`{"messages":[]}`), Reasons: &on})
			if err != nil || !bytes.Contains(r.Body, []byte(want[i])) {
				t.Errorf("%s %v, a recorded body: %s %v", text, on, r.Body, err)
			}
			own := []byte(`{"model":"m","stream":false,"` + s.Field + `":"own"}`)
			if r, err = d.Encode(&engine.Call{Body: own, Reasons: &on}); err != nil || !bytes.Equal(r.Body, own) {
				t.Errorf("%s %v, a recorded body with the field: %s %v", text, on, r.Body, err)
			}
		}
		if r, _ := d.Encode(&engine.Call{Messages: []engine.Message{{Content: "x"}}}); bytes.Contains(r.Body, []byte(s.Field)) {
			t.Errorf("a call of which nothing is known: %s", r.Body)
		}
	}
	for _, text := range []string{"", "thinking", "enable_thinking=1", "reasoning_effort", "reasoning_effort=high", "reasoning_effort=low/low", "reasoning_effort=/low", `reasoning_effort=a"/b`, "reasoning_effort=a/b/c"} {
		if s, err := ParseSwitch(text); err == nil {
			t.Errorf("%q: %v", text, s)
		}
	}
}
