package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/verify"
)

// New puts a run's summary together from what was measured and judged. The
// ending's Verdict is set from the objectives, and Unusable from the counts.
func New(run Run, result *measure.Result, slos []verify.SLO, client Client, ending verify.Ending) *Summary {
	s := &Summary{Schema: Schema, Run: run, Metrics: result.Metrics, Steady: result.Steady, Evidence: result.Evidence, Cache: result.Cache, SLO: slos, Client: client}
	s.Requests = Requests{result.Requests, result.Attempts}
	if s.SLO == nil {
		s.SLO = []verify.SLO{}
	}
	s.Client.Validity = result.Validity
	s.Client.Verdict = worst(result.Validity)
	ending.Verdict = verify.Overall(slos)
	ending.Unusable = ending.Unusable || verify.Unusable(result.Requests)
	s.Verdict = Verdict{Verdict: ending.Verdict, Exit: ending.ExitCode(), Reason: s.reason(ending)}
	return s
}

// worst is the least trusted of the metrics.
func worst(validity map[string]measure.Validity) measure.Trust {
	trust := measure.Valid
	for _, v := range validity {
		switch v.Trust {
		case measure.Invalid:
			return measure.Invalid
		case measure.Degraded:
			trust = measure.Degraded
		case measure.Valid:
		}
	}
	return trust
}

// reason is the verdict in one sentence.
func (s *Summary) reason(e verify.Ending) string {
	text := s.holds(e.Verdict)
	switch {
	case e.Interrupted && s.Run.Ended == Recovered:
		return "the run was killed; until then " + text
	case e.Interrupted:
		return "interrupted by the user; until then " + text
	case e.Aborted && !e.Unusable:
		return "a rule of the scenario ended the run (" + s.Run.Reason + "); until then " + text
	case e.Unusable:
		return fmt.Sprintf("not one of %s requests succeeded%s", count(s.Requests.Sent), s.mostly())
	}
	if n := s.Requests.Attempts.ByNote[emptyAnswer]; n > 0 && e.Verdict == verify.Pass {
		text += fmt.Sprintf("; but %s of %s answers were empty", count(n), count(s.Requests.Attempts.ByOutcome["ok"]))
	}
	return text
}

// holds says which objectives hold, or which does not and why.
func (s *Summary) holds(verdict verify.Verdict) string {
	if verdict == verify.Pass {
		return verify.Reason(s.SLO)
	}
	var first *verify.SLO
	var also []string
	for i := range s.SLO {
		switch v := s.SLO[i].Verdict; {
		case v != verdict && (verdict != verify.Inconclusive || v != verify.Unmeasured):
		case first == nil:
			first = &s.SLO[i]
		default:
			also = append(also, s.SLO[i].Expr)
		}
	}
	if first == nil {
		return verify.Reason(s.SLO)
	}
	text := first.Expr + ": " + first.Reason
	if len(also) > 0 {
		text += "; also " + strings.Join(also, ", ")
	}
	return text
}

// mostly names the error class that most failures have.
func (s *Summary) mostly() string {
	classes := s.Requests.Attempts.ByErrorClass
	if len(classes) == 0 {
		return ""
	}
	top := byCount(classes)
	if len(top) == 1 {
		if text := s.Requests.Attempts.Examples[top[0]]; text != "" {
			return ": " + top[0] + ": " + clip(text, 2*textWidth)
		}
		return ": " + top[0]
	}
	return ": mostly " + top[0] + ", also " + strings.Join(top[1:min(len(top), 4)], ", ")
}

// QuotaNotice is the sentence for a run whose limit was a quota and not the
// engine: limited requests were refused with 429 and rate-limit fields, the
// names and last values of which are fields. It is empty where none was.
func QuotaNotice(limited int, fields map[string]string) string {
	if limited == 0 || len(fields) == 0 {
		return ""
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		parts = append(parts, k+"="+fields[k])
	}
	return fmt.Sprintf("%s requests were refused by a quota, not by the engine's capacity: the figures show the quota (%s)",
		count(limited), strings.Join(parts, ", "))
}

// Encode returns the text of summary.json.
func (s *Summary) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // objectives are full of < and >
	e.SetIndent("", "  ")
	err := e.Encode(s)
	return b.Bytes(), err
}
