package portrait

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/chart"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

const (
	// maxSampled is how many requests of a model are drawn.
	maxSampled = 1_000_000
)

// Model samples a model of traffic and returns the figures and the page of the
// sample. An error is the model's or the context's.
func Model(ctx context.Context, m *traffic.Model, seed uint64, o Options) (*Facts, *Page, error) {
	return model(ctx, m, seed, o, maxSampled)
}

// model is Model with so many requests at most.
func model(ctx context.Context, m *traffic.Model, seed uint64, o Options, most int64) (*Facts, *Page, error) {
	s, err := m.Sampler(traffic.SampleOptions{Seed: seed})
	if err != nil {
		return nil, nil, err
	}
	r := &sample{model: m, sampler: s, lengthless: o.NoLengths}
	l := &log{until: int64(m.Duration), most: most}
	for i := range m.Clients {
		r.conversations = r.conversations || m.Clients[i].Sessions != nil
		l.fronts = !o.NoLengths && (l.fronts || m.Clients[i].Sessions != nil || m.Clients[i].Prefix != nil)
	}
	o.Tenants = true // a model's names are its own
	if _, err = read(ctx, r, l); err != nil {
		return nil, nil, err
	}
	f := l.facts()
	f.Name, f.Format, f.Sampled = o.Name, "model", true
	f.Notes = append(f.Notes, fmt.Sprintf("Drawn with seed %d; another seed draws other requests of the same traffic.", seed))
	if l.full() {
		f.cut = fmt.Sprintf("; of the first %s alone, of %s", elapsed(f.Span.Or(0)), elapsed(m.Duration.Seconds()))
		f.Notes = append(f.Notes, fmt.Sprintf("Only the first %s requests, of %s in all, are drawn.", measure.Count(f.Requests), elapsed(m.Duration.Seconds())))
	}
	if f.Sessions != nil {
		f.Notes = append(f.Notes, "Answers are taken to take no time: a later turn comes one think time after the turn before.")
	}
	if l.beyond > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s later turns would come after the model's end and are left out.", measure.Count(l.beyond)))
	}
	f.Notes = append(f.Notes, s.Notices()...)
	if o.NoLengths {
		f.Notes = append(f.Notes, "This is a table of client windows: it tells rates and the spread of gaps, and no lengths.")
	} else {
		f.Notes = append(f.Notes, m.Findings...)
	}
	p := l.page(f, o)
	if rate, ok := p.Sections[0].Figures[0].(*chart.Plot); ok && rate.Empty == "" && !r.conversations {
		rate.Series = append(rate.Series, rateOfModel(m))
		rate.Series[0].Name = "sample, " + rate.Series[0].Name
		rate.Note += " The dashed line is the rate that the model asks for."
	}
	p.Sections = append(p.Sections, Section{Tables: []Table{clientTable(m, o.NoLengths)}})
	return f, p, nil
}

// sample is a sampled model as rows, one a session, as workload sample writes
// them.
type sample struct {
	model         *traffic.Model
	sampler       *traffic.Sampler
	row           trace.Row
	turns         []traffic.Turn
	conversations bool // some sessions have several turns
	lengthless    bool // lengths are not known
}

// Next returns the next session, valid until the next call; io.EOF after the
// last.
func (s *sample) Next() (*trace.Row, error) {
	d, more := s.sampler.Next()
	if !more {
		return nil, io.EOF
	}
	s.turns = s.sampler.Turns(&d, s.turns[:0])
	first := &s.turns[0]
	reasons := s.model.Clients[d.Client].Reasoning != nil
	s.row = trace.Row{Format: ownRows, Timed: true, At: d.At, Tenant: s.sampler.Name(&d), Input: d.PrefixTokens + d.Input, Output: first.Output,
		Reasoning: first.Reasoning, ReasoningTold: reasons && first.Output > 0, Images: first.Images, Blocks: s.row.Blocks[:0], Turns: s.row.Turns[:0]}
	if len(s.turns) > 1 {
		s.row.Session = s.sampler.SessionName(&d)
	}
	if d.Prefix > 0 && !s.lengthless {
		s.row.Blocks, s.row.BlockTokens = append(s.row.Blocks, s.sampler.PrefixName(&d)), d.PrefixTokens
	}
	for i := range s.turns {
		t := &s.turns[i]
		turn := trace.Turn{Input: t.Input, Output: t.Output, Think: t.Think, Reasoning: t.Reasoning, ReasoningTold: reasons && t.Output > 0, Images: t.Images}
		if i == 0 {
			turn.Input, turn.Think = s.row.Input, 0
		}
		if s.lengthless {
			turn.Input, turn.Output, turn.Reasoning = 0, 0, 0
		}
		s.row.Turns = append(s.row.Turns, turn)
	}
	if s.lengthless {
		s.row.Input, s.row.Output, s.row.Reasoning = 0, 0, 0
	}
	if len(s.turns) == 1 {
		s.row.Turns = nil
	}
	return &s.row, nil
}

// shownClients is how many clients have a row of their own.
const shownClients = 20

// clientTable shows the clients of a model, the busiest first.
func clientTable(m *traffic.Model, noLengths bool) Table {
	t := Table{Title: "Clients of the model", Head: []string{"client", "sessions/s", "share", "arrivals", "input", "output", "turns", "prefix"}}
	type client struct {
		*traffic.Client
		rate float64
	}
	var all []client
	total := 0.0
	for i := range m.Clients {
		c := client{&m.Clients[i], meanRate(&m.Clients[i].Rate, m.Duration)}
		total += c.rate
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b client) int { return cmp.Compare(b.rate, a.rate) })
	t.Note = fmt.Sprintf("Mean rate of session starts over %s, mean lengths in tokens.", elapsed(m.Duration.Seconds()))
	for i, c := range all {
		if i == shownClients {
			t.Note += fmt.Sprintf(" The busiest %d of %s.", shownClients, measure.Count(int64(len(all))))
			break
		}
		l := c.Lengths[0]
		row := []string{c.Name, measure.Digits(c.rate), measure.Percent(100 * c.rate / total), process(&c.Arrival),
			measure.Digits(l.Input.Mean()), measure.Digits(l.Output.Mean()), "1", "-"}
		if noLengths {
			row[4], row[5] = "-", "-"
		}
		if c.Sessions != nil {
			row[6] = measure.Digits(c.Sessions.Turns.Mean())
		}
		if c.Prefix != nil {
			row[7] = fmt.Sprintf("%s of %d × %s", measure.Percent(100*c.Prefix.Share), c.Prefix.Count, measure.Digits(c.Prefix.Tokens.Mean()))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// meanRate is the mean of a curve over a time line.
func meanRate(c *traffic.Curve, d time.Duration) float64 {
	if c.Window <= 0 || len(c.Rate) == 1 {
		return c.Rate[0]
	}
	sum, left := 0.0, d
	for _, r := range c.Rate {
		w := min(c.Window, left)
		sum += r * w.Seconds()
		left -= w
	}
	return sum / d.Seconds()
}

// process names an arrival process with its median CV.
func process(a *traffic.Arrival) string {
	if len(a.CV) == 0 {
		return string(a.Process)
	}
	cv := slices.Clone(a.CV)
	slices.Sort(cv)
	return fmt.Sprintf("%s, CV %s", a.Process, measure.Digits(stat.Quantile(cv, 0.5)))
}

// rateOfModel is the sum of the clients' rates over the model's time line.
func rateOfModel(m *traffic.Model) chart.Series {
	const steps = 200
	window := m.Duration
	for i := range m.Clients {
		if w := m.Clients[i].Rate.Window; w > 0 {
			window = min(window, w)
		}
	}
	window = max(window, m.Duration/steps)
	s := chart.Series{Name: "rate of the model", Shape: chart.Steps, Role: chart.Model, X: []float64{0}}
	for from := time.Duration(0); from < m.Duration; from += window {
		sum := 0.0
		for i := range m.Clients {
			c := &m.Clients[i].Rate
			k := 0
			if c.Window > 0 {
				k = min(int((from+window/2)/c.Window), len(c.Rate)-1)
			}
			sum += c.Rate[k]
		}
		s.X = append(s.X, min(from+window, m.Duration).Seconds())
		s.Y = append(s.Y, sum)
	}
	return s
}
