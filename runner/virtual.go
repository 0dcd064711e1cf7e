package runner

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/sim/fault"
	simapi "github.com/tokamak-bench/tokamak/sim/openai"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/workload"
	"github.com/tokamak-bench/tokamak/workload/media"
)

// Virtual is the simulated engine in virtual time as a target: no sockets and
// no text.
type Virtual struct {
	Engine *sim.Engine
	Clock  *clock.Virtual
	Gate   *sim.Gate // refuses requests on purpose; nil: none
	// Length is how long the model answers the prompt of a fingerprint when
	// no length is asked for; nil: to its limit.
	Length func(fingerprint uint64) int64
	Name   string            // of the target in rows
	Limits scenario.Timeouts // deadlines of a request
	// Faults strike requests and the engine; nil: none.
	Faults *sim.FaultSet
	// FaultField is the value of the field X-Sim-Fault that every request has;
	// empty: none has it.
	FaultField string
	// Reasoning says that requests are told whether to reason: then as much of
	// an answer is reasoning as the workload wants.
	Reasoning bool

	options sim.Options // of the lives after the first
	dead    bool
}

// NewVirtual returns the engine that o describes as a target on a virtual clock.
func NewVirtual(o sim.Options, v *clock.Virtual) (*Virtual, error) {
	t := &Virtual{Clock: v, Gate: o.Faults.Gate(), Length: o.AnswerLength, Faults: o.FaultSet(v), options: o}
	if err := t.live(); err != nil {
		return nil, err
	}
	t.Faults.Attach(t.Engine.Kill)
	return t, nil
}

// Prepare has nothing to do: content stays a specification.
func (v *Virtual) Prepare(*Call) error { return nil }

// Start submits the call to the engine.
func (v *Virtual) Start(c *Call, sink Sink) {
	now := v.Clock.Now()
	c.Row.Target = v.Name
	c.Row.WriteStart, c.Row.Sent = record.Some(now), record.Some(now)
	c.Row.SentSource, c.Row.StampSource, c.Row.Protocol = record.SourceVirtual, record.SourceVirtual, "virtual"
	if v.Reasoning && c.Spec.Reasons {
		c.Row.ReasoningAsked = record.Some(c.Spec.Reasoning)
	}
	call := &virtualCall{target: v, call: c, sink: sink}
	if v.stopped(call, now) {
		return
	}
	if v.Gate != nil {
		if no := v.Gate.Admit(); no != nil {
			call.refused(no, now)
			return
		}
	}
	call.request = sim.Request{ID: fmt.Sprint(c.Row.RequestID), MaxTokens: c.Spec.OutputTokens, Output: answerID(c), Listener: call}
	for _, m := range c.Spec.Messages {
		if m.Text != "" {
			call.request.Prompt = append(call.request.Prompt, literal(m.Text))
		}
		for _, b := range m.Blocks {
			call.request.Prompt = append(call.request.Prompt, sim.Span{ID: b.ID, Tokens: b.Tokens})
		}
		call.request.Prompt = appendMedia(call.request.Prompt, &m)
	}
	if len(c.Spec.Body) > 0 {
		span := literal(string(c.Spec.Body))
		for i := range c.Spec.Held { // the text of an image is no text
			span.Tokens -= int64(c.Spec.Held[i].Text+3) / 4
		}
		span.Tokens = max(span.Tokens, 1)
		if c.Spec.InputTokens > 0 {
			span.Tokens = c.Spec.InputTokens
		}
		call.request.Prompt = appendRecorded([]sim.Span{span}, c.Spec.Held)
	}
	if v.Length != nil && call.request.MaxTokens == 0 {
		call.request.StopAfter = v.Length(call.fingerprint())
	}
	call.disturbed()
	c.inFlight = call
	if err := v.Engine.Submit(&call.request); err != nil {
		c.Row.ErrorText = err.Error()
		call.refused(&sim.Refusal{Status: statusOf(err)}, now)
		return
	}
	v.watch(call)
}

// fingerprint is a hash of a prompt's identity.
func fingerprint(prompt []sim.Span) uint64 {
	h := fnv.New64a()
	for _, s := range prompt {
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:8], s.ID)
		binary.LittleEndian.PutUint64(b[8:], uint64(s.Tokens))
		_, _ = h.Write(b[:])
	}
	return h.Sum64()
}

// literal stands for text that nobody tokenises in virtual time: four bytes a
// token, shared only with the same text.
func literal(text string) sim.Span {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return sim.Span{ID: h.Sum64(), Tokens: int64(len(text)+3) / 4}
}

// appendMedia appends what images and sound cost the simulated engine.
func appendMedia(prompt []sim.Span, m *workload.Message) []sim.Span {
	for i := range m.Images {
		f := &m.Images[i]
		prompt = append(prompt, sim.Span{ID: f.ID, Tokens: int64(simapi.ImageTokens(f.Width, f.Height))})
	}
	for _, a := range m.Audio {
		prompt = append(prompt, sim.Span{ID: a.ID, Tokens: int64(simapi.AudioTokens(a.Duration))})
	}
	return appendRecorded(prompt, m.Recorded)
}

// appendRecorded appends what a dataset's images and sounds cost it. It knows
// no video.
func appendRecorded(prompt []sim.Span, list []media.Recorded) []sim.Span {
	for i := range list {
		r := &list[i]
		n := 0
		switch {
		case r.Kind == media.Picture && r.Width > 0:
			n = simapi.ImageTokens(r.Width, r.Height)
		case r.Kind == media.Picture:
			n = simapi.UnknownImage
		case r.Kind == media.Sound && r.Duration > 0:
			n = simapi.AudioTokens(r.Duration)
		case r.Kind == media.Sound:
			n = simapi.UnknownAudio
		}
		if n > 0 {
			prompt = append(prompt, sim.Span{ID: r.ID(), Tokens: int64(n)})
		}
	}
	return prompt
}

// answerID is the identity of a call's output tokens, which the session's next
// turn holds as a block.
func answerID(c *Call) uint64 { return uint64(c.Row.RequestID) + 1<<63 }

// Cancel ends a call early; the engine frees what it held.
func (v *Virtual) Cancel(c *Call, why record.Outcome) {
	call, ok := c.inFlight.(*virtualCall)
	if !ok {
		return
	}
	call.cancelled = why
	call.engine.Abort(&call.request)
}

type virtualCall struct {
	target    *Virtual
	call      *Call
	faults    []fault.Hit
	engine    *sim.Engine
	arrived   int64 // tokens, those that a fault lost included
	sink      Sink
	request   sim.Request
	cancelled record.Outcome
}

func (v *virtualCall) refused(no *sim.Refusal, now int64) {
	row := &v.call.Row
	row.HTTPStatus, row.Moments.Ended = record.Some(int64(no.Status)), record.Some(now)
	row.Outcome, row.ErrorClass = record.HTTPError, refusalClass(no.Status)
	if no.Status == 429 || no.Status == 503 {
		row.Outcome = record.Rejected
	}
	if no.RetryAfter > 0 {
		row.RetryAfter = record.Some(no.RetryAfter * 1e9)
	}
	v.sink.Ended(v.call)
}

// Tokens appends a chunk to the row, unless a fault keeps it back.
func (v *virtualCall) Tokens(n, at int64) {
	if len(v.faults) == 0 {
		v.chunk(n, at)
		return
	}
	v.faultyChunk(n, at)
}

func (v *virtualCall) chunk(n, at int64) {
	c := &v.call.Row.Chunks
	if c.At == nil {
		room := min(max(v.request.MaxTokens, 16), roomAhead)
		c.At, c.Tokens = make([]int64, 0, room), make([]int32, 0, room)
	}
	c.At = append(c.At, at)
	c.Tokens = append(c.Tokens, int32(n))
	if len(c.At) == 1 {
		v.target.watch(v) // from here on another deadline holds
	}
}

// roomAhead is the most chunks that a row has room for from the start.
const roomAhead = 4096

// described says of all chunks what is the same of each. There are no bytes.
func described(c *record.Chunks) {
	n := len(c.At)
	c.Kind, c.Choice, c.Flags = make([]record.ChunkKind, n), make([]int32, n), make([]uint8, n)
	for i := range c.Kind {
		c.Kind[i] = record.TextChunk
	}
}

// reasoned makes the first tokens of an answer reasoning, chunk by chunk, and
// returns when the first came that is none.
func reasoned(c *record.Chunks, tokens int64) record.Int {
	for i := range c.At {
		if tokens <= 0 {
			return record.Some(c.At[i])
		}
		c.Kind[i] = record.ReasoningChunk
		tokens -= int64(c.Tokens[i])
	}
	return record.Int{}
}

// Finished completes the row.
func (v *virtualCall) Finished(why sim.Finish, u sim.Usage, at int64) {
	row := &v.call.Row
	row.Moments.Ended = record.Some(at)
	v.held(at)
	described(&row.Chunks)
	if n := len(row.Chunks.At); n > 0 {
		first := record.Some(row.Chunks.At[0])
		row.FirstByte, row.FirstChunk, row.FirstToken = first, first, first
		row.FirstAnswer = reasoned(&row.Chunks, row.ReasoningAsked.Or(0))
		row.LastToken = record.Some(row.Chunks.At[n-1])
		row.TokenSource = "usage_delta"
	}
	if v.broken(why) {
		v.sink.Ended(v.call)
		return
	}
	if why == sim.Abort {
		if row.Outcome = v.cancelled; row.Outcome == record.Abandoned {
			row.ErrorClass = wire.Cancelled.String()
		}
		v.sink.Ended(v.call)
		return
	}
	v.whole(why, u)
}

func (v *virtualCall) whole(why sim.Finish, u sim.Usage) {
	row := &v.call.Row
	st := &v.request.Stats
	row.HTTPStatus = record.Some(200)
	row.PromptUsage, row.CachedUsage, row.OutputUsage = record.Some(u.Prompt), record.Some(u.Cached), record.Some(u.Output)
	row.Server = record.ServerTimes{Queue: record.Some(st.Scheduled - st.Queued), Prefill: record.Some(st.FirstToken - st.Scheduled),
		Decode: record.Some(st.LastToken - st.FirstToken)}
	if asked, ok := row.ReasoningAsked.Get(); ok {
		row.ReasoningUsage = record.Some(min(asked, u.Output))
	}
	row.Outcome, row.FinishReason = record.OK, string(why)
	v.told()
	v.call.Answer = workload.Answer{Tokens: u.Output, Reasoning: row.ReasoningUsage.Or(0), Block: workload.Block{ID: answerID(v.call), Tokens: u.Output}}
	v.sink.Ended(v.call)
}
