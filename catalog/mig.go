package catalog

import (
	"fmt"
	"strings"
)

// migProfile is what a MIG instance has of its device: sevenths of the compute,
// eighths of the memory and of its bandwidth.
type migProfile struct {
	name             string
	sevenths, eights int64
}

// migProfiles returns the profiles of a device, from NVIDIA's MIG guide; none
// where it cannot be cut.
func migProfiles(gpu string) []migProfile {
	gb := map[string][4]string{ // an eighth, a quarter, a half, the whole
		"a100-40g": {"5gb", "10gb", "20gb", "40gb"}, "a100-80g": {"10gb", "20gb", "40gb", "80gb"}, "h100": {"10gb", "20gb", "40gb", "80gb"},
		"h100-pcie": {"10gb", "20gb", "40gb", "80gb"}, "h100-nvl": {"12gb", "24gb", "47gb", "94gb"},
		"h200": {"18gb", "35gb", "71gb", "141gb"}, "b200": {"23gb", "45gb", "90gb", "180gb"},
	}[gpu]
	if gb[0] == "" {
		return nil
	}
	return []migProfile{{"1g." + gb[0], 1, 1}, {"1g." + gb[1], 1, 2}, {"2g." + gb[1], 2, 2}, {"3g." + gb[2], 3, 4}, {"4g." + gb[2], 4, 4}, {"7g." + gb[3], 7, 8}}
}

// Slice returns a MIG instance of the device, by profile, as in 3g.40gb: its
// share of compute, memory and bandwidth. Instances reach each other through the
// host alone. No measurement backs them: efficiencies are the whole device's.
func (a Accelerator) Slice(profile string) (Accelerator, error) {
	var names []string
	for _, p := range migProfiles(a.Name) {
		if strings.EqualFold(p.name, profile) {
			a.Name += "-mig-" + p.name
			a.Title += ", MIG " + p.name
			compute, memory := float64(p.sevenths)/7, float64(p.eights)/8
			a.BF16, a.FP8, a.FP4 = a.BF16*compute, a.FP8*compute, a.FP4*compute
			a.Bandwidth *= memory
			a.Memory = a.Memory / 8 * p.eights
			a.Link = min(a.Link, 32)
			a.Source += "; its share by MIG profile"
			return a, nil
		}
		names = append(names, p.name)
	}
	if names == nil {
		return a, fmt.Errorf("%s has no MIG profiles", a.Name)
	}
	return a, fmt.Errorf("%s has no MIG profile %q: did you mean %q? known: %s", a.Name, profile, Nearest(profile, names), strings.Join(names, ", "))
}
