package fit

import (
	"encoding/json"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// texts hands the texts of a row's prompts, never the answers, to whom the
// user asked to learn from them.
func (o *Options) texts(r *trace.Row) {
	owner := ""
	if r.Tenant != "" || r.Session != "" {
		owner = r.Tenant + "\x00" + r.Session
	}
	for i := range r.Turns {
		for _, m := range r.Turns[i].Messages {
			if m.Text != "" && m.Role != "assistant" {
				o.Texts(owner, m.Text)
			}
		}
	}
	if len(r.Body) == 0 {
		return
	}
	var body struct {
		Prompt   json.RawMessage `json:"prompt"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(r.Body, &body) != nil {
		return // of a form that has no such texts
	}
	for _, m := range body.Messages {
		if m.Role != "assistant" {
			o.content(owner, m.Content)
		}
	}
	o.content(owner, body.Prompt)
}

// content learns a text, or the texts of parts.
func (o *Options) content(owner string, raw json.RawMessage) {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		o.Texts(owner, text)
		return
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return
	}
	for _, p := range parts {
		if p.Text != "" {
			o.Texts(owner, p.Text)
		}
	}
}
