package conformance_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/conformance"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/report"
)

// Each verdict is the case that its exit code asks for.
func TestSuite(t *testing.T) {
	type counts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	for name, c := range map[string]struct {
		usable   bool
		verdicts []conformance.Verdict
		want     counts
	}{
		"all well":  {true, []conformance.Verdict{conformance.Pass, conformance.Note, conformance.NA}, counts{3, 0, 0, 1}},
		"broken":    {true, []conformance.Verdict{conformance.Pass, conformance.Fail, conformance.NA}, counts{3, 1, 0, 1}},
		"no answer": {false, []conformance.Verdict{conformance.Fail, conformance.NA, conformance.NA}, counts{3, 0, 1, 2}},
	} {
		r := &conformance.Report{URL: "http://h/v1", Usable: c.usable, Seconds: 1.5}
		for _, v := range c.verdicts {
			r.Results = append(r.Results, conformance.Result{Rule: "TEXT-01", Verdict: v, Expects: "text", Seen: "a <b>"})
		}
		var b bytes.Buffer
		if err := report.JUnit(&b, r.Suite()); err != nil {
			t.Fatal(err)
		}
		var got counts
		if err := xml.Unmarshal(b.Bytes(), &got); err != nil || got != c.want {
			t.Errorf("%s: %+v, want %+v (%v)", name, got, c.want, err)
		}
		if text := b.String(); !strings.Contains(text, `name="TEXT-01 text"`) || !strings.Contains(text, `time="1.500"`) ||
			strings.Contains(text, "note: a") != (name == "all well") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// What an endpoint says back of a credential is in no report, cut or whole.
func TestNoCredentialInAReport(t *testing.T) {
	const key = "k-4f9a1c77e2b05d8863aa"
	leak := broken{stream: swap(`"object":"chat.completion.chunk"`, `"object":"`+key+`"`), whole: swap(`"finish_reason":"length"`, `"finish_reason":"`+key+`"`)}
	r := asked{openai.APIChat, "", key}.through(t, "sim://llama3-8b@h100", leak.between)
	var text, suite bytes.Buffer
	inJSON, err := json.Marshal(r)
	if err := errors.Join(err, r.Text(&text), report.JUnit(&suite, r.Suite())); err != nil {
		t.Fatal(err)
	}
	if r.Fail == 0 || !strings.Contains(r.Result("STREAM-04").Seen, "[redacted]") {
		t.Errorf("it was not said back: %+v", r.Result("STREAM-04"))
	}
	for name, b := range map[string]string{"text": text.String(), "JSON": string(inJSON), "JUnit": suite.String()} {
		for at := 0; at+8 <= len(key); at++ {
			if strings.Contains(b, key[at:at+8]) {
				t.Fatalf("%s holds %s of the credential", name, key[at:at+8])
			}
		}
	}
}
