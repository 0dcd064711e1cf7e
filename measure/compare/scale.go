package compare

import (
	"maps"
	"math"
	"slices"
)

// scale is on what figures are compared: as ratios, through their logarithms,
// or in their unit.
type scale struct {
	relative bool
}

// scaleOf chooses it: shares in percent, and what can be zero or negative, have no ratio.
func scaleOf(f Figure, unit string, values []float64) scale {
	return scale{unit != "%" && f.direction() != 0 && !slices.ContainsFunc(values, func(x float64) bool { return x <= 0 })}
}

// to and from lead from values to the scale and back.
func (s scale) to(x float64) float64 {
	if s.relative {
		return math.Log(x)
	}
	return x
}

func (s scale) from(x float64) float64 {
	if s.relative {
		return math.Exp(x)
	}
	return x
}

// change writes a difference on the scale for people: in percent, or in the unit.
func (s scale) change(d float64) float64 {
	if s.relative {
		return 100 * math.Expm1(d)
	}
	return d
}

func finite(values []float64) bool {
	return !slices.ContainsFunc(values, func(x float64) bool { return math.IsInf(x, 0) || math.IsNaN(x) })
}

// keysOf returns the keys of both maps, sorted.
func keysOf(a, b map[string]string) []string {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	return slices.Sorted(maps.Keys(keys))
}

// unit is the figure's unit.
func (s *Side) unit(f Figure) string { return s.Runs[0].Metrics[f.Metric].Unit }
