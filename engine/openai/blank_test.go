package openai

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/engine"
)

// TestBlankEvents: events that name a choice and hold no content are kept
// apart by what they have instead; event i of a test stream comes at 1000·(i+1).
func TestBlankEvents(t *testing.T) {
	a := play(t, newDriver(t, "openai-chat", nil), &engine.Call{}, stream(
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"+
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"+
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n"+
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"}}]}\n\n"+
			"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"+
			"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\n"+
			"data: [DONE]\n\n"))
	want := engine.Blanks{At: []int64{1000, 3000, 5000}, Kind: []engine.Blank{engine.RoleBlank, engine.EmptyBlank, engine.BareBlank}}
	if diff := cmp.Diff(want, a.Blanks); diff != "" {
		t.Error(diff)
	}
	if a.UsageAt != 6000 {
		t.Errorf("usage at %d, expected 6000", a.UsageAt)
	}
}

// TestBlankEventsAreBounded: a server that sends nothing but blank events
// fills a bounded list.
func TestBlankEventsAreBounded(t *testing.T) {
	body := ""
	for range maxBlanks + 10 {
		body += "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n"
	}
	if a := play(t, newDriver(t, "openai-chat", nil), &engine.Call{}, stream(body)); len(a.Blanks.At) != maxBlanks {
		t.Errorf("%d blank events kept, expected %d", len(a.Blanks.At), maxBlanks)
	}
}
