package verify

import (
	"fmt"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
)

// unit is a way to write a metric's unit, and how many of it one is.
type unit struct {
	text   string
	factor float64
}

func units(of string) []unit {
	switch of {
	case "ms":
		return []unit{{"ms", 1}, {"s", 1e3}, {"us", 1e-3}, {"µs", 1e-3}, {"μs", 1e-3}, {"m", 60e3}}
	case "req/s":
		return []unit{{"/s", 1}, {"req/s", 1}}
	case "tok/s":
		return []unit{{"tok/s", 1}, {"/s", 1}}
	case "tok":
		return []unit{{"tok", 1}}
	case "%":
		return []unit{{"%", 1}}
	}
	return []unit{{"", 1}}
}

func factorOf(of, text string) (float64, bool) {
	for _, u := range units(of) {
		if u.text == text {
			return u.factor, true
		}
	}
	return 0, false
}

func unitsOf(of string) []string {
	var out []string
	for _, u := range units(of) {
		if u.text != "µs" && u.text != "μs" {
			out = append(out, u.text)
		}
	}
	return out
}

// suggestion names the metric whose name is nearest, if one is near.
func suggestion(name string) string {
	if len(name) > 40 {
		return ""
	}
	name = strings.ToLower(name)
	best, least := "", len(name)/2+1
	for _, k := range measure.Kinds() {
		if d := distance(name, k.Name); d < least {
			best, least = k.Name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; %s was perhaps meant", best)
}

// distance is the Levenshtein distance of two short names, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
