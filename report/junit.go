package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/verify"
)

// CaseResult is what a test case came to, as JUnit knows it.
type CaseResult uint8

// The results. A failure is the target's, an error is of the measurement:
// what was asked could not be found out.
const (
	CasePassed CaseResult = iota
	CaseFailed
	CaseErrored
	CaseSkipped
)

// Case is one test case of a JUnit file: one claim and what became of it.
type Case struct {
	Name   string // the claim: ttft.p99<800ms
	Result CaseResult
	// Kind is a word for what a result that is no pass is: fail, inconclusive, invalid.
	Kind string
	// Message is one sentence: why.
	Message string
	// Detail is the evidence, a line each; shown with every result.
	Detail []string
}

// Property is one fact beside the cases of a suite.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Suite is a set of cases about one run or one comparison.
type Suite struct {
	Name       string
	Start      time.Time     // zero: not told
	Duration   measure.Value // ms; absent: not told
	Properties []Property
	Cases      []Case
}

type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	junitCounts
	Suites []junitSuite `xml:"testsuite"`
}

type junitCounts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	junitCounts
	Time       string      `xml:"time,attr,omitempty"` // seconds
	Timestamp  string      `xml:"timestamp,attr,omitempty"`
	Properties []Property  `xml:"properties>property,omitempty"`
	Cases      []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string       `xml:"name,attr"`
	Class   string       `xml:"classname,attr"`
	Failure *junitReason `xml:"failure"`
	Error   *junitReason `xml:"error"`
	Skipped *junitReason `xml:"skipped"`
	Output  string       `xml:"system-out,omitempty"`
}

type junitReason struct {
	Message string `xml:"message,attr"`
	Kind    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes suites as a JUnit XML file. Texts from outside lose their
// control characters.
func JUnit(w io.Writer, suites ...Suite) error {
	out := junitSuites{Name: "tokamak"}
	for i := range suites {
		s := suites[i].encode()
		out.Tests += s.Tests
		out.Failures += s.Failures
		out.Errors += s.Errors
		out.Skipped += s.Skipped
		out.Suites = append(out.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *Suite) encode() junitSuite {
	out := junitSuite{Name: Line(s.Name)}
	if ms, ok := s.Duration.Get(); ok {
		out.Time = strconv.FormatFloat(ms/1e3, 'f', 3, 64)
	}
	if !s.Start.IsZero() {
		out.Timestamp = s.Start.UTC().Format("2006-01-02T15:04:05")
	}
	for _, p := range s.Properties {
		out.Properties = append(out.Properties, Property{Line(p.Name), Line(p.Value)})
	}
	for i := range s.Cases {
		out.add(&s.Cases[i])
	}
	return out
}

func (s *junitSuite) add(c *Case) {
	k := junitCase{Name: Line(c.Name), Class: s.Name}
	text := ""
	for _, l := range c.Detail {
		text += Line(l) + "\n"
	}
	why := &junitReason{Message: Line(c.Message), Kind: Line(c.Kind), Text: text}
	s.Tests++
	switch c.Result {
	case CaseFailed:
		s.Failures++
		k.Failure = why
	case CaseErrored:
		s.Errors++
		k.Error = why
	case CaseSkipped:
		s.Skipped++
		k.Skipped = why
	case CasePassed:
		k.Output = Line(c.Message) + "\n" + text
	}
	s.Cases = append(s.Cases, k)
}

// CaseOf turns a verdict into a case's result and kind, as the exit codes have
// it: what exits 1 is a failure, what exits 4 an error of the measurement, and
// what exits 5 a failure too, or skipped where inconclusive is accepted.
func CaseOf(v verify.Verdict, inconclusiveOK bool) (CaseResult, string) {
	switch v {
	case verify.Pass:
		return CasePassed, ""
	case verify.Fail:
		return CaseFailed, string(v)
	case verify.Invalid:
		return CaseErrored, string(v)
	case verify.Inconclusive, verify.Unmeasured:
	}
	if inconclusiveOK {
		return CaseSkipped, string(v)
	}
	return CaseFailed, string(v)
}

// Suite returns the run as a JUnit suite: a case for the run itself, which
// fails where it could not be carried out, and one for each objective. Some
// case is red if and only if the run's exit code is not 0.
func (s *Summary) Suite() Suite {
	name := s.Run.Name
	if name == "" {
		name = s.Run.ID
	}
	out := Suite{Name: name, Start: s.Run.Start, Duration: s.Run.Duration, Properties: s.properties(), Cases: []Case{s.runCase()}}
	accepted := s.Verdict.Exit == 0 && s.Verdict.Verdict == verify.Inconclusive
	for i := range s.SLO {
		o := &s.SLO[i]
		c := Case{Name: o.Expr, Message: o.Reason, Detail: s.caseDetail(o)}
		c.Result, c.Kind = CaseOf(o.Verdict, accepted)
		out.Cases = append(out.Cases, c)
	}
	return out
}

// runCase says whether the run could be carried out.
func (s *Summary) runCase() Case {
	c := Case{Name: "run", Message: s.Verdict.Reason}
	r := &s.Requests
	c.Detail = append(c.Detail, fmt.Sprintf("%s requests due, %s ok, %s failed, %s cut, %s never sent",
		count(r.Due), count(r.OK), count(r.Failed), count(r.Cut), count(r.Unsent)))
	for _, class := range byCount(r.Attempts.ByErrorClass) {
		c.Detail = append(c.Detail, fmt.Sprintf("%s %s", count(r.Attempts.ByErrorClass[class]), class))
	}
	ended := string(s.Run.Ended)
	judged := slices.ContainsFunc(s.SLO, func(o verify.SLO) bool { return o.Verdict != verify.Pass })
	switch {
	case s.Verdict.Exit == 0:
	case s.Run.Ended == Aborted && s.Verdict.Exit == 1:
		c.Result, c.Kind = CaseFailed, ended
	case s.Run.Ended != Done:
		c.Result, c.Kind = CaseErrored, ended
	case s.Verdict.Exit == 3:
		c.Result, c.Kind = CaseErrored, "target"
	case !judged: // no objective says why the exit is not 0
		c.Result, c.Kind = CaseErrored, string(s.Verdict.Verdict)
	}
	if c.Result == CasePassed {
		c.Message = "carried out to its end"
	}
	return c
}

// caseDetail is the evidence for an objective, a line each.
func (s *Summary) caseDetail(o *verify.SLO) []string {
	lines := []string{
		"value " + precise0(o.Value, o.Unit),
		"threshold " + precise(o.Threshold, o.Unit),
		"verdict " + string(o.Verdict),
		evidence(o),
	}
	if o.Evidence.Failures > 0 {
		lines = append(lines, fmt.Sprintf("%s of them failed or were never sent", count(o.Evidence.Failures)))
	}
	return append(lines, "error rate "+precise0(s.Metrics["error_rate"].Value, "%"))
}

// precise0 writes a figure that may be missing.
func precise0(v measure.Value, unit string) string {
	x, ok := v.Get()
	if !ok || v.String() == "inf" {
		return v.String()
	}
	return precise(x, unit)
}

func (s *Summary) properties() []Property {
	out := []Property{
		{"run", s.Run.ID}, {"version", s.Run.Version}, {"api", s.Run.API}, {"model", s.Run.Model}, {"load", s.Run.Load},
		{"workload", s.Run.Workload}, {"seed", strconv.FormatUint(s.Run.Seed, 10)}, {"client", string(s.Client.Verdict)},
		{"verdict", string(s.Verdict.Verdict)}, {"exit", strconv.Itoa(s.Verdict.Exit)},
	}
	for _, t := range s.Run.Targets {
		out = append(out, Property{"target", t})
	}
	return slices.DeleteFunc(out, func(p Property) bool { return p.Value == "" })
}
