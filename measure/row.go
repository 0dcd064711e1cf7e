package measure

import (
	"math"
	"math/bits"
	"slices"

	"github.com/tokamak-bench/tokamak/record"
)

// absent marks a moment or duration that was not reached.
const absent = int64(math.MinInt64)

// unknown marks a count that has no source.
const unknown = int32(-1)

// row is what measuring keeps of a request: the scalars of its last attempt,
// with the intended time and the lateness of its first.
type row struct {
	id         int64
	intended   int64
	firstWrite int64 // write_start of the first attempt
	lag        int64 // client lag of the first attempt
	connect    int64 // time to open a fresh connection
	held       int64
	sent       int64
	firstByte  int64
	firstToken int64
	answer     int64 // first token that is no reasoning
	lastToken  int64
	ended      int64
	stall      int64   // largest gap
	jitter     float64 // ns; NaN where there are fewer than two gaps
	gaps       gapRef
	merged     mergedRef
	stallSend  int64 // the client's standstill between writing and sending; of the first attempt
	waited     int64 // that the client kept a closed loop's user until it; absent: there is none

	firstAttempt                 int32 // the number of the earliest attempt seen
	attempt                      int32
	prompt, promptCounted        int32
	output, outputCounted, shown int32 // shown: output tokens that were streamed
	cached, shared, asked        int32 // prompt tokens: from the server's cache, sent before, asked for
	firstTokens                  int32 // of the first arrival
	chunks, coalesced            int32
	outcome                      uint8
	stamps                       stampKind
	many                         bool // more than one choice
	oneEach                      bool // every later arrival held one token
	lastMerged                   bool // the last chunk met another
	own                          bool // it failed by the client itself: no descriptor, no port
	media                        bool // images or sound in the prompt
}

// stampKind says how a response's arrivals were stamped.
type stampKind uint8

const (
	noStamps stampKind = iota
	kernelStamps
	userStamps
	virtualStamps
)

func moment(t record.Int) int64 { return t.Or(absent) }

func tokens(n record.Int) int32 {
	v := n.Or(int64(unknown))
	if v < 0 || v > math.MaxInt32 {
		return unknown
	}
	return int32(v)
}

// between returns to − from in ns, absent where either is.
func between(from, to int64) int64 {
	if from == absent || to == absent {
		return absent
	}
	return to - from
}

// fill copies what measuring needs of an attempt.
func (r *row) fill(a *record.Attempt) {
	m := &a.Moments
	r.id, r.attempt, r.firstAttempt = a.RequestID, int32(a.Attempt), int32(a.Attempt)
	r.intended, r.firstWrite = moment(m.Intended), moment(m.WriteStart)
	r.held, r.sent = moment(m.Held), moment(m.Sent)
	r.firstByte, r.firstToken, r.answer = moment(m.FirstByte), moment(m.FirstToken), moment(m.FirstAnswer)
	r.lastToken, r.ended = moment(m.LastToken), moment(m.Ended)
	r.connect = absent
	if !m.ConnReused {
		r.connect = between(moment(m.ConnStart), moment(m.ConnReady))
	}
	r.lag, r.stallSend, r.waited = clientLag(m), stallOf(a), absent
	switch m.StampSource {
	case record.SourceKernel:
		r.stamps = kernelStamps
	case record.SourceUser:
		r.stamps = userStamps
	case record.SourceVirtual:
		r.stamps = virtualStamps
	}
	r.prompt, r.promptCounted = tokens(a.PromptUsage), tokens(a.PromptCounted)
	r.output, r.outputCounted = tokens(a.OutputUsage), tokens(a.OutputCounted)
	r.cached, r.shared, r.asked = tokens(a.CachedUsage), tokens(a.PromptShared), tokens(a.PromptAsked)
	r.media = a.Media.Images.Valid() || a.Media.Audio.Valid() || a.Media.Sounds.Valid() || a.Media.Videos.Valid()
	r.shown = shown(a)
	r.chunks, r.firstTokens = int32(a.Chunks.Len()), unknown
	for i, at := range a.Chunks.At {
		if at != a.Chunks.At[0] || i >= len(a.Chunks.Tokens) {
			break
		}
		r.firstTokens = max(r.firstTokens, 0) + a.Chunks.Tokens[i]
	}
	for _, f := range a.Chunks.Flags {
		if f&record.Coalesced != 0 {
			r.coalesced++
		}
	}
}

// clientLag is by how much the client itself was late: write_start − intended,
// less the wait for a slot that was asked for and less the part of opening a
// connection that lay after the intended time.
func clientLag(m *record.Moments) int64 {
	lag := between(moment(m.Intended), moment(m.WriteStart))
	if lag == absent {
		return absent
	}
	lag -= m.Held.Or(0)
	if start, ready := moment(m.ConnStart), moment(m.ConnReady); !m.ConnReused && start != absent && ready != absent {
		lag -= max(0, ready-max(start, m.Intended.Or(start)))
	}
	return max(lag, 0)
}

// shown is the number of output tokens that were streamed: those counted, less
// reasoning that the server billed and did not show.
func shown(a *record.Attempt) int32 {
	n := tokens(a.OutputUsage)
	if n == unknown {
		return tokens(a.OutputCounted)
	}
	hidden := tokens(a.ReasoningUsage)
	if hidden <= 0 || hidden > n {
		return n
	}
	if slices.Contains(a.Chunks.Kind, record.ReasoningChunk) {
		return n
	}
	return n - hidden
}

// settleGaps keeps what the gaps of one request amount to.
func (r *row) settleGaps(gaps []gap) {
	r.stall, r.jitter = absent, math.NaN()
	r.oneEach = !slices.ContainsFunc(gaps, func(g gap) bool { return g.tokens != 1 })
	if len(gaps) == 0 {
		return
	}
	for _, g := range gaps {
		r.stall = max(r.stall, g.ns)
	}
	if len(gaps) > 1 {
		r.jitter = deviation(gaps)
	}
}

// deviation is the sample standard deviation of gaps, from whole sums, so that
// it is the same in any order and elsewhere: √((n·Σx² − (Σx)²) / (n·(n−1))).
// Sums are of 128 bits: enough for 10,000 gaps of a day each.
func deviation(gaps []gap) float64 {
	n := uint64(len(gaps))
	var sum, high, low uint64
	for _, g := range gaps {
		x := uint64(g.ns)
		sum += x
		h, l := bits.Mul64(x, x)
		var carry uint64
		low, carry = bits.Add64(low, l, 0)
		high, _ = bits.Add64(high, h, carry)
	}
	h, l := bits.Mul64(low, n)
	h += high * n
	sh, sl := bits.Mul64(sum, sum)
	l, borrow := bits.Sub64(l, sl, 0)
	h, _ = bits.Sub64(h, sh, borrow)
	top := float64(h) * (1 << 64)
	return math.Sqrt((float64(l) + top) / float64(n*(n-1)))
}
