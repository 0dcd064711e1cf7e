package record

import (
	"slices"
	"strconv"
	"strings"
)

// Sample is one reading of a probe.
type Sample struct {
	At     int64  // ns since the run's epoch
	Worker string // the process that took it, in a run of several
	Probe  string // self, scrape, gpu, ...
	Target string // what was read, where a probe reads several
	Name   string // of the quantity
	Labels string // as Labels writes them; empty where there are none
	Unit   string // bytes, ns, ratio, count, ...
	Value  float64
}

func sampleTable() table[Sample] {
	const g = "samples"
	word := func(name, doc string, at func(*Sample) *string) column[Sample] {
		return column[Sample]{g, name, "", "there is none", doc, text[Sample](at)}
	}
	return table[Sample]{
		{g, "at", "ns", "", "When it was read.", integer[Sample](func(s *Sample) *int64 { return &s.At })},
		word("worker", "The process that read it, in a run of several.", func(s *Sample) *string { return &s.Worker }),
		word("probe", "Which collector: `self`, `scrape`, ...", func(s *Sample) *string { return &s.Probe }),
		word("target", "What was read.", func(s *Sample) *string { return &s.Target }),
		word("name", "Name of the quantity.", func(s *Sample) *string { return &s.Name }),
		word("labels", "`name=\"value\"` pairs, sorted by name, separated by commas.", func(s *Sample) *string { return &s.Labels }),
		word("unit", "Unit of the value.", func(s *Sample) *string { return &s.Unit }),
		{g, "value", "", "", "The reading.", float[Sample](func(s *Sample) *float64 { return &s.Value })},
	}
}

// SampleColumns describes samples.arrows and samples.parquet.
func SampleColumns() []Column { return sampleTable().columns() }

// Labels writes name, value, name, value ... in the one form that Sample.Labels
// has, so that equal sets are equal strings. A name without a value is left out.
func Labels(pairs ...string) string {
	type pair struct{ name, value string }
	list := make([]pair, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, pair{pairs[i], pairs[i+1]})
	}
	slices.SortStableFunc(list, func(a, b pair) int { return strings.Compare(a.name, b.name) })
	var b strings.Builder
	for i, p := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(p.name)
		b.WriteByte('=')
		b.WriteString(strconv.Quote(p.value))
	}
	return b.String()
}

// Label returns the value of one label of a string that Labels wrote.
func Label(labels, name string) (value string, ok bool) {
	for labels != "" {
		key, rest, found := strings.Cut(labels, "=")
		if !found {
			return "", false
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return "", false
		}
		if key == name {
			value, err = strconv.Unquote(quoted)
			return value, err == nil
		}
		labels = strings.TrimPrefix(rest[len(quoted):], ",")
	}
	return "", false
}
