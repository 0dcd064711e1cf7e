package rivals

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
)

// render draws the tables of docs/rivals.md.
func render(all map[string]map[string]outcome) string {
	var b strings.Builder
	var names []string
	for _, c := range clients(place{}, "") {
		if all[c.Name] != nil {
			names = append(names, c.Name)
		}
	}
	section := func(title, head string, row func(name string) []string) {
		fmt.Fprintf(&b, "\n## %s\n\n| client | %s |\n|---%s|\n", title, head, strings.Repeat("|---", strings.Count(head, "|")+1))
		for _, n := range names {
			if cells := row(n); cells != nil {
				fmt.Fprintf(&b, "| %s | %s |\n", n, strings.Join(cells, " | "))
			}
		}
	}
	section("Reported less true, ms: TTFT p50 / p99; gap between events p99", "a | b | c | d | e", func(n string) []string {
		return each(all[n], []string{"a", "b", "c", "d", "e"}, errorsOf)
	})
	section("Processor time for each event, µs", "a | b | c | d | w", func(n string) []string {
		return each(all[n], []string{"a", "b", "c", "d", "w"}, func(o outcome) string { return perEvent(o, all[n]["one"]) })
	})
	section("Cost", "start-up CPU, s | to the first request, s | peak memory at 32 streams, MB", func(n string) []string {
		one, ok := all[n]["one"]
		if !ok || one.Error != "" {
			return nil
		}
		return []string{fmt.Sprintf("%.1f", one.CPUSeconds), fmt.Sprintf("%.2f", one.FirstRequest), fmt.Sprintf("%.0f", all[n]["a"].PeakMB)}
	})
	section("Open loop: 40 requests/s asked", "came at the server, /s (c; e) | CV of the gaps (c; e) | requests/s reported (c)", func(n string) []string {
		c, e := all[n]["c"], all[n]["e"]
		if c.Requests == 0 {
			return nil
		}
		if e.Requests == 0 {
			return []string{fmt.Sprintf("%.2f; –", c.Rate), fmt.Sprintf("%.3f; –", c.CV), plain(c.Said.RequestRate)}
		}
		return []string{fmt.Sprintf("%.2f; %.2f", c.Rate, e.Rate), fmt.Sprintf("%.3f; %.3f", c.CV, e.CV), plain(c.Said.RequestRate)}
	})
	section("The fault mix", "successes / failures | what was taken for a success | tokens/s reported | true of all it got", func(n string) []string {
		o, ok := all[n]["faults"]
		if !ok || o.Error != "" {
			return nil
		}
		return []string{whole(o.Said.OK) + " / " + whole(o.Said.Failed), taken(o.Said.OK), whole(o.Said.TokenRate), fmt.Sprintf("%.0f", o.TokenRate)}
	})
	return introduction(all) + b.String()
}

//go:embed intro.md
var intro string

// introduction fills the words before the tables.
func introduction(all map[string]map[string]outcome) string {
	late := 0.0
	for _, trials := range all {
		for _, o := range trials {
			if o.Events > 0 {
				late = max(late, o.LateP99)
			}
		}
	}
	return strings.NewReplacer("{{machine}}", fmt.Sprintf("%d cores", processors()), "{{late}}", fmt.Sprintf("%.2f", late),
		"{{tokens}}", fmt.Sprint(tokens)).Replace(intro)
}

func each(of map[string]outcome, trials []string, cell func(outcome) string) []string {
	var cells []string
	for _, t := range trials {
		o, ok := of[t]
		switch {
		case !ok:
			cells = append(cells, "–")
		case o.Error != "":
			cells = append(cells, "failed")
		default:
			cells = append(cells, cell(o))
		}
	}
	return cells
}

func errorsOf(o outcome) string {
	return signed(o.Said.TTFTP50, o.TTFTP50) + " / " + signed(o.Said.TTFTP99, o.TTFTP99) + "; " + signed(o.Said.GapP99, o.GapP99)
}

func signed(said *float64, truth float64) string {
	if said == nil {
		return "–"
	}
	if d := *said - truth; math.Abs(d) >= 9.95 {
		return fmt.Sprintf("%+.0f", d)
	} else {
		return fmt.Sprintf("%+.2f", d)
	}
}

func perEvent(o, one outcome) string {
	if o.Events <= one.Events || o.CPUSeconds <= one.CPUSeconds { // starting up varies by more than that
		return "–"
	}
	return fmt.Sprintf("%.0f", (o.CPUSeconds-one.CPUSeconds)/float64(o.Events-one.Events)*1e6)
}

func whole(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.0f", *v)
}

// taken says which kinds of the fault mix add up to the successes reported.
// A refusal is believed to be one only where nothing else adds up.
func taken(ok *float64) string {
	if ok == nil {
		return "–"
	}
	kinds := []struct {
		name string
		n    int
	}{{"refused (429)", 55}, {"error event", 17}, {"cut", 39}, {"no terminator", 12}, {"reset", 1}}
	var found []string
	for set := range 1 << len(kinds) {
		sum, names := 76, []string{"fine"}
		for i, k := range kinds {
			if set>>i&1 == 1 {
				sum += k.n
				names = append(names, k.name)
			}
		}
		if float64(sum) == *ok {
			found = append(found, strings.Join(names, ", "))
		}
	}
	if honest := slices.DeleteFunc(slices.Clone(found), func(s string) bool { return strings.Contains(s, "429") }); len(honest) > 0 {
		found = honest
	}
	if len(found) != 1 {
		return "does not add up"
	}
	return found[0]
}
