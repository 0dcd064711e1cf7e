package workload

import (
	"fmt"
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/media"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// Traffic is a model of traffic as a workload: session i is the model's i-th
// in order of time. Its moments can be the load too; see Moments.
type Traffic struct {
	Name   string // of the model's file, for messages
	SHA256 string // of the file, in hex; empty where not known
	Model  *traffic.Model
	// Options say how much of it is sent. The seed is the workload's.
	Options traffic.SampleOptions
	// Endless says that the load is another one: sessions go on beyond the
	// model's duration for as many as it asks for.
	Endless bool
	// Text is what the texts of blocks are written of, as package corpus names
	// it; empty: its default.
	Text string
	// Patience, in seconds, is after how long a user gives up on an answer; nil: never.
	Patience stat.Distribution
	// Reasoning says that the target is told whether to reason.
	Reasoning bool
	// Image is what the images of the model's requests are like; its ID is not used.
	Image media.Image
}

// Images tells whether any request of the model has images.
func (t *Traffic) Images() bool {
	return slices.ContainsFunc(t.Model.Clients, func(c traffic.Client) bool { return c.Images != nil })
}

// Reasons tells whether any client's answers have a share of reasoning.
func (t *Traffic) Reasons() bool {
	return slices.ContainsFunc(t.Model.Clients, func(c traffic.Client) bool { return c.Reasoning != nil })
}

// endless is longer than any load.
const endless = 10 * 365 * 24 * time.Hour

func (t *Traffic) sampler(seed uint64) (*traffic.Sampler, error) {
	o := t.Options
	o.Seed = seed
	if t.Endless {
		o.Duration = endless
	}
	s, err := t.Model.Sampler(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return s, nil
}

// Check says whether sessions can be sampled, and has sentences about what will
// be.
func (t *Traffic) Check() (notices []string, err error) {
	s, err := t.sampler(0)
	if err != nil || t.Endless {
		return nil, err
	}
	return s.Notices(), nil
}

// Moments returns the model's own moments as a load: moment i is that of
// session i. They are the expected ones in its summary.
func (t *Traffic) Moments() *load.Stream {
	e := t.Model.Expect(t.Options)
	return &load.Stream{
		Open: func(seed uint64) (func() (int64, bool), error) {
			s, err := t.sampler(seed)
			if err != nil {
				return nil, err
			}
			return s.NextMoment, nil
		},
		Summary: load.Summary{Requests: e.Sessions, Known: true, PeakRate: e.PeakRate, Duration: e.Duration},
	}
}

// Shares tells whether any sessions share text with others or with their own
// past, so that a cache could know it.
func (t *Traffic) Shares() bool {
	return slices.ContainsFunc(t.Model.Clients, func(c traffic.Client) bool { return c.Prefix != nil || c.Sessions != nil })
}

// modelled yields the sessions of a traffic model. It belongs to one goroutine.
type modelled struct {
	Config
	seed    uint64
	sampler *traffic.Sampler
	next    int64               // the session that the sampler is at
	sent    map[uint64]struct{} // prefixes of earlier sessions, by block
}

func newModelled(c Config, seed uint64) (*modelled, error) {
	m := &modelled{Config: c, seed: seed}
	return m, m.begin()
}

func (m *modelled) begin() (err error) {
	m.sampler, err = m.Traffic.sampler(m.seed)
	m.next, m.sent = 0, map[uint64]struct{}{}
	return err
}

// Session returns session i. Sessions are drawn in order of time: going back
// begins anew.
func (m *modelled) Session(i int64) (Session, error) {
	if i < 0 || m.MaxSessions > 0 && i >= m.MaxSessions {
		return nil, ErrEnd
	}
	if i < m.next {
		if err := m.begin(); err != nil {
			return nil, err
		}
	}
	for {
		d, ok := m.sampler.Next()
		if !ok {
			return nil, ErrEnd
		}
		shared := m.front(&d)
		m.next++
		if m.next > i {
			return m.session(&d, uint64(i), shared), nil
		}
	}
}

// front returns how much of a session's prefix an earlier one has sent, which
// is all of it or nothing.
func (m *modelled) front(d *traffic.Draw) int64 {
	if d.Prefix == 0 {
		return 0
	}
	id := m.prefixID(d)
	if _, ok := m.sent[id]; ok {
		return d.PrefixTokens
	}
	m.sent[id] = struct{}{}
	return 0
}

func (m *modelled) salted() uint64 { return m.seed ^ stat.Key(m.Salt, "salt", 0) }

// prefixID names a session's prefix as a dataset of the same sessions does.
func (m *modelled) prefixID(d *traffic.Draw) uint64 {
	return stat.Key(m.salted(), "hash", m.sampler.PrefixName(d))
}

func (m *modelled) session(d *traffic.Draw, index uint64, shared int64) *modelledSession {
	s := &modelledSession{modelled: m, index: index, shared: shared}
	s.turns = m.sampler.Turns(d, nil)
	s.reasons = m.Traffic.Model.Clients[d.Client].Reasoning != nil
	s.request = Request{Class: m.Traffic.Model.Clients[d.Client].Name, Tenant: m.sampler.Name(d), Text: m.Traffic.Text}
	if len(s.turns) > 1 {
		s.request.SessionID = m.sampler.SessionName(d)
	}
	if d.Prefix > 0 {
		s.prefix = Block{ID: m.prefixID(d), Tokens: d.PrefixTokens}
	}
	return s
}

// modelledSession is one session of a model under way.
type modelledSession struct {
	*modelled
	index   uint64
	shared  int64 // of the prefix
	prefix  Block
	turns   []traffic.Turn
	request Request
	reasons bool // its client has a share of reasoning
	turn    int64
	history []Message
	tokens  int64 // of history
}

// Next returns the next turn: everything before and new text.
func (s *modelledSession) Next(answer *Answer) (*Request, bool) {
	shared := int64(0)
	if s.turn > 0 {
		if answer == nil || s.turn >= int64(len(s.turns)) {
			return nil, false
		}
		said, reused := answer.said()
		s.history = append(s.history, said.message())
		shared = s.tokens + reused
		s.tokens += said.Tokens
	}
	t := &s.turns[s.turn]
	r := s.request
	r.Turn, r.Think, r.OutputTokens = s.turn, t.Think, t.Output
	r.Reasons, r.Reasoning = s.reasons, t.Reasoning
	if d := s.Traffic.Patience; d != nil {
		r.Patience = max(seconds(d.Sample(stat.Random(s.seed, "patience", s.index<<20|uint64(s.turn)))), leastPatience)
	}
	r.SharedTokens = shared
	m := Message{Role: "user"}
	if s.turn == 0 {
		r.SharedTokens = s.shared
		if s.prefix.Tokens > 0 {
			m.Blocks = append(m.Blocks, s.prefix)
		}
	}
	id := stat.Key(s.salted(), "content/traffic", 1<<63|s.index<<14|uint64(s.turn))
	m.Blocks = append(m.Blocks, Block{ID: id, Tokens: t.Input})
	for i := range min(t.Images, MaxImages) {
		image := s.Traffic.Image
		image.ID = stat.Key(id, "image", uint64(i))
		m.Images = append(m.Images, image)
	}
	for _, b := range m.Blocks {
		s.tokens += b.Tokens
	}
	s.history = append(s.history, m)
	r.InputTokens, r.Messages = s.tokens, slices.Clone(s.history)
	s.turn++
	return &r, true
}

// looked is how many sessions a forecast draws.
const looked = 5000

// expected draws sessions from all of the model's time, in its own mixture.
func (m *modelled) expected(int64) (Expected, bool) {
	t := *m.Traffic
	t.Endless = false
	if n := t.Model.Expect(t.Options).Sessions; n > looked {
		scale := t.Options.Scale
		if scale == 0 {
			scale = 1
		}
		t.Options.Scale, t.Options.ScaleBy = scale*looked/n, traffic.ByRate
	}
	c := m.Config
	c.Traffic = &t
	thin, err := newModelled(c, m.seed)
	if err != nil {
		return Expected{}, false
	}
	var e Expected
	n := int64(0)
	for ; ; n++ {
		s, err := thin.Session(n)
		if err != nil {
			break
		}
		e.add(s, m.Traffic.Reasoning)
	}
	return e.per(n)
}
