package traffic

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// Write writes the model as the file that [Read] reads, with comments that say
// what the figures are. What is read again is the same model, but for times of
// think, which are kept to the nanosecond.
func (m *Model) Write(w io.Writer) error {
	b := &printer{w: bufio.NewWriter(w)}
	b.line("schema: %s", Schema)
	b.line("# The traffic of a service as a mixture of clients. Rates are sessions begun a second, lengths are tokens,")
	b.line("# durations have units (500ms, 60s, 24h). A distribution is a number or a form such as lognormal:mean=512,cv=0.8.")
	b.source(&m.Source)
	b.line("duration: %s # what the rates cover; a longer run begins them again", short(m.Duration))
	if m.Text != "" {
		b.line("text: %s # words learnt from the log's own prompts", quoted(m.Text))
	}
	if len(m.Findings) > 0 {
		b.line("findings:")
		for _, f := range m.Findings {
			b.line("  - %s", quoted(f))
		}
	}
	b.line("clients:")
	for i := range m.Clients {
		b.told = i > 0
		b.client(&m.Clients[i])
	}
	return b.w.Flush() // which tells of earlier errors too
}

// printer writes lines of YAML.
type printer struct {
	w    *bufio.Writer
	told bool // comments were written for an earlier client
}

func (b *printer) line(format string, args ...any) { fmt.Fprintf(b.w, format+"\n", args...) }

// noted writes a line with a comment, which only the first client has.
func (b *printer) noted(comment, format string, args ...any) {
	if !b.told {
		format += " # " + strings.ReplaceAll(comment, "%", "%%")
	}
	b.line(format, args...)
}

func (b *printer) source(s *Source) {
	if *s == (Source{}) {
		return
	}
	b.line("source: # what it was learnt from")
	if s.Format != "" {
		b.line("  format: %s", quoted(s.Format))
	}
	b.line("  rows: %d", s.Rows)
	b.line("  skipped: %d", s.Skipped)
	if !s.Begin.IsZero() {
		b.line("  begin: %s", quoted(s.Begin.Format(time.RFC3339Nano)))
	}
}

func (b *printer) client(c *Client) {
	b.line("  - name: %s", quoted(c.Name))
	if c.Rate.Window > 0 {
		b.noted("of each rate; the last may be cut short", "    window: %s", short(c.Rate.Window))
		b.numbers("    rate: ", c.Rate.Rate, "sessions begun a second, in each window")
	} else {
		b.numbers("    rate: ", c.Rate.Rate, "sessions begun a second")
	}
	if c.Arrival.Process != "" {
		b.noted("gaps around the rate: constant, poisson, gamma or weibull (with cv), markov", "    arrival: %s", c.Arrival.Process)
	}
	if len(c.Arrival.CV) > 0 {
		b.numbers("    cv: ", c.Arrival.CV, "coefficient of variation of the gaps: 1 is poisson, above it bursts; a list: one a window")
	}
	b.markov(c.Arrival.Markov)
	b.line("    lengths:")
	for i := range c.Lengths {
		b.lengths(&c.Lengths[i])
	}
	b.sessions(c.Sessions)
	b.prefix(c.Prefix)
	if c.Reasoning != nil {
		b.noted("share of an answer's tokens that are reasoning", "    reasoning: %s", c.Reasoning)
	}
	if c.Images != nil {
		b.noted("of each request", "    images: %s", c.Images)
	}
	if c.Limit != nil {
		b.noted("most tokens that requests let an answer have (max_tokens); known, not generated", "    output-limit: %s", c.Limit)
	}
	if c.Errors != 0 {
		b.noted("share that the service did not answer; known, not generated", "    errors: %s", number(c.Errors))
	}
}

func (b *printer) markov(k *Markov) {
	if k == nil {
		return
	}
	b.line("    markov: # each gap is of a state that follows from the one before; in units of the mean gap")
	b.line("      gaps:")
	for _, g := range k.Gaps {
		b.line("        - %s", g)
	}
	b.line("      next: # row: from state; column: chance of the next")
	b.table("        ", k.Next)
}

func (b *printer) lengths(l *Lengths) {
	b.noted("these hold from here on", "      - from: %s", short(l.From))
	b.noted("new text of a session's first turn, without a shared prefix", "        input-tokens: %s", l.Input)
	if l.Output != nil {
		b.noted("of an answer", "        output-tokens: %s", l.Output)
	}
	if l.Ranks != nil {
		b.noted("how the two go together: chance of each cell of equal rank bins, a row for each bin of input", "        ranks:")
		b.table("          ", l.Ranks)
	}
}

func (b *printer) sessions(s *Sessions) {
	if s == nil {
		return
	}
	b.line("    sessions:")
	b.noted("of a conversation", "      turns: %s", s.Turns)
	b.odds("goes-on-first", s.GoesOnFirst, "odds of another turn after a first prompt of each of equal rank bins, from short to long, relative to each other")
	b.odds("goes-on", s.GoesOn, "the same after the new text of a later turn")
	if s.Think != nil {
		b.noted("between an answer's end and the next turn", "      think: %s", stat.FormatDurations(s.Think))
	}
	if s.Input != nil {
		b.noted("new text of a later turn", "      input-tokens: %s", s.Input)
	}
	if s.InputAlike != 0 {
		b.noted("correlation of it in a session, of normal scores", "      input-alike: %s", number(s.InputAlike))
	}
	if s.OutputAlike != 0 {
		b.noted("the same of the answers of a session", "      output-alike: %s", number(s.OutputAlike))
	}
	if s.Jump != 0 {
		b.noted("chance that a turn's length is drawn anew; else it stays that of the turn before", "      jump: %s", number(s.Jump))
	}
}

func (b *printer) odds(key string, list []float64, comment string) {
	if list != nil {
		b.noted(comment, "      %s: [%s]", key, row(list, "\n        "))
	}
}

func (b *printer) prefix(p *Prefix) {
	if p == nil {
		return
	}
	b.noted("text that sessions share at their front", "    prefix:")
	b.noted("of the sessions", "      share: %s", number(p.Share))
	if len(p.Top) > 0 {
		b.noted("those that stand out, each with its share of the sessions that have a prefix", "      top:")
		for _, f := range p.Top {
			b.line("        - {share: %s, tokens: %d}", number(f.Share), f.Tokens)
		}
		b.noted("so many others", "      count: %d", p.Count)
	} else {
		b.noted("so many different ones", "      count: %d", p.Count)
	}
	b.noted("of Zipf's law of their popularity; 0: all alike", "      exponent: %s", number(p.Exponent))
	b.noted("of each of them", "      tokens: %s", p.Tokens)
}

// perLine is how many numbers of a list stand in one line.
const perLine = 12

func (b *printer) numbers(key string, list []float64, comment string) {
	if len(list) == 1 {
		b.noted(comment, "%s%s", key, number(list[0]))
		return
	}
	if !b.told {
		b.line("    # %s", comment)
	}
	b.line("%s[%s]", key, row(list, "\n      "))
}

func (b *printer) table(indent string, rows [][]float64) {
	for _, r := range rows {
		b.line("%s- [%s]", indent, row(r, "\n"+indent+"  "))
	}
}

// row writes numbers with commas, broken into lines of perLine.
func row(list []float64, broken string) string {
	var b strings.Builder
	for i, x := range list {
		switch {
		case i > 0 && i%perLine == 0:
			b.WriteString("," + broken)
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(number(x))
	}
	return b.String()
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// short writes a duration without its zero parts.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// quoted writes text as a value of YAML: plain where nothing can misread it,
// else between double quotes.
func quoted(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	plain := s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z')
	for _, r := range s {
		plain = plain && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		plain = false
	}
	if plain {
		return s
	}
	return strconv.Quote(s)
}
