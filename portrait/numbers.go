package portrait

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/measure"
)

// page puts the figures into the order in which they are read.
func (f *Facts) page() *Page {
	p := &Page{Title: f.Name, Subtitle: f.subtitle(), Notes: f.Notes}
	p.First = []Number{
		number("peak rate", f.PeakRate, "req/s", "mean of the busiest 60 s"+when(f.PeakAt)+f.part(f.Arrivals)+f.cut, f.noTimes("shorter than 60 s")),
		tokens("input p95", f.Input.P95, "19 of 20 prompts are no longer"+f.part(f.Input.Count), unknown(f.noLengths("input"))),
		number("CV of inter-arrivals", f.CV, "", "spread of the gaps between requests ÷ their mean; 1 is Poisson, more is bursty"+f.part(f.Arrivals)+f.cut+f.coarse, f.noTimes(f.fewMoments())),
		number("shared prefix", percent(f.SharedPrefix), "%", "share of prompt tokens that were sent before, at the front of an earlier prompt"+f.part(f.SharedPrefixOf), unknown(f.noBlocks())),
	}
	p.Rest = []Number{
		{"requests", measure.Count(f.Requests), f.requestsMeaning()},
		{"span", span(f.Span), "from the first request to the last" + f.begin()},
		number("mean rate", f.MeanRate, "req/s", "requests ÷ span"+f.part(f.Arrivals)+f.cut, f.noTimes("no span")),
		f.dispersion(),
		f.triple("input p50 · p95 · p99", f.Input, "input"),
		f.newText(),
		f.triple("output p50 · p95 · p99", f.Output, "output"),
		f.limits(),
		f.sessions(),
		f.tenants(),
		f.errors(),
		{"skipped lines", measure.Count(f.Skipped), f.skipped()},
	}
	if f.Sampled {
		p.Rest = p.Rest[:len(p.Rest)-2]
	}
	if f.OutputLimits == nil || f.Output.Count == f.Requests { // the lengths say it better
		p.Rest = slices.DeleteFunc(p.Rest, func(n Number) bool { return n.Name == limitName })
	}
	if f.NewInput.Count == 0 {
		p.Rest = slices.DeleteFunc(p.Rest, func(n Number) bool { return n.Name == newTextName })
	}
	if f.Cached.Valid() {
		p.Rest = append(p.Rest, number("cached", percent(f.Cached), "%", "share of prompt tokens that the service itself says it had in its cache", ""))
	}
	if f.Reasoning.Valid() {
		p.Rest = append(p.Rest, number("reasoning", percent(f.Reasoning), "%", "share of output tokens that are reasoning"+f.part(f.ReasoningOf), ""))
	}
	for i := range p.Rest {
		if p.Rest[i].Value == "" && p.Rest[i].Name == "span" {
			p.Rest[i].Meaning = f.noTimes("")
		}
	}
	return p
}

// number is a figure, or why there is none.
func number(name string, v measure.Value, unit, meaning, why string) Number {
	if !v.Valid() {
		return Number{Name: name, Meaning: why}
	}
	return Number{name, measure.Figure(v, unit), meaning}
}

// tokens is a count of tokens, or why there is none.
func tokens(name string, v measure.Value, meaning, why string) Number {
	if !v.Valid() {
		return Number{Name: name, Meaning: why}
	}
	return Number{name, whole(v) + " tokens", meaning}
}

// whole writes a whole number with commas.
func whole(v measure.Value) string { return measure.Count(int64(v.Or(0))) }

func percent(v measure.Value) measure.Value {
	if x, ok := v.Get(); ok {
		return measure.Some(100 * x)
	}
	return v
}

func (f *Facts) subtitle() string {
	if f.Sampled {
		return "a model of traffic, drawn by sampling it"
	}
	return "recorded traffic, read as " + f.Format
}

func (f *Facts) begin() string {
	if f.Begin == nil {
		return ""
	}
	return ", from " + f.Begin.UTC().Format("2006-01-02 15:04:05") + " UTC"
}

func (f *Facts) requestsMeaning() string {
	if f.Sampled {
		return "drawn from the model" + f.cut
	}
	text := "rows read"
	if f.Rows != f.Requests {
		text = "turns of " + rowsOf(f.Rows) + ", some of which hold a conversation"
	}
	switch f.Ignored {
	case 0:
		return text
	case 1:
		return text + "; 1 line holds no request"
	}
	return fmt.Sprintf("%s; %s lines hold no request", text, measure.Count(f.Ignored))
}

func (f *Facts) skipped() string {
	if f.Skipped == 0 {
		return "lines that could not be used"
	}
	return "lines that could not be used; the reasons are below"
}

// part says of how many of the requests a figure is, where it is not of all:
// ", of 600 of 1,200 requests".
func (f *Facts) part(of int64) string { return partOf(of, f.Requests, "requests") }

// partSentence is part as a sentence with a blank before it.
func (f *Facts) partSentence(of int64) string {
	if p := f.part(of); p != "" {
		return " Of" + p[len(", of"):] + "."
	}
	return ""
}

func partOf(of, all int64, what string) string {
	if of >= all {
		return ""
	}
	return ", of " + measure.Count(of) + " of " + measure.Count(all) + " " + what
}

// noTimes says why a figure of arrivals is not known.
func (f *Facts) noTimes(short string) string {
	if !f.Span.Valid() {
		return unknown(f.noMoments())
	}
	return unknown(short)
}

func (f *Facts) triple(name string, l Lengths, which string) Number {
	if l.Count == 0 {
		return Number{Name: name, Meaning: unknown(f.noLengths(which))}
	}
	var b []string
	for _, v := range []measure.Value{l.P50, l.P95, l.P99} {
		b = append(b, whole(v))
	}
	return Number{name, strings.Join(b, " · "), "tokens; half, 95% and 99% of the requests have no more" + f.part(l.Count)}
}

const newTextName = "new text p50 · p95 · p99"

// newText is what prompts add to their conversations.
func (f *Facts) newText() Number {
	n := f.triple(newTextName, f.NewInput, "input")
	n.Meaning = "tokens of a prompt that its conversation had not said before" + f.part(f.NewInput.Count)
	return n
}

const limitName = "output limit p50"

// limits are what requests let their answers have, where not all say how long
// those were.
func (f *Facts) limits() Number {
	if f.OutputLimits == nil {
		return Number{Name: limitName}
	}
	return Number{limitName, measure.Count(int64(f.OutputLimits.P50)), "tokens; half of the requests let their answer have no more: a limit, not a length" +
		partOf(f.OutputLimits.Rows, f.Rows, "rows")}
}

func (f *Facts) errors() Number {
	if f.Failed == nil {
		return Number{Name: "errors", Meaning: unknown("the log does not say how requests went")}
	}
	return Number{"errors", count(*f.Failed, f.FailedOf), "requests that the service did not answer" + partOf(f.FailedOf, f.Rows, "rows")}
}

func (f *Facts) dispersion() Number {
	n := Number{Name: "dispersion 1 · 10 · 60 s", Meaning: "variance ÷ mean of the counts in windows of 1, 10, 60 s; 1 is Poisson"}
	var parts []string
	some := false
	for _, v := range []measure.Value{f.Dispersion1, f.Dispersion10, f.Dispersion60} {
		x, ok := v.Get()
		if some = some || ok; ok {
			parts = append(parts, measure.Digits(x))
		} else {
			parts = append(parts, "–")
		}
	}
	if !some {
		n.Meaning = f.noTimes("fewer than twenty windows")
		return n
	}
	n.Value = strings.Join(parts, " · ")
	if short := f.shortOf(); short != "" {
		n.Meaning += fmt.Sprintf("; not known at %s: fewer than %d windows", short, leastWindows)
	}
	return n
}

// shortOf names the windows whose index of dispersion is not known.
func (f *Facts) shortOf() string {
	var short []string
	for _, d := range []struct {
		name string
		v    measure.Value
	}{{"1 s", f.Dispersion1}, {"10 s", f.Dispersion10}, {"60 s", f.Dispersion60}} {
		if !d.v.Valid() {
			short = append(short, d.name)
		}
	}
	return strings.Join(short, " and ")
}

func (f *Facts) sessions() Number {
	if f.Sessions == nil {
		return Number{Name: "sessions", Meaning: unknown(f.noSessions())}
	}
	return Number{"sessions", measure.Count(*f.Sessions), fmt.Sprintf("conversations, of %s turns on average and %s at most",
		measure.Digits(f.MeanTurns.Or(0)), whole(f.MaxTurns))}
}

func (f *Facts) tenants() Number {
	if f.Tenants == nil {
		return Number{Name: "tenants", Meaning: unknown(f.noTenants())}
	}
	name := "tenants"
	if f.Sampled {
		name = "clients"
	}
	return Number{name, measure.Count(*f.Tenants), "the busiest sends " + measure.Percent(100*f.BusiestShare.Or(0)) + " of the requests" + partOf(f.TenantsOf, f.Requests, "requests, which name theirs")}
}

func count(part, whole int64) string {
	if part == 0 {
		return "0"
	}
	return measure.Count(part) + " (" + measure.Share(int(part), int(whole)) + ")"
}

func when(at measure.Value) string {
	s, ok := at.Get()
	if !ok {
		return ""
	}
	return ", which begins at " + elapsed(s)
}

// span writes a length of time in its two largest units.
func span(v measure.Value) string {
	s, ok := v.Get()
	if !ok {
		return ""
	}
	return elapsed(s)
}

func elapsed(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d >= 48*time.Hour:
		return two(d, 24*time.Hour, "d", time.Hour, "h")
	case d >= time.Hour:
		return two(d, time.Hour, "h", time.Minute, "min")
	case d >= time.Minute:
		return two(d, time.Minute, "min", time.Second, "s")
	case d == 0:
		return "0 s"
	}
	return measure.Figure(measure.Some(s*1000), "ms")
}

// two writes a duration in two units, the second where it is not 0.
func two(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := fmt.Sprintf("%d %s", d/large, largeName)
	if rest := d % large / small; rest > 0 {
		text += fmt.Sprintf(" %d %s", rest, smallName)
	}
	return text
}

// written is the length of a window: 60 s, 5 min, 1 h.
func written(window time.Duration) string {
	switch {
	case window >= 24*time.Hour:
		return fmt.Sprintf("%d d", window/(24*time.Hour))
	case window >= time.Hour:
		return fmt.Sprintf("%d h", window/time.Hour)
	case window > time.Minute:
		return fmt.Sprintf("%d min", window/time.Minute)
	case window >= time.Second:
		return fmt.Sprintf("%d s", window/time.Second)
	}
	return fmt.Sprintf("%d ms", window/time.Millisecond)
}
