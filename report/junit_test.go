package report

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/verify"
)

// TestJUnit: a golden of each kind of run, and one suite per file.
func TestJUnit(t *testing.T) {
	for _, name := range []string{"good", "failing", "inconclusive", "invalid", "nothing", "aborted", "interrupted"} {
		t.Run(name, func(t *testing.T) {
			m := runs[name]
			var b bytes.Buffer
			if err := JUnit(&b, m.summary(t).Suite()); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".xml", b.Bytes())
		})
	}
}

// TestJUnitIsRedAsTheExitCodeIs: a build that reads the file and one that
// reads the exit code must not disagree.
func TestJUnitIsRedAsTheExitCodeIs(t *testing.T) {
	for name, m := range runs {
		for _, accepted := range []bool{false, true} {
			m.ending.InconclusiveOK = accepted
			s := m.summary(t)
			var b bytes.Buffer
			if err := JUnit(&b, s.Suite()); err != nil {
				t.Fatal(err)
			}
			var got junitSuites
			if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if red := got.Failures+got.Errors > 0; red != (s.Verdict.Exit != 0) {
				t.Errorf("%s, inconclusive accepted %v: exit %d, %d failures, %d errors", name, accepted, s.Verdict.Exit, got.Failures, got.Errors)
			}
			if got.Tests != 1+len(s.SLO) || got.Suites[0].Tests != got.Tests {
				t.Errorf("%s: %d tests of %d objectives and the run", name, got.Tests, len(s.SLO))
			}
		}
	}
}

// TestJUnitCases: what each verdict becomes, with hand-written expectations.
func TestJUnitCases(t *testing.T) {
	for _, c := range []struct {
		verdict  verify.Verdict
		accepted bool
		want     CaseResult
		kind     string
	}{
		{verify.Pass, false, CasePassed, ""},
		{verify.Fail, true, CaseFailed, "fail"},
		{verify.Invalid, true, CaseErrored, "invalid"},
		{verify.Inconclusive, false, CaseFailed, "inconclusive"},
		{verify.Inconclusive, true, CaseSkipped, "inconclusive"},
		{verify.Unmeasured, false, CaseFailed, "unmeasured"},
		{verify.Unmeasured, true, CaseSkipped, "unmeasured"},
	} {
		got, kind := CaseOf(c.verdict, c.accepted)
		if got != c.want || kind != c.kind {
			t.Errorf("%s, accepted %v: %d %q", c.verdict, c.accepted, got, kind)
		}
	}
}

// TestJUnitKeepsHostileTextsInTheirPlace: neither markup nor control characters
// of a name get out of their attribute.
func TestJUnitKeepsHostileTextsInTheirPlace(t *testing.T) {
	const hostile = "a\"/><testcase name=\"b\x00\x1b[31m]]>\u202e"
	s := Suite{Name: hostile, Properties: []Property{{hostile, hostile}},
		Cases: []Case{{Name: hostile, Result: CaseFailed, Kind: hostile, Message: hostile, Detail: []string{hostile}}}}
	var b bytes.Buffer
	if err := JUnit(&b, s, s); err != nil {
		t.Fatal(err)
	}
	var got junitSuites
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, b.Bytes())
	}
	if got.Tests != 2 || got.Failures != 2 || len(got.Suites) != 2 || len(got.Suites[1].Cases) != 1 {
		t.Errorf("%+v", got)
	}
	if strings.ContainsAny(b.String(), "\x00\x1b\u202e") {
		t.Errorf("control characters in %q", b.String())
	}
}
