package interop

import (
	"strings"

	"github.com/tokamak-bench/tokamak/interop/jsonstream"
)

// evalscopeSummaryFormat is EvalScope's benchmark_summary.json and
// benchmark_percentile.json, whose names are for people and hold the unit.
func evalscopeSummaryFormat() format {
	return format{
		name: "evalscope-summary", holds: "EvalScope's benchmark_summary.json or benchmark_percentile.json: figures only",
		files: []string{"benchmark_summary.json", "benchmark_percentile.json"},
		recognise: func(h *head) bool {
			return h.list && h.has("Percentiles") || h.has("Test Duration (s)") || h.has("Time taken for tests (s)")
		},
		read: readEvalScopeSummary,
	}
}

func readEvalScopeSummary(in *input, s *Source, _ sink) error {
	s.Tool = "EvalScope"
	err := in.json(func(r *jsonstream.Reader) error {
		if r.Kind() != '[' {
			return figures(r, s, "", func(string) bool { return true })
		}
		return r.Array(func(int) error { return evalPercentile(r, s) })
	})
	if err == nil && len(s.Figures) == 0 {
		return in.single(0)
	}
	for i := range s.Figures {
		f := &s.Figures[i]
		if name, unit, ok := strings.Cut(f.Name, " ("); ok && strings.Contains(unit, ")") {
			inside, rest, _ := strings.Cut(unit, ")")
			f.Name, f.Unit = name+rest, inside
		}
	}
	return err
}

// evalPercentile reads one row of the table of percentiles: its label stands
// first.
func evalPercentile(r *jsonstream.Reader, s *Source) error {
	label, from := "", len(s.Figures)
	err := r.Object(func(name string) (err error) {
		if name == "Percentiles" {
			label, _, err = r.Text(32)
			return err
		}
		return figures(r, s, shortName(name), func(string) bool { return false })
	})
	for i := range s.Figures[from:] {
		s.Figures[from+i].Name += " " + label
	}
	return err
}

// shortName bounds a name of a file.
func shortName(name string) string {
	if len(name) > 128 {
		return strings.ToValidUTF8(name[:128], "")
	}
	return name
}
