package openai

import (
	"testing"

	"github.com/tokamak-bench/tokamak/wire"
)

func TestIsToken(t *testing.T) {
	tests := map[string]struct {
		data string
		want bool
	}{
		"text":            {delta(`"content":"x"`), true},
		"spaced":          {delta(`"content": "x"`), true},
		"spaced before":   {delta(`"content" : "x"`), true},
		"completion":      {`{"choices":[{"text":"x"}]}`, true},
		"reasoning":       {delta(`"reasoning_content":"x"`), true},
		"reasoning, vLLM": {delta(`"content":null,"reasoning":"x"`), true},
		"tool":            {delta(`"tool_calls":[{"function":{"name":"f"}}]`), true},
		"arguments":       {delta(`"tool_calls":[{"function":{"arguments":"{"}}]`), true},
		"refusal":         {delta(`"refusal":"x"`), true},
		"whole":           {`{"choices":[{"message":{"content":"x"}}]}`, true},
		"escaped quote":   {delta(`"content":"\""`), true},
		"role":            {role, false},
		"null":            {delta(`"content":null,"tool_calls":[],"refusal":null`), false},
		"finish":          {finish("stop"), false},
		"usage":           {usage, false},
		"done":            {done, false},
		"error":           {`{"error":{"message":"content: x"}}`, false},
		"name in text":    {`{"error":{"message":"\"content\":\"x\""}}`, false},
		"empty":           {``, false},
	}
	for name, tt := range tests {
		event := []byte("data: " + tt.data + "\n\n")
		if got := IsToken(event); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
		if n := testing.AllocsPerRun(10, func() { IsToken(event) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if IsToken([]byte(": keep-alive\n\n")) {
		t.Error("a comment is no token")
	}
}

// TestIsTokenMeansContent: what is no token for the transport brings no content
// for the decoder.
func TestIsTokenMeansContent(t *testing.T) {
	for name, tt := range map[string]string{"role": role, "usage": usage, "finish": finish("stop"), "text": delta(`"content":"x"`)} {
		a := play(t, newDriver(t, APIChat, nil), hi(), response{status: 200, framing: wire.SSE, body: sse(tt)})
		if (len(a.Chunks.At) > 0) != IsToken([]byte(sse(tt))) {
			t.Errorf("%s: %d chunks", name, len(a.Chunks.At))
		}
	}
}
