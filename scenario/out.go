package scenario

import (
	"errors"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/verify"
)

func (r *resolver) out(s *Scenario) {
	s.Name = r.name()
	s.SLO = r.slo()
	s.InconclusiveOK = r.boolean("out.inconclusive-ok")
	s.Out.SaveOutputs = r.boolean("out.save-outputs")
	s.Out.Tags = r.tags()
	dir := r.text("out.dir", "a directory, or none")
	if dir == "none" {
		s.Out.None = true
		return
	}
	s.Out.Dir = dir
}

// name returns the run's name: it becomes part of a directory's name.
func (r *resolver) name() string {
	name := r.text("name", "a name")
	if strings.ContainsAny(name, "/\\\n\r\t") || strings.HasPrefix(name, ".") || len(name) > 100 {
		r.fail(r.set["name"].expected("a name of at most 100 bytes without / and \\ that does not begin with a dot"))
	}
	return name
}

// slo parses the objectives; without any the gate is verify.Default.
func (r *resolver) slo() []verify.Objective {
	v, ok := r.set["slo"]
	if !ok {
		v = value{kind: textValue, text: verify.Default}
	}
	var all []verify.Objective
	for _, item := range v.list() {
		if item.kind != textValue && item.kind != flagText {
			r.fail(item.expected("an objective such as ttft.p99<800ms"))
			continue
		}
		objectives, err := verify.Parse(item.text)
		if err != nil {
			r.fail(item.syntax(err))
		}
		for i := range objectives {
			r.asked = append(r.asked, asked{item, objectives[i].Column})
		}
		all = append(all, objectives...)
	}
	return all
}

// asked is where an objective was asked for.
type asked struct {
	value  value
	column int
}

// measurable refuses objectives that this run can never measure.
func (r *resolver) measurable(s *Scenario) {
	limited := len(verify.Limits(s.SLO)) > 0
	for i := range min(len(s.SLO), len(r.asked)) {
		o := &s.SLO[i]
		why := ""
		switch {
		case strings.HasPrefix(o.Metric.Name, "goodput") && !limited:
			why = "needs an objective on a percentile of a latency beside it, such as ttft.p99<800ms: it says which requests are good"
		case strings.HasSuffix(o.Metric.Name, "_per_gpu") && s.Target.GPUs == 0:
			why = "needs gpus, the number of accelerators behind the target"
		case o.Metric.Name == "held" && s.Load.MaxInFlight == 0:
			why = "needs max-in-flight: without a cap nothing is held"
		case o.Steady && len(s.Load.Plan.Stages) > 1:
			why = "has no steady window to look at: the load has several stages"
		case o.Steady && s.Load.StopWhenDecided:
			why = "cannot be decided before the end, and stop-when-decided was asked for: a steady window is known at the end only"
		}
		if why != "" {
			r.fail(r.asked[i].value.syntax(&verify.ParseError{Column: r.asked[i].column, Message: o.Expr + " " + why}))
		}
	}
}

// decidable refuses to stop when decided where nothing can be decided before
// the end.
func (r *resolver) decidable(s *Scenario) {
	if v, ok := r.set["load.stop-when-decided"]; ok && s.Load.StopWhenDecided && verify.NewSequence(s.SLO).Next() == 0 {
		r.fail(v.errorf("stop-when-decided needs an objective on a percentile, such as ttft.p99<800ms: a mean, a maximum or a rate is judged at the end by what was seen"))
	}
}

// abort parses the rules that end a run early.
func (r *resolver) abort() []AbortRule {
	text := r.text("load.abort", "a condition such as error_rate>50%")
	if text == "" {
		return nil
	}
	v := r.set["load.abort"]
	var rules []AbortRule
	at := 0
	for part := range strings.SplitSeq(text, ",") {
		rule := AbortRule{Text: strings.TrimSpace(part)}
		count, isCount := strings.CutPrefix(rule.Text, "errors>=")
		switch {
		case rule.Text == "target-gone":
			rule.Gone = true
		case isCount:
			n, err := strconv.ParseInt(count, 10, 64)
			if err != nil || n < 1 {
				r.fail(v.errorf("expected errors>=N with N at least 1, got %q", clip(rule.Text)))
			}
			rule.Errors = n
		default:
			o, err := verify.Parse(part)
			if err != nil {
				r.fail(v.syntax(shift(err, at)))
				return nil
			}
			rule.Objective = &o[0]
			if o[0].Steady || strings.HasPrefix(o[0].Metric.Name, "goodput") || strings.HasSuffix(o[0].Metric.Name, "_per_gpu") {
				r.fail(v.syntax(&verify.ParseError{Column: at + o[0].Column, Message: o[0].Expr + " cannot be seen while the run goes on"}))
			}
		}
		rules = append(rules, rule)
		at += len(part) + 1
	}
	return rules
}

// shift moves an error's column by what stood before its expression.
func shift(err error, by int) error {
	if p, ok := errors.AsType[*verify.ParseError](err); ok {
		p.Column += by
		p.Message += "; abort rules are conditions such as error_rate>50% or ttft.p99>5s, errors>=N, and target-gone"
	}
	return err
}

func (r *resolver) tags() []Tag {
	v, ok := r.set["out.tag"]
	if !ok {
		return nil
	}
	var tags []Tag
	for _, item := range v.list() {
		if item.kind == mapValue {
			for _, e := range item.entries {
				if e.value.kind == listValue || e.value.kind == mapValue {
					r.fail(e.value.expected("the value of a tag"))
				}
				tags = append(tags, Tag{e.key, e.value.text})
			}
			continue
		}
		k, val, ok := strings.Cut(item.text, "=")
		if !ok || k == "" || item.kind != textValue && item.kind != flagText {
			r.fail(item.expected("a tag as key=value"))
			continue
		}
		tags = append(tags, Tag{k, val})
	}
	return tags
}
