package traffic

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// Scaling says what a scale multiplies.
type Scaling string

// The scalings.
const (
	// ByRate multiplies the rate of each client. Bursts keep their shape in
	// operational time: at twice the rate the same bursts take half as long.
	ByRate Scaling = "rate"
	// ByClients multiplies the clients: each further one has draws, bursts and
	// prefixes of its own, so that what comes from gaps is smoother. What is left over of a
	// factor is a client at that part of the rate.
	ByClients Scaling = "clients"
)

// SampleOptions say how much of a model is sampled.
type SampleOptions struct {
	Seed uint64
	// Scale multiplies the traffic; 0 means 1.
	Scale float64
	// ScaleBy says how; empty: ByRate.
	ScaleBy Scaling
	// Duration is how long; 0: the model's. A longer one begins the curves
	// again.
	Duration time.Duration
}

// Draw is one session of a sampled model.
type Draw struct {
	At int64 // ns from the start
	// Client is the session's client, by place in the model; Replica which of
	// those that a scale by clients made of it, from 0; Index the session's
	// number among that one's, from 0.
	Client, Replica int
	Index           int64
	// Input is the first turn's new text in tokens, without the prefix; Output
	// the length of its answer, 0 where the server decides; Reasoning the part
	// of the answer that is reasoning.
	Input, Output, Reasoning int64
	Images                   int64 // of the first turn
	// Prefix is the rank of popularity, from 1, of the shared prefix, which
	// has PrefixTokens; 0: none.
	Prefix, PrefixTokens int64
	Turns                int64 // at least 1

	rank  float64 // of the input among inputs
	level level
}

// Turn is one turn of a session.
type Turn struct {
	Input, Output, Reasoning int64 // tokens of new text, of the answer, and of the reasoning in it
	Images                   int64
	Think                    time.Duration // between the end of the answer before and this turn
}

// Sampler yields the sessions of a model in order of time. Everything about
// session i of a client follows from (seed, client, i) alone. It belongs to one
// goroutine.
type Sampler struct {
	model   *Model
	streams []*stream // a heap by moment
	names   []*stream // of all streams, by client and replica
	notices []string

	duration time.Duration
}

// stream is one client, or one of those that a scale made of it.
type stream struct {
	*arrivals
	*content
	number          int // of the stream, for ties
	client, replica int
}

const (
	maxScale   = 1e6
	maxStreams = 100_000
)

// Sampler returns a sampler at its first session, or an error that says what of
// the model or the options cannot be.
func (m *Model) Sampler(o SampleOptions) (*Sampler, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("traffic: %w", err)
	}
	o, err := m.options(o)
	if err != nil {
		return nil, fmt.Errorf("traffic: %w", err)
	}
	s := &Sampler{model: m, duration: o.Duration}
	if o.Duration > m.Duration {
		s.notices = append(s.notices, fmt.Sprintf("the traffic model covers %s: its rates begin again every %s", short(m.Duration), short(m.Duration)))
	}
	for i := range m.Clients {
		if err := m.countable(i, o); err != nil {
			return nil, err
		}
		s.client(i, o)
	}
	s.names = append(s.names, s.streams...)
	kept := s.streams[:0]
	for _, t := range s.streams {
		if t.find() {
			kept = append(kept, t)
		}
	}
	s.streams = kept
	for i := len(kept)/2 - 1; i >= 0; i-- {
		s.sink(i)
	}
	return s, nil
}

// endless is the duration from which on a sampler goes on until nobody asks.
const endless = longest

// countable refuses more sessions of one client than operational time can hold.
func (m *Model) countable(i int, o SampleOptions) error {
	d, scale := o.Duration, o.Scale
	if d >= endless {
		d = m.Duration
	}
	if o.ScaleBy == ByClients {
		scale = min(scale, 1)
	}
	if n := m.Clients[i].Rate.sessions(m.Duration, d) * scale; n > most {
		return fmt.Errorf("traffic: client %q has %.3g sessions in %s, more than %d: expected a shorter duration or a lower scale",
			clip(m.Clients[i].Name), n, short(d), int64(most))
	}
	return nil
}

// options checks and completes the options.
func (m *Model) options(o SampleOptions) (SampleOptions, error) {
	if o.Scale == 0 {
		o.Scale = 1
	}
	if o.ScaleBy == "" {
		o.ScaleBy = ByRate
	}
	if o.Duration == 0 {
		o.Duration = m.Duration
	}
	switch {
	case !(o.Scale > 0 && o.Scale <= maxScale):
		return o, fmt.Errorf("expected a scale above 0 and at most %g, got %v", float64(maxScale), o.Scale)
	case o.ScaleBy != ByRate && o.ScaleBy != ByClients:
		return o, fmt.Errorf("expected a scale by rate or clients, got %q", string(o.ScaleBy))
	case o.Duration < 0 || o.Duration > longest:
		return o, fmt.Errorf("expected a duration above 0 and at most ten years, got %v", o.Duration)
	case o.ScaleBy == ByClients && o.Scale*float64(len(m.Clients)) > maxStreams:
		return o, fmt.Errorf("expected at most %d clients, got a scale of %v of %d", maxStreams, o.Scale, len(m.Clients))
	}
	return o, nil
}

// client adds a client's streams.
func (s *Sampler) client(i int, o SampleOptions) {
	c := &s.model.Clients[i]
	factors := []float64{o.Scale}
	if o.ScaleBy == ByClients {
		factors = nil
		for left := o.Scale; left > 1e-9; left-- {
			factors = append(factors, min(left, 1))
		}
	}
	shape := newMould(c)
	base := stat.Key(o.Seed, stat.Stream("client/"+c.Name), 0)
	for replica, f := range factors {
		seed := stat.Key(base, "replica", uint64(replica))
		s.streams = append(s.streams, &stream{
			arrivals: newArrivals(c, s.model.Duration, f, o.Duration, seed), content: newContent(shape, seed),
			number: len(s.streams), client: i, replica: replica})
	}
}

// Notices are sentences for the user about what is sampled.
func (s *Sampler) Notices() []string { return s.notices }

// Next returns the next session; false after the last.
func (s *Sampler) Next() (Draw, bool) {
	d, t, ok := s.take()
	if ok {
		t.draw(&d, time.Duration(d.At%int64(s.model.Duration)))
	}
	return d, ok
}

// NextMoment is Next for the moment alone, in ns from the start.
func (s *Sampler) NextMoment() (int64, bool) {
	d, _, ok := s.take()
	return d.At, ok
}

// take returns the earliest pending session without its content.
func (s *Sampler) take() (Draw, *stream, bool) {
	if len(s.streams) == 0 {
		return Draw{}, nil, false
	}
	t := s.streams[0]
	d := Draw{At: t.arrivals.at, Client: t.client, Replica: t.replica, Index: int64(t.arrivals.index)}
	t.take()
	if !t.find() {
		last := len(s.streams) - 1
		s.streams[0] = s.streams[last]
		s.streams[last] = nil
		s.streams = s.streams[:last]
	}
	s.sink(0)
	return d, t, true
}

// sink moves a stream of the heap down to its place.
func (s *Sampler) sink(i int) {
	h := s.streams
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if right := child + 1; right < len(h) && h[right].before(h[child]) {
			child = right
		}
		if !h[child].before(h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

func (t *stream) before(o *stream) bool {
	return t.arrivals.at < o.arrivals.at || t.arrivals.at == o.arrivals.at && t.number < o.number
}

// Turns appends the turns of a session that Next returned, the first included.
func (s *Sampler) Turns(d *Draw, list []Turn) []Turn {
	return s.stream(d).turns(d, time.Duration(d.At%int64(s.model.Duration)), list)
}

func (s *Sampler) stream(d *Draw) *stream {
	per := len(s.names) / len(s.model.Clients) // the same for each client
	return s.names[d.Client*per+d.Replica]
}

// Name returns the name of a session's client; of those that a scale by
// clients added NAME#2, NAME#3, ….
func (s *Sampler) Name(d *Draw) string {
	name := s.model.Clients[d.Client].Name
	if d.Replica > 0 {
		return fmt.Sprintf("%s#%d", name, d.Replica+1)
	}
	return name
}

// SessionName returns a name of the session's own: NAME-INDEX.
func (s *Sampler) SessionName(d *Draw) string {
	return s.Name(d) + "-" + strconv.FormatInt(d.Index, 10)
}

// PrefixName returns a number of the prefix's own: the same for all sessions
// that have it in front, whatever the seed, and below 2⁵³, so that every reader
// of JSON keeps it.
func (s *Sampler) PrefixName(d *Draw) uint64 {
	return stat.Key(stat.Key(0, stat.Stream("prefix/"+s.model.Clients[d.Client].Name), uint64(d.Replica)), "rank", uint64(d.Prefix)) >> 11
}

// Expected is what a sampled model comes to, by its rates.
type Expected struct {
	Sessions float64
	PeakRate float64 // highest sum of the clients' rates, in sessions/s
	Duration time.Duration
}

// Expect returns what options come to. They must be ones that Sampler accepts.
func (m *Model) Expect(o SampleOptions) Expected {
	o, _ = m.options(o)
	e := Expected{Duration: o.Duration}
	for i := range m.Clients {
		e.Sessions += m.Clients[i].Rate.sessions(m.Duration, o.Duration) * o.Scale
	}
	e.PeakRate = m.peak(o.Duration) * o.Scale
	return e
}

// peak is the highest sum of rates within a time from the start.
func (m *Model) peak(d time.Duration) float64 {
	highest := 0.0
	seen := map[time.Duration]bool{}
	for i := range m.Clients {
		step := m.Clients[i].Rate.Window
		if seen[step] {
			continue
		}
		seen[step] = true
		for at := time.Duration(0); at < min(d, m.Duration); at += step {
			sum := 0.0
			for j := range m.Clients {
				sum += m.Clients[j].Rate.at(int64(at))
			}
			highest = math.Max(highest, sum)
			if step <= 0 {
				break
			}
		}
	}
	return highest
}
