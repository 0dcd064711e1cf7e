package catalog

import (
	"fmt"
	"strings"
)

// FindModel returns the model of a catalogue name, a hub name, or a path to a
// config.json (a name that ends in .json).
func FindModel(name string) (Model, error) {
	if strings.HasSuffix(name, ".json") {
		return ReadModel(name)
	}
	var names []string
	for _, m := range Models() {
		if strings.EqualFold(name, m.Name) || strings.EqualFold(name, m.ID) {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Model{}, fmt.Errorf("unknown model %q: did you mean %q? known: %s; or the path of a config.json",
		name, Nearest(name, names), strings.Join(names, ", "))
}

// FindAccelerator returns the device of a catalogue name, or the one that a
// YAML file describes (a name that ends in .yaml or .yml).
func FindAccelerator(name string) (Accelerator, error) {
	if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		return ReadAccelerator(name)
	}
	key := strings.ToLower(name)
	if whole, profile, ok := strings.Cut(key, "-mig-"); ok {
		return findSlice(whole, profile)
	}
	if a, ok := gpuAliases()[key]; ok {
		key = a
	}
	var names []string
	for _, a := range Accelerators() {
		if key == a.Name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return Accelerator{}, fmt.Errorf("unknown GPU %q: did you mean %q? known: %s; or a MIG instance such as h100-mig-3g.40gb, or the path of a YAML file",
		name, Nearest(name, names), strings.Join(names, ", "))
}

// findSlice returns a MIG instance of a device of the catalogue.
func findSlice(whole, profile string) (Accelerator, error) {
	a, err := FindAccelerator(whole)
	if err != nil {
		return a, err
	}
	return a.Slice(profile)
}

// Nearest returns the name with the fewest edits (Levenshtein) from a wrong
// one; the first of several.
func Nearest(wrong string, names []string) string {
	best, cost := "", 1<<30
	for _, n := range names {
		if c := edits(strings.ToLower(wrong), strings.ToLower(n)); c < cost {
			best, cost = n, c
		}
	}
	return best
}

func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			substitute := diagonal
			if a[i-1] != b[j-1] {
				substitute++
			}
			diagonal = row[j]
			row[j] = min(substitute, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
