package llamacpp

import "github.com/tokamak-bench/tokamak/sim/face"

type snapshot = face.Snapshot

// series are the server's metrics: it has no histogram and no label.
func series() *face.Series {
	ratio := func(a, b float64) float64 {
		if b == 0 {
			return 0
		}
		return a / b
	}
	computed := func(s *snapshot) float64 { return float64(s.Prompt - s.Cached) }
	return &face.Series{Prefix: "llamacpp:", Values: []face.Value{
		{Name: "prompt_tokens_total", Help: "Prompt tokens processed, cached ones left out.", Get: computed},
		{Name: "prompt_tokens_cached_total", Help: "Prompt tokens found in the cache.", Get: func(s *snapshot) float64 { return float64(s.Cached) }},
		{Name: "prompt_seconds_total", Help: "Time spent on prompts.", Get: func(s *snapshot) float64 { return float64(s.Prefill) / 1e9 }},
		{Name: "tokens_predicted_total", Help: "Tokens generated.", Get: func(s *snapshot) float64 { return float64(s.Generated) }},
		{Name: "tokens_predicted_seconds_total", Help: "Time spent generating, of requests that ended.", Get: func(s *snapshot) float64 { return float64(s.Decode) / 1e9 }},
		{Name: "n_decode_total", Help: "Steps of the engine.", Get: func(s *snapshot) float64 { return float64(s.Counts.Steps) }},
		{Name: "n_tokens_max", Help: "Longest sequence so far.", Get: func(s *snapshot) float64 { return float64(s.Longest) }},
		{Name: "spec_decode_num_draft_tokens_total", Help: "Draft tokens.", Get: func(*snapshot) float64 { return 0 }},
		{Name: "spec_decode_num_accepted_tokens_total", Help: "Draft tokens accepted.", Get: func(*snapshot) float64 { return 0 }},
		{Name: "spec_decode_num_drafts_total", Help: "Drafts.", Get: func(*snapshot) float64 { return 0 }},
		{Name: "prompt_tokens_seconds", Help: "Prompt tokens a second of prompts' time.", Gauge: true, Get: func(s *snapshot) float64 { return ratio(computed(s), float64(s.Prefill)/1e9) }},
		{Name: "predicted_tokens_seconds", Help: "Tokens a second of generating, of requests that ended.", Gauge: true, Get: func(s *snapshot) float64 { return ratio(float64(s.Generated), float64(s.Decode)/1e9) }},
		{Name: "requests_processing", Help: "Requests in slots.", Gauge: true, Get: func(s *snapshot) float64 { return float64(s.Running) }},
		{Name: "requests_deferred", Help: "Requests that wait for a slot.", Gauge: true, Get: func(s *snapshot) float64 { return float64(s.Waiting) }},
		{Name: "n_busy_slots_per_decode", Help: "Busy slots of a step, on average.", Gauge: true, Get: func(s *snapshot) float64 { return ratio(float64(s.Sequences), float64(s.Counts.Steps)) }},
	}}
}
