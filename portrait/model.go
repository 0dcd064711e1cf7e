package portrait

import (
	"cmp"
	"container/heap"
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
	// sampledBlock is the length in tokens of the blocks that a sample's prompts
	// are cut into, to find what was sent before.
	sampledBlock = 64
)

// Model samples a model of traffic and returns the figures and the page of the
// sample. An error is the model's or the context's.
func Model(ctx context.Context, m *traffic.Model, seed uint64, o Options) (*Facts, *Page, error) {
	s, err := m.Sampler(traffic.SampleOptions{Seed: seed})
	if err != nil {
		return nil, nil, err
	}
	r := &sample{model: m, sampler: s, most: maxSampled, lengthless: o.NoLengths}
	for i := range m.Clients {
		r.conversations = r.conversations || m.Clients[i].Sessions != nil
		r.shares = !o.NoLengths && (r.shares || m.Clients[i].Sessions != nil || m.Clients[i].Prefix != nil)
	}
	r.advance()
	o.Tenants = true // a model's names are its own
	l, err := read(ctx, r, nil)
	if err != nil {
		return nil, nil, err
	}
	f := l.facts()
	f.Name, f.Format, f.Sampled = o.Name, "model", true
	f.Notes = append(f.Notes, fmt.Sprintf("Drawn with seed %d; another seed draws other requests of the same traffic.", seed))
	if r.drawn >= r.most {
		f.Notes = append(f.Notes, fmt.Sprintf("Only the first %s requests, of %s in all, are drawn.", measure.Count(r.drawn), elapsed(m.Duration.Seconds())))
	}
	if f.Sessions != nil {
		f.Notes = append(f.Notes, "Answers are taken to take no time: a later turn comes one think time after the turn before.")
	}
	if r.beyond > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s later turns would come after the model's end and are left out.", measure.Count(r.beyond)))
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

// sample is a sampled model as rows in order of time.
type sample struct {
	model   *traffic.Model
	sampler *traffic.Sampler
	next    traffic.Draw
	more    bool
	pending turns
	drawn   int64
	beyond  int64 // turns that would come behind the model's end
	most    int64
	row     trace.Row

	conversations bool // some sessions have several turns
	shares        bool // some prompts begin as others do
	lengthless    bool // lengths are not known
}

func (s *sample) advance() { s.next, s.more = s.sampler.Next() }

// conversation is a session with the turns that it has left.
type conversation struct {
	at      int64 // of the next turn, ns
	name    string
	client  string
	session uint64
	prefix  uint64
	front   int64 // tokens of the shared prefix
	history int64 // tokens, the prefix and the answers included
	turn    int64
	left    []traffic.Turn
}

// turns is a heap of conversations by the moment of their next turn.
type turns []*conversation

func (t turns) Len() int           { return len(t) }
func (t turns) Less(i, j int) bool { return t[i].at < t[j].at }
func (t turns) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *turns) Push(x any)        { *t = append(*t, x.(*conversation)) }
func (t *turns) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

// Next returns the next request, valid until the next call; io.EOF after the
// last.
func (s *sample) Next() (*trace.Row, error) {
	if s.drawn >= s.most {
		return nil, io.EOF
	}
	if s.more && (len(s.pending) == 0 || s.next.At <= s.pending[0].at) {
		d := s.next
		c := &conversation{at: d.At, client: s.sampler.Name(&d), front: d.PrefixTokens, history: d.PrefixTokens, left: s.sampler.Turns(&d, nil)}
		c.name = fmt.Sprintf("%s-%d", c.client, d.Index)
		c.session = stat.Key(uint64(d.Client)<<32|uint64(d.Replica), "portrait", uint64(d.Index))
		c.prefix = stat.Key(uint64(d.Client)<<32|uint64(d.Replica), "front", uint64(d.Prefix))
		heap.Push(&s.pending, c)
		s.advance()
	}
	for len(s.pending) > 0 && s.pending[0].at >= int64(s.model.Duration) {
		s.beyond += int64(len(heap.Pop(&s.pending).(*conversation).left))
	}
	if len(s.pending) == 0 {
		return nil, io.EOF
	}
	c := s.pending[0]
	s.request(c)
	if len(c.left) == 0 {
		heap.Pop(&s.pending)
	} else {
		c.at += int64(c.left[0].Think)
		heap.Fix(&s.pending, 0)
	}
	s.drawn++
	return &s.row, nil
}

// request makes a row of a conversation's next turn.
func (s *sample) request(c *conversation) {
	t := c.left[0]
	c.left = c.left[1:]
	prompt := c.history + t.Input
	s.row = trace.Row{Timed: true, At: c.at, Tenant: c.client, Input: prompt, Output: t.Output, Reasoning: t.Reasoning, Images: t.Images,
		Turn: c.turn, BlockTokens: sampledBlock, Blocks: s.row.Blocks[:0]}
	if s.conversations {
		s.row.Session = c.name
	}
	if s.lengthless {
		s.row.Input, s.row.Output, s.row.Reasoning = 0, 0, 0
	}
	for k := int64(0); s.shares && k*sampledBlock < prompt; k++ {
		owner := c.session
		if (k+1)*sampledBlock <= c.front {
			owner = c.prefix
		}
		s.row.Blocks = append(s.row.Blocks, stat.Key(owner, "block", uint64(k)))
	}
	c.history = prompt + t.Output
	c.turn++
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
