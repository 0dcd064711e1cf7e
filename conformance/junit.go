package conformance

import (
	"strconv"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/report"
)

// Suite returns the report as a JUnit suite, one case a rule. A rule that failed
// is a failure, or an error where the endpoint gave no answers at all; one that
// does not apply is skipped, and a note passes and says so. Some case is red if and
// only if the command's exit code is not 0.
func (r *Report) Suite() report.Suite {
	s := report.Suite{Name: "conformance " + r.URL, Duration: measure.Some(1e3 * r.Seconds), Properties: []report.Property{
		{Name: "url", Value: r.URL}, {Name: "api", Value: r.API}, {Name: "model", Value: r.Model},
		{Name: "battery", Value: strconv.Itoa(r.Battery)}, {Name: "requests", Value: strconv.Itoa(r.Requests)},
	}}
	for _, a := range r.Adapted {
		s.Properties = append(s.Properties, report.Property{Name: "went without", Value: a})
	}
	for _, x := range r.Results {
		c := report.Case{Name: x.Rule + " " + x.Expects, Message: x.Seen, Detail: []string{"sent " + x.Sent, "by " + x.Source}}
		c.Result, c.Kind = r.caseOf(x.Verdict)
		if x.Verdict == Note {
			c.Message = string(Note) + ": " + x.Seen
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

// caseOf is what a rule's verdict is to JUnit, and the word for it.
func (r *Report) caseOf(v Verdict) (report.CaseResult, string) {
	switch {
	case v == Fail && !r.Usable:
		return report.CaseErrored, "target"
	case v == Fail:
		return report.CaseFailed, string(v)
	case v == NA:
		return report.CaseSkipped, string(v)
	}
	return report.CasePassed, ""
}
