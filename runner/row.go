package runner

import (
	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/wire"
)

func moment(t int64) record.Int {
	if t == wire.NotReached {
		return record.Int{}
	}
	return record.Some(t)
}

func count(c engine.Count) record.Int {
	if !c.Known {
		return record.Int{}
	}
	return record.Some(c.N)
}

// fillMoments moves the stamps of an exchange and its chunks into a row.
func fillMoments(row *record.Attempt, x *wire.Exchange, a *engine.Answer) {
	row.ConnStart, row.ConnReady, row.ConnReused = moment(x.ConnStart), moment(x.ConnReady), x.ConnReused
	row.WriteStart, row.Sent = moment(x.WriteStart), moment(x.Sent)
	row.FirstByte, row.FirstChunk, row.Moments.Ended = moment(x.FirstByte), moment(a.FirstEvent), moment(x.End)
	row.UsageAt = moment(a.UsageAt)
	row.Blanks = record.Blanks{At: a.Blanks.At, Kind: make([]record.BlankKind, len(a.Blanks.Kind))}
	for i, k := range a.Blanks.Kind {
		row.Blanks.Kind[i] = record.BlankKind(k)
	}
	row.SentSource, row.StampSource = record.SourceUser, record.SourceUser
	if x.SentKernel {
		row.SentSource = record.SourceKernel
	}
	if x.Stamps == wire.KernelStamps {
		row.StampSource, row.ClockError = record.SourceKernel, record.Some(x.ClockError)
	}
	c := &a.Chunks
	row.Chunks = record.Chunks{At: c.At, Tokens: c.Tokens, Bytes: c.Bytes, Choice: c.Choice, Flags: c.Flags,
		Kind: make([]record.ChunkKind, len(c.Kind))}
	for i, k := range c.Kind {
		row.Chunks.Kind[i] = record.ChunkKind(k)
		if k != engine.Reasoning && !row.FirstAnswer.Valid() {
			row.FirstAnswer = record.Some(c.At[i])
		}
	}
	if n := len(c.At); n > 0 {
		row.FirstToken, row.LastToken = record.Some(c.At[0]), record.Some(c.At[n-1])
	}
}

// fillResult decides the outcome from what the connection and the API say.
func fillResult(row *record.Attempt, x *wire.Exchange, a *engine.Answer) {
	row.PromptUsage, row.OutputUsage = count(a.Usage.Prompt), count(a.Usage.Completion)
	row.CachedUsage, row.ReasoningUsage = count(a.Usage.Cached), count(a.Usage.Reasoning)
	row.Server = record.ServerTimes{Queue: count(a.Queue), Prefill: count(a.Prefill), Decode: count(a.Decode)}
	row.Protocol, row.ServerID, row.FinishReason = x.Protocol, a.ServerID, a.FinishReason
	row.Violations, row.Notes = a.Violations, a.Notes
	row.RetryAfter, row.RateLimit = count(a.RetryAfter), a.RateLimit
	row.Bytes = record.Bytes{Request: x.BytesOut, Response: x.BytesIn}
	if x.ConnID != 0 {
		row.ConnID = record.Some(x.ConnID)
	}
	if x.Status != 0 {
		row.HTTPStatus = record.Some(int64(x.Status))
	}
	row.ErrorClass, row.ErrorText = a.ErrorClass, a.ErrorText
	row.Outcome = outcome(x.Cause, a.Failure)
	if x.Cause != wire.Completed {
		row.ErrorClass = x.Cause.String()
		if x.Err != nil && row.ErrorText == "" {
			row.ErrorText = oneLine(x.Err.Error())
		}
	}
}

// errorTextLimit is the longest error text of a row in bytes.
const errorTextLimit = 300

// oneLine cuts a text to a line of bounded length.
func oneLine(s string) string {
	for i := range len(s) {
		if s[i] == '\n' || s[i] == '\r' || i == errorTextLimit {
			return s[:i]
		}
	}
	return s
}

// outcome combines why the exchange ended with what the driver says of the
// answer.
func outcome(c wire.Cause, f engine.Failure) record.Outcome {
	switch c {
	case wire.Completed:
	case wire.Cut:
		return record.Cut
	case wire.Cancelled:
		return record.Abandoned
	case wire.TimeoutConnect, wire.TimeoutFirstByte, wire.TimeoutFirstToken, wire.TimeoutStall, wire.TimeoutTotal:
		return record.Timeout
	case wire.ResetLate, wire.BadBody, wire.TooLong, wire.BadEncoding:
		if f == engine.ErrorEvent {
			return record.StreamError
		}
		return record.StreamBroken
	default:
		return record.TransportError
	}
	switch f {
	case engine.Rejected:
		return record.Rejected
	case engine.BadStatus:
		return record.HTTPError
	case engine.ErrorEvent:
		return record.StreamError
	case engine.Broken:
		return record.StreamBroken
	case engine.Whole:
	}
	return record.OK
}
