package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
)

// TextOptions say how a summary is shown.
type TextOptions struct {
	Colour bool
	Width  int // columns to wrap at; 0 or more than 100: 100
}

// Widths of the summary, in columns.
const (
	textWidth = 100 // at most
	leastText = 60  // however narrow the terminal
)

// labelWidth is the width of the labels at the left.
const labelWidth = 11

// Text writes the terminal summary: what ran, what became of the requests,
// the figures with the error rate beside them, the objectives with their
// evidence, and the verdict as the last line.
func Text(w io.Writer, s *Summary, o TextOptions) error {
	p := &page{s: s, colour: o.Colour, width: textWidth}
	if o.Width > 0 {
		p.width = min(max(o.Width, leastText), textWidth)
	}
	p.header()
	p.requests()
	p.latency()
	p.throughput()
	p.steady()
	p.evidence()
	p.slo()
	p.client()
	p.verdict()
	_, err := io.WriteString(w, p.b.String())
	return err
}

// page is a summary on its way to text.
type page struct {
	s      *Summary
	b      strings.Builder
	colour bool
	width  int
}

// line writes a labelled line, wrapped under its label.
func (p *page) line(label, text string) { p.painted(label, "", text, "") }

// painted writes a labelled line whose first words, before the rest, are in a
// colour; they are one word, or all of it. Colours come after cleaning, so
// that no text from outside brings its own.
func (p *page) painted(label, colour, words, rest string) {
	for i, l := range wrap(Line(words+rest), p.width-labelWidth) {
		switch {
		case rest == "":
			l = p.paint(colour, l)
		case i == 0:
			l = p.paint(colour, words) + strings.TrimPrefix(l, words)
		}
		fmt.Fprintf(&p.b, "%-*s%s\n", labelWidth, label, l)
		label = ""
	}
}

func (p *page) blank() { p.b.WriteByte('\n') }

// The colours, by what they mean.
const (
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[31;1m"
	plain  = "\x1b[0m"
)

func (p *page) paint(colour, text string) string {
	if !p.colour || colour == "" {
		return text
	}
	return colour + text + plain
}

func (p *page) header() {
	r := &p.s.Run
	name := r.ID // begins with the time
	if r.Name != "" {
		name = r.Name + ", " + r.Start.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	name += fmt.Sprintf(", seed %d", r.Seed)
	for _, k := range slices.Sorted(maps.Keys(r.Tags)) {
		name += ", " + k + "=" + r.Tags[k]
	}
	p.line("tokamak", name)
	var target strings.Builder
	target.WriteString(strings.Join(r.Targets, " "))
	for _, part := range []string{r.API, r.Model} {
		if part != "" {
			target.WriteString(", " + part)
		}
	}
	p.line("target", target.String())
	p.line("load", r.Load)
	p.line("workload", r.Workload)
	if u := r.Users; u != nil {
		p.line("users", fmt.Sprintf("%s of %s allowed in the mean, %s at the least, %s at the end, by %s",
			measure.Digits(u.Mean.Or(float64(u.Last))), measure.Count(u.Of), measure.Count(u.Least), measure.Count(u.Last), u.Rule))
	}
	if len(r.Adapted) > 0 {
		p.line("adapted", strings.Join(r.Adapted, "; "))
	}
	for _, n := range r.Notices {
		p.line("note", n)
	}
	switch r.Ended {
	case Done:
	case Interrupted:
		p.line("ended", "interrupted; what follows is what there was until then")
	case Aborted:
		p.line("ended", "aborted: "+r.Reason)
	case Recovered:
		p.line("ended", "killed; recovered from what was on disk")
	}
}

func (p *page) throughput() {
	m := p.s.Metrics
	var parts []string
	add := func(name, unit string) {
		if v := m[name].Value; v.Valid() {
			parts = append(parts, figure(v, unit))
		}
	}
	add("request_rate", "req/s")
	add("output_token_rate", "tok/s out")
	add("input_token_rate", "tok/s in")
	if v := m["goodput"].Value; v.Valid() {
		text := "goodput " + figure(v, "req/s")
		if of := m["goodput_share"].Value; of.Valid() {
			text += fmt.Sprintf(" (%s of due)", figure(of, "%"))
		}
		parts = append(parts, text)
	}
	if len(parts) > 0 {
		p.blank()
		p.line("throughput", strings.Join(parts, ", "))
	}
	if v := m["output_token_rate_per_gpu"].Value; v.Valid() {
		p.line("per GPU", fmt.Sprintf("%s, %s", figure(m["request_rate_per_gpu"].Value, "req/s"), figure(v, "tok/s out")))
	}
}

func (p *page) steady() {
	st := &p.s.Steady
	if st.Requests.Due == 0 {
		if p.s.Requests.Due >= shownFrom && st.Reason != "" {
			p.line("steady", "no window found: "+st.Reason)
		}
		return
	}
	var text strings.Builder
	how := "warm-up as asked"
	if strings.Contains(st.Rule, "MSER-5") {
		how = "found by MSER-5"
	}
	fmt.Fprintf(&text, "%s to %s, %s: %s requests", figure(st.From, "ms"), figure(st.To, "ms"), how, count(st.Requests.Due))
	for _, name := range []string{"ttft", "e2e"} {
		if m := st.Metrics[name]; m.Count > 0 {
			fmt.Fprintf(&text, ", %s p50 %s p99 %s", name, figure(m.P50, "ms"), figure(m.P99, "ms"))
		}
	}
	if v := st.Metrics["output_token_rate"].Value; v.Valid() {
		text.WriteString(", " + figure(v, "tok/s out"))
	}
	p.line("steady", text.String())
}

func (p *page) client() {
	c := &p.s.Client
	p.blank()
	if p.s.Run.Virtual {
		p.line("client", "virtual time: no client stands between the load and the figures")
		p.place()
		return
	}
	facts := []string{}
	if c.LagP99.Valid() {
		facts = append(facts, fmt.Sprintf("schedule lag p99 %s, max %s", figure(c.LagP99, "ms"), figure(c.LagMax, "ms")))
	}
	if x, ok := c.CPU.Get(); ok {
		facts = append(facts, measure.Digits(x)+" cores")
	}
	if x, ok := c.MaxRSS.Get(); ok {
		facts = append(facts, count(int(x/(1<<20)))+" MiB")
	}
	for _, source := range slices.Sorted(maps.Keys(p.s.Run.Stamps)) {
		facts = append(facts, fmt.Sprintf("%s %s stamps", measure.Percent(100*p.s.Run.Stamps[source]), source))
	}
	word, colour := string(c.Verdict), ""
	if c.Verdict == measure.Invalid {
		word, colour = "INVALID", red
	}
	p.painted("client", colour, word, ": "+strings.Join(facts, ", "))
	p.doubts()
	for _, a := range c.Advice {
		p.line("", a)
	}
	p.place()
}

// doubts names the metrics that the client shaped, those of one reason
// together; what holds for a metric holds for its _adj form.
func (p *page) doubts() {
	names := map[string]map[measure.Trust][]string{} // by reason
	var reasons []string
	every := 0 // metrics that are no _adj form
	for _, name := range slices.Sorted(maps.Keys(p.s.Client.Validity)) {
		v := p.s.Client.Validity[name]
		if strings.HasSuffix(name, measure.Adj) {
			continue
		}
		every++
		if v.Trust == measure.Valid || v.Trust == "" {
			continue
		}
		reason := v.Reason
		if of, rest, ok := strings.Cut(reason, ": "); ok && p.s.Client.Validity[of].Reason == rest {
			reason = rest // a figure made of another metric
		}
		if names[reason] == nil {
			names[reason] = map[measure.Trust][]string{}
			reasons = append(reasons, reason)
		}
		names[reason][v.Trust] = append(names[reason][v.Trust], name)
	}
	for _, reason := range reasons {
		p.line("", reason)
		for _, t := range []measure.Trust{measure.Invalid, measure.Degraded} {
			switch list := names[reason][t]; {
			case len(list) == 0:
			case len(list) == every:
				p.line("", string(t)+": every figure")
			default:
				p.line("", fmt.Sprintf("%s: %s", t, strings.Join(list, ", ")))
			}
		}
	}
}

func (p *page) place() {
	if p.s.Run.Dir != "" {
		p.line("written", p.s.Run.Dir)
	}
}
