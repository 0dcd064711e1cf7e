package compare

import (
	"encoding/json"
	"slices"
)

// sameObjectives tells whether all runs have the same objectives, on which
// goodput rests.
func sameObjectives(sides ...*Side) bool {
	first := objectives(&sides[0].Runs[0])
	for _, s := range sides {
		for i := range s.Runs {
			if !slices.Equal(objectives(&s.Runs[i]), first) {
				return false
			}
		}
	}
	return true
}

func objectives(r *Run) []string {
	var s struct {
		SLO []string `json:"slo"`
	}
	if err := json.Unmarshal(r.Manifest.Scenario, &s); err != nil {
		return nil
	}
	return s.SLO
}
