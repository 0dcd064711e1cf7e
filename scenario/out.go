package scenario

import "strings"

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

// slo splits objectives at commas.
func (r *resolver) slo() []string {
	v, ok := r.set["slo"]
	if !ok {
		return nil
	}
	var all []string
	for _, item := range v.list() {
		if item.kind != textValue && item.kind != flagText {
			r.fail(item.expected("an objective such as ttft.p99<800ms"))
			continue
		}
		for expr := range strings.SplitSeq(item.text, ",") {
			expr = strings.TrimSpace(expr)
			if expr == "" {
				r.fail(item.expected("an objective such as ttft.p99<800ms"))
				continue
			}
			all = append(all, expr)
		}
	}
	return all
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
