package trace

import "testing"

// TestTold: whether a source says how a request went.
func TestTold(t *testing.T) {
	for _, c := range []struct {
		name, data   string
		told, failed bool
	}{
		{"lengths alone", `{"at":0,"input_tokens":1}`, false, false},
		{"status", `{"at":0,"input_tokens":1,"status":200}`, true, false},
		{"said not to have failed", `{"at":0,"input_tokens":1,"failed":false}`, true, false},
		{"failed", `{"at":0,"input_tokens":1,"failed":true}`, true, true},
		{"azure", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n", false, false},
		{"burstgpt", "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n", true, false},
		{"litellm", `{"startTime":1767225600.1,"endTime":1767225601.2,"call_type":"acompletion","prompt_tokens":3,"completion_tokens":4,"status":"success"}`, true, false},
		{"litellm that failed", `{"startTime":1767225600.1,"endTime":1767225601.2,"call_type":"acompletion","prompt_tokens":3,"completion_tokens":0,"status":"failure"}`, true, true},
		{"litellm without a status", `{"startTime":1767225600.1,"endTime":1767225601.2,"call_type":"acompletion","prompt_tokens":3,"completion_tokens":4}`, false, false},
	} {
		rows, _ := all(t, c.data, Options{})
		if len(rows) != 1 || rows[0].Told != c.told || rows[0].Failed != c.failed {
			t.Errorf("%s: %+v", c.name, rows)
		}
	}
}
