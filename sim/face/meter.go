package face

import (
	"maps"
	"sync"

	"github.com/tokamak-bench/tokamak/sim/core"
)

// Measure is a quantity of which a face may have a histogram. Times are in s.
type Measure uint8

// The measures.
const (
	FirstToken     Measure = iota // time from arrival to the first token
	InterToken                    // time between tokens
	PerOutputToken                // decode time over tokens but the first
	EndToEnd                      // time from arrival to the end
	QueueTime                     // time in the waiting queue
	InferenceTime                 // time from first scheduling to the last token
	PrefillTime                   // time from first scheduling to the first token
	DecodeTime                    // time from the first to the last token
	APITime                       // time from arrival to the waiting queue
	StepTime                      // of a step
	PrefillStep                   // of a step that computes parts of prompts: its time
	DecodeStep                    // of one that does not
	StepTokens                    // of a step
	StepSequences                 // of a step
	PromptTokens                  // of a request
	OutputTokens                  // of a request
	MaxTokens                     // asked for by a request
	Answers                       // of a sequence: 1
	ComputedPrompt                // prompt tokens computed, cached ones left out
	ZeroMeasure                   // always 0, once a request
	measures
)

// Snapshot is what a meter knows at one moment.
type Snapshot struct {
	core.State
	Finished  map[core.Finish]int64 // ended sequences
	Refused   map[Kind]int64        // requests
	Submitted int64                 // sequences
	Prompt    int64                 // tokens of prompts whose first token is out
	Cached    int64                 // … of them found in the cache
	Generated int64                 // tokens
	Prefill   int64                 // ns from scheduling to the first token, over requests
	Decode    int64                 // ns from the first to the last token, over ended requests
	Queue     int64                 // ns in the waiting queue, over complete requests
	Inference int64                 // ns from scheduling to the last token, over complete requests
	EndToEnd  int64                 // ns from arrival to the end, over complete requests
	Sequences int64                 // scheduled, over steps
	Longest   int64                 // tokens of the longest sequence that ended
	Prefills  int64                 // steps that computed parts of prompts
	LastStep  core.Step
}

// Meter counts what an engine does. Tokens and steps go to plain histograms of
// its own, since there are very many.
type Meter struct {
	engine *core.Engine

	mu    sync.Mutex
	snap  Snapshot
	hists [measures][]*hist
}

var _ core.Observer = (*Meter)(nil)

func newMeter() *Meter {
	return &Meter{snap: Snapshot{Finished: map[core.Finish]int64{}, Refused: map[Kind]int64{}}}
}

// hist adds a histogram of a measure; only before the first request.
func (m *Meter) hist(of Measure, bounds []float64) *hist {
	h := &hist{bounds: bounds, counts: make([]uint64, len(bounds)+1)}
	m.hists[of] = append(m.hists[of], h)
	return h
}

// Snapshot copies what is known now.
func (s *Service) Snapshot() Snapshot {
	m := s.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.snap
	out.Finished, out.Refused = maps.Clone(out.Finished), maps.Clone(out.Refused)
	return out
}

func (m *Meter) refused(k Kind) {
	m.mu.Lock()
	m.snap.Refused[k]++
	m.mu.Unlock()
}

func (m *Meter) observe(of Measure, v float64) {
	for _, h := range m.hists[of] {
		h.observe(v)
	}
}

// pooled tells whether a request's tokens are not counted.
func pooled(r *core.Request) bool {
	c, ok := r.Listener.(*listener)
	return ok && c.x.ask.Pooled
}

// Submitted is called on the loop.
func (m *Meter) Submitted(*core.Request) {
	m.mu.Lock()
	m.snap.Submitted++
	m.mu.Unlock()
}

// Step is called on the loop.
func (m *Meter) Step(s *core.Step) {
	m.mu.Lock()
	m.snap.State = m.engine.State()
	m.snap.Sequences += s.Sequences
	m.snap.LastStep = *s
	if s.Tokens > s.Sequences {
		m.snap.Prefills++
		m.observe(PrefillStep, seconds(s.End-s.Start))
	} else {
		m.observe(DecodeStep, seconds(s.End-s.Start))
	}
	m.observe(StepTokens, float64(s.Tokens))
	m.observe(StepSequences, float64(s.Sequences))
	m.observe(StepTime, seconds(s.End-s.Start))
	m.mu.Unlock()
}

// Token is called on the loop.
func (m *Meter) Token(r *core.Request, gap int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if gap >= 0 {
		if gap > 0 { // 0: a further token of the same step
			m.observe(InterToken, seconds(gap))
		}
		m.snap.Generated++
		return
	}
	m.snap.Prompt += r.Stats.Prompt
	m.snap.Cached += r.Stats.Cached
	m.snap.Prefill += r.Stats.FirstToken - r.Stats.Scheduled
	if pooled(r) {
		return
	}
	m.observe(FirstToken, seconds(r.Stats.FirstToken-r.Stats.Arrived))
	m.snap.Generated++
}

// Ended is called on the loop.
func (m *Meter) Ended(r *core.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := &r.Stats
	output := st.Output
	if pooled(r) {
		output = 0
	}
	m.snap.Finished[st.Finish]++
	m.snap.Longest = max(m.snap.Longest, st.Prompt+output)
	if st.Finish == core.Abort { // no step need follow
		m.snap.State = m.engine.State()
	}
	m.observe(EndToEnd, seconds(st.Ended-st.Arrived))
	m.observe(PromptTokens, float64(st.Prompt))
	m.observe(OutputTokens, float64(output))
	m.observe(Answers, 1)
	m.observe(ZeroMeasure, 0)
	if r.MaxTokens > 0 {
		m.observe(MaxTokens, float64(r.MaxTokens))
	}
	if st.Output == 0 {
		return
	}
	m.observe(APITime, seconds(st.Queued-st.Arrived))
	m.observe(QueueTime, seconds(st.Scheduled-st.Queued))
	m.observe(PrefillTime, seconds(st.FirstToken-st.Scheduled))
	m.observe(DecodeTime, seconds(st.LastToken-st.FirstToken))
	m.observe(InferenceTime, seconds(st.LastToken-st.Scheduled))
	m.observe(ComputedPrompt, float64(st.Prompt-st.Cached))
	m.snap.Decode += st.LastToken - st.FirstToken
	if st.Finish != core.Abort {
		m.snap.Queue += st.Scheduled - st.Queued
		m.snap.Inference += st.LastToken - st.Scheduled
		m.snap.EndToEnd += st.Ended - st.Arrived
	}
	if st.Output > 1 {
		m.observe(PerOutputToken, seconds(st.LastToken-st.FirstToken)/float64(st.Output-1))
	}
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// hist is a histogram under its owner's lock.
type hist struct {
	bounds []float64
	counts []uint64 // one more than bounds
	sum    float64
	n      uint64
}

func (h *hist) observe(v float64) {
	i := 0
	for i < len(h.bounds) && v > h.bounds[i] {
		i++
	}
	h.counts[i]++
	h.sum += v
	h.n++
}

// cumulative returns the counts as Prometheus has them.
func (h *hist) cumulative() map[float64]uint64 {
	out := make(map[float64]uint64, len(h.bounds))
	total := uint64(0)
	for i, b := range h.bounds {
		total += h.counts[i]
		out[b] = total
	}
	return out
}
