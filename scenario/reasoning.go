package scenario

import (
	"encoding/json"

	"github.com/tokamak-bench/tokamak/engine/openai"
)

// reasoningSwitch reads how the target is told whether to reason. Which field
// it knows is never guessed.
func (r *resolver) reasoningSwitch(s *Scenario) *openai.Switch {
	const id = "workload.reasoning"
	t := s.Workload.Config.Traffic
	r.needs(id, "workload.traffic", "workload.dataset")
	text := r.text(id, openai.Switches)
	if text == "" {
		if t != nil && t.Reasons() {
			s.note("the share of reasoning in %s is not sent: the target decides (--reasoning says which field asks for it)", t.Name)
		}
		return nil
	}
	v := r.set[id]
	sw, err := openai.ParseSwitch(text)
	if err != nil {
		r.fail(v.expected(openai.Switches))
		return nil
	}
	body := r.body()
	switch {
	case t != nil && !t.Reasons():
		r.fail(v.errorf("reasoning needs a share of it in the traffic model: %s has none", t.Name))
	case s.Target.API == openai.APICompletions:
		r.fail(v.errorf("reasoning does not go with openai-completions: expected openai-chat"))
	case body != nil:
		var fields map[string]json.RawMessage
		if json.Unmarshal(body, &fields) == nil && fields[sw.Field] != nil {
			r.fail(v.errorf("reasoning and body both set %s: expected one of them", sw.Field))
		}
	}
	if d := s.Workload.Config.Dataset; d != nil {
		d.Reasoning = true
	}
	if t != nil {
		t.Reasoning = true
	}
	return sw
}
