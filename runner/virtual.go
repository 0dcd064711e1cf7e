package runner

import (
	"fmt"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/workload"
)

// Virtual is the simulated engine in virtual time as a target: no sockets and
// no text.
type Virtual struct {
	Engine *sim.Engine
	Clock  *clock.Virtual
}

// Prepare has nothing to do: content stays a specification.
func (v *Virtual) Prepare(*Call) error { return nil }

// Start submits the call to the engine.
func (v *Virtual) Start(c *Call, sink Sink) {
	now := v.Clock.Now()
	c.Row.WriteStart, c.Row.Sent = record.Some(now), record.Some(now)
	c.Row.SentSource, c.Row.StampSource, c.Row.Protocol = record.SourceVirtual, record.SourceVirtual, "virtual"
	r := &sim.Request{ID: fmt.Sprint(c.Row.RequestID), MaxTokens: c.Spec.OutputTokens,
		Listener: &virtualCall{call: c, sink: sink}}
	for _, m := range c.Spec.Messages {
		for _, b := range m.Blocks {
			r.Prompt = append(r.Prompt, sim.Span{ID: b.ID, Tokens: b.Tokens})
		}
	}
	v.Engine.Submit(r)
}

// Cancel is not needed yet: the drain waits.
func (v *Virtual) Cancel(*Call, record.Outcome) {}

type virtualCall struct {
	call *Call
	sink Sink
}

func (v *virtualCall) Tokens(n, at int64) {
	c := &v.call.Row.Chunks
	c.At = append(c.At, at)
	c.Tokens = append(c.Tokens, int32(n))
	c.Bytes = append(c.Bytes, 0)
	c.Kind = append(c.Kind, record.TextChunk)
	c.Choice = append(c.Choice, 0)
	c.Flags = append(c.Flags, 0)
}

func (v *virtualCall) Finished(why sim.Finish, u sim.Usage, at int64) {
	row := &v.call.Row
	row.Moments.Ended = record.Some(at)
	if n := len(row.Chunks.At); n > 0 {
		first := record.Some(row.Chunks.At[0])
		row.FirstByte, row.FirstChunk, row.FirstToken, row.FirstAnswer = first, first, first, first
		row.LastToken = record.Some(row.Chunks.At[n-1])
	}
	row.PromptUsage, row.CachedUsage, row.OutputUsage = record.Some(u.Prompt), record.Some(u.Cached), record.Some(u.Output)
	row.TokenSource = "usage_delta"
	row.Outcome, row.FinishReason = record.OK, string(why)
	v.call.Answer = workload.Answer{Tokens: u.Output, Block: workload.Block{ID: uint64(row.RequestID) + 1<<63, Tokens: u.Output}}
	v.sink.Ended(v.call)
}
