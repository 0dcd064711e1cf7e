package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/compare"
	"github.com/tokamak-bench/tokamak/verify"
)

// Compared is comparison.json: a comparison, the gates held against it, and
// what they come to.
type Compared struct {
	*compare.Comparison
	Gates   []verify.Changed `json:"gates"`
	Verdict Verdict          `json:"verdict"`
}

// NewCompared judges a comparison by its gates. Without any the verdict is a
// pass: the comparison could be made. interrupted says that it was cut short.
func NewCompared(c *compare.Comparison, gates []verify.Change, interrupted bool) *Compared {
	out := &Compared{Comparison: c, Gates: verify.JudgeChanges(gates, c)}
	if out.Gates == nil {
		out.Gates = []verify.Changed{}
	}
	out.Verdict = Verdict{Verdict: verify.ChangesVerdict(out.Gates), Exit: int(verify.ChangesCode(out.Gates, interrupted)), Reason: out.reason()}
	if interrupted {
		out.Verdict.Reason = "interrupted by the user; until then " + out.Verdict.Reason
	}
	return out
}

// reason is the verdict in one sentence: the first gate that decides it, or,
// without gates, what the primary figures say.
func (c *Compared) reason() string {
	verdict := verify.ChangesVerdict(c.Gates)
	var same []string
	first := ""
	for i := range c.Gates {
		g := &c.Gates[i]
		if g.Verdict != verdict && (verdict != verify.Inconclusive || g.Verdict != verify.Unmeasured) {
			continue
		}
		if first == "" {
			first = fmt.Sprintf("%s: %s", c.gateName(g), g.Reason)
		}
		same = append(same, c.gateName(g))
	}
	switch {
	case len(c.Gates) == 0:
		return c.words()
	case verdict == verify.Pass && len(c.Gates) > 1:
		return fmt.Sprintf("all %d gates hold", len(c.Gates))
	case len(same) > 1:
		return first + "; also " + strings.Join(same[1:], ", ")
	}
	return first
}

// words are what each contrast comes to.
func (c *Compared) words() string {
	parts := make([]string, len(c.Contrasts))
	for i := range c.Contrasts {
		t := &c.Contrasts[i]
		parts[i] = t.Party.Name + ": " + t.Reason
	}
	return strings.Join(parts, "; ")
}

func (c *Compared) gateName(g *verify.Changed) string {
	if len(c.Contrasts) > 1 {
		return g.Party + ": " + g.Expr
	}
	return g.Expr
}

// Encode returns the text of comparison.json.
func (c *Compared) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(c)
	return b.Bytes(), err
}

// change writes a change with its sign.
func change(v measure.Value, relative bool, unit string) string {
	x, ok := v.Get()
	if !ok {
		return "-"
	}
	text := ""
	size := measure.Some(math.Abs(x))
	switch {
	case relative:
		text = figure(size, "%")
	case unit == "%":
		text = strings.TrimSuffix(figure(size, "%"), "%") + " pp"
	default:
		text = figure(size, unit)
	}
	switch {
	case x > 0:
		return "+" + text
	case x < 0:
		return "-" + text
	}
	return text
}

// effect writes an effect size; one that would be written as zero is 0.
func effect(v measure.Value) string {
	x, ok := v.Get()
	switch {
	case !ok:
		return "-"
	case math.Abs(x) < 0.05:
		return "0"
	}
	return fmt.Sprintf("%+.1f", x)
}

// interval writes both ends of a change.
func interval(low, high measure.Value, relative bool, unit string) string {
	if !low.Valid() {
		return "-"
	}
	return change(low, relative, unit) + " … " + change(high, relative, unit)
}

// method says how a contrast was worked out.
func method(t *compare.Contrast) string {
	switch t.Method {
	case compare.Pairs:
		return fmt.Sprintf("%d same-seed pairs, Student's t on their differences", t.Pairs)
	case compare.Runs:
		return "runs that are no pairs, Welch's t"
	}
	return "one run a side, block bootstrap over time and the noise between runs"
}

// partyWords describe one of those compared.
func partyWords(p *compare.Party) string {
	runs := "1 run"
	if len(p.Runs) > 1 {
		runs = count(len(p.Runs)) + " runs"
	}
	text := fmt.Sprintf("%s (%s, %s requests, %s ok)", p.Name, runs, count(p.Due), count(p.OK))
	if targets := strings.Join(p.Targets, " "); targets != "" {
		text += ": " + targets
	}
	if p.Model != "" {
		text += ", " + p.Model
	}
	return text
}

// rules say what the words mean here.
func (c *Compared) rules() string {
	text := fmt.Sprintf("same: apart by less than %s (p99 and max %s; error rate 1 point)",
		measure.Percent(c.Margin), measure.Percent(c.TailMargin))
	text += fmt.Sprintf("; better, worse: shown at %s over the %d primary figures (*) together", measure.Percent(100*c.Alpha), len(c.Primary))
	if c.Noise != "" {
		text += "; noise between runs counted in, " + c.Noise
	}
	return text
}
