package conformance

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Schema names the form of a [Report] as JSON, Battery the version of the
// questions and rules: it changes with any of them.
const (
	Schema  = "tokamak.conformance/1"
	Battery = 1
)

// MaxOutput is how many output tokens all answers have together at most, where
// the endpoint keeps max_tokens.
const MaxOutput = 1200

// Verdict is how a rule stands.
type Verdict string

// The verdicts.
const (
	Pass Verdict = "pass"
	Note Verdict = "note" // odd or unsupported: a client can live with it, and ought to know
	Fail Verdict = "fail" // breaks the source that the rule names
	NA   Verdict = "n/a"  // does not apply, or could not be told; Seen says why
)

// worse tells whether v weighs more than w.
func (v Verdict) worse(w Verdict) bool {
	weight := map[Verdict]int{NA: 0, Pass: 1, Note: 2, Fail: 3}
	return weight[v] > weight[w]
}

// Result is how one rule stands.
type Result struct {
	Rule    string  `json:"rule"`
	Verdict Verdict `json:"verdict"`
	Expects string  `json:"expects"`
	Sent    string  `json:"sent"`
	Source  string  `json:"source"`
	Seen    string  `json:"seen"`
}

// Report is what the battery found.
type Report struct {
	Schema  string `json:"schema"`
	Battery int    `json:"battery"`
	URL     string `json:"url"` // the endpoint, without user information and query
	API     string `json:"api"`
	Model   string `json:"model,omitempty"`
	// Usable tells whether the endpoint answered the first question at all.
	Usable   bool `json:"usable"`
	Requests int  `json:"requests"` // that were sent
	// What the usage of all answers adds up to, in tokens; an answer without
	// one adds nothing.
	InputTokens  int64    `json:"input_tokens"`
	OutputTokens int64    `json:"output_tokens"`
	Seconds      float64  `json:"seconds"`           // from the first request to the last answer
	Adapted      []string `json:"adapted,omitempty"` // fields that the server refused and the battery went without
	Pass         int      `json:"pass"`
	Note         int      `json:"note"`
	Fail         int      `json:"fail"`
	NA           int      `json:"not_applicable"`
	Results      []Result `json:"results"`
}

// Result returns the result of a rule; the zero Result if there is none.
func (r *Report) Result(rule string) Result {
	for _, x := range r.Results {
		if x.Rule == rule {
			return x
		}
	}
	return Result{}
}

// Text writes the report for people: one line a rule, and for those that do
// not pass what was sent and by which source more was expected.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s", r.URL, r.API)
	if r.Model != "" {
		fmt.Fprintf(&b, "  %s", oneLine(r.Model))
	}
	fmt.Fprintf(&b, "\nbattery %d: %d rules, %d requests, %d tokens in, %d out, %s\n", r.Battery, len(r.Results), r.Requests, r.InputTokens, r.OutputTokens,
		time.Duration(r.Seconds*1e9).Round(100*time.Millisecond))
	for _, a := range r.Adapted {
		fmt.Fprintf(&b, "went without: %s\n", a)
	}
	for _, x := range r.Results {
		if !r.Usable && x.Verdict == NA {
			continue // one sentence below says it for all of them
		}
		fmt.Fprintf(&b, "  %-4s  %-9s  %s: %s\n", x.Verdict, x.Rule, x.Expects, oneLine(x.Seen))
		if x.Verdict == Fail || x.Verdict == Note {
			fmt.Fprintf(&b, "  %-4s  %-9s  -> sent %s; by %s\n", "", "", x.Sent, x.Source)
		}
	}
	if !r.Usable {
		fmt.Fprintf(&b, "The endpoint gave no answer to the first question: its %d other rules could not be judged. Is it up at %s, and does it speak %s?\n", r.NA, r.URL, r.API)
	}
	fmt.Fprintf(&b, "%d pass, %d fail, %d note, %d not applicable\n", r.Pass, r.Fail, r.Note, r.NA)
	_, err := io.WriteString(w, b.String())
	return err
}

// oneLine keeps what a server says from writing lines of its own.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }
