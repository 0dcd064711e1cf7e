package dialect

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
)

// absent marks a moment that was not reached; unknown a count without a source.
const (
	absent  = int64(math.MinInt64)
	unknown = int64(-1)
)

// Options say what a run was, as far as the tools' figures depend on it.
type Options struct {
	// Start and End are the load's window in ns since the run's epoch. Where
	// absent they are the first intended time and the last end of an attempt.
	Start, End record.Int
	// Limits are the run's objectives, which tools take as goodput thresholds.
	Limits []measure.Limit
}

// Trace is what the dialects need of a run: the moments and counts of every
// sending, and the arrival, kind and tokens of every event. It belongs to one
// goroutine.
type Trace struct {
	opt    Options
	heads  []head
	blocks [][]byte
	unsent int
	events []event // scratch
}

// New returns an empty trace.
func New(opt Options) *Trace { return &Trace{opt: opt} }

// head is what is kept of one sending beside its events.
type head struct {
	intended, start, written, ended, usageAt int64
	usage, counted, asked, shown             int32
	promptUsage, promptCounted, promptAsked  int32
	block, offset                            uint32
	events                                   int32
	ending                                   ending
	status                                   status
	many                                     bool // events of several choices: each bears its own
	reused                                   bool
}

const blockSize = 1 << 20

// Add takes an ended attempt and keeps nothing of its memory. Each sending is a
// request of its own, since none of the tools sends again; what was never sent
// they do not know.
func (t *Trace) Add(a *record.Attempt) {
	if a.Outcome == record.Unsent {
		t.unsent++
		return
	}
	h := head{
		intended: a.Intended.Or(absent), start: startOf(&a.Moments), written: firstOf(a.WriteStart, a.Sent, a.Dispatched, a.Intended),
		ended: a.Ended.Or(absent), usageAt: a.UsageAt.Or(absent),
		usage: count(a.OutputUsage), counted: count(a.OutputCounted), asked: count(a.OutputAsked), shown: shown(a),
		promptUsage: count(a.PromptUsage), promptCounted: count(a.PromptCounted), promptAsked: count(a.PromptAsked),
		ending: endingOf(a), status: statusOf(a), reused: a.ConnReused,
	}
	t.events = eventsOf(a, t.events[:0])
	t.store(&h)
	t.heads = append(t.heads, h)
}

func count(n record.Int) int32 {
	v := n.Or(unknown)
	if v < 0 || v > math.MaxInt32 {
		return int32(unknown)
	}
	return int32(v)
}

func firstOf(moments ...record.Int) int64 {
	for _, m := range moments {
		if v, ok := m.Get(); ok {
			return v
		}
	}
	return absent
}

// startOf is the moment just before a client with a pool of connections would
// have begun: the opening of a connection that was made for this request, else
// the first write.
func startOf(m *record.Moments) int64 {
	write := firstOf(m.WriteStart, m.Sent, m.Dispatched, m.Intended)
	open, ok := m.ConnStart.Get()
	if !ok || m.ConnReused || open > write {
		return write
	}
	if handed, ok := m.Dispatched.Get(); ok && open < handed {
		return write // it was opened ahead
	}
	return open
}

// shown is the number of output tokens that were streamed, as measure has it:
// those counted, less reasoning that was billed and not shown.
func shown(a *record.Attempt) int32 {
	n := count(a.OutputUsage)
	if n == int32(unknown) {
		return count(a.OutputCounted)
	}
	hidden := count(a.ReasoningUsage)
	if hidden <= 0 || hidden > n || slices.Contains(a.Chunks.Kind, record.ReasoningChunk) {
		return n
	}
	return n - hidden
}

// store packs the scratch events behind those of earlier requests: a byte of
// kind, its highest bit set where the event held one token, the difference to
// the moment before, the tokens where they are not one, and the choice where
// there are several.
func (t *Trace) store(h *head) {
	h.many = slices.ContainsFunc(t.events, func(e event) bool { return e.choice != 0 })
	h.events = int32(len(t.events))
	need := len(t.events) * (1 + binary.MaxVarintLen64 + 2*binary.MaxVarintLen32)
	last := len(t.blocks) - 1
	if last < 0 || cap(t.blocks[last])-len(t.blocks[last]) < need {
		t.blocks = append(t.blocks, make([]byte, 0, max(blockSize, need)))
		last++
	}
	b := t.blocks[last]
	h.block, h.offset = uint32(last), uint32(len(b))
	at := int64(0)
	for _, e := range t.events {
		if e.tokens == 1 {
			b = append(b, byte(e.kind)|oneToken)
		} else {
			b = append(b, byte(e.kind))
		}
		b = binary.AppendVarint(b, e.at-at)
		if e.tokens != 1 {
			b = binary.AppendUvarint(b, uint64(e.tokens+1))
		}
		if h.many {
			b = binary.AppendUvarint(b, uint64(e.choice))
		}
		at = e.at
	}
	t.blocks[last] = b
}

const oneToken = 1 << 7

// decode appends the events of a request to buf.
func (t *Trace) decode(h *head, buf []event) []event {
	if h.events == 0 {
		return buf
	}
	b := t.blocks[h.block][h.offset:]
	at := int64(0)
	for range h.events {
		e := event{kind: Kind(b[0] &^ oneToken), tokens: 1}
		one := b[0]&oneToken != 0
		step, n := binary.Varint(b[1:])
		b = b[1+n:]
		at += step
		e.at = at
		if !one {
			v, n := binary.Uvarint(b)
			b = b[n:]
			e.tokens = int32(v) - 1
		}
		if h.many {
			v, n := binary.Uvarint(b)
			b = b[n:]
			e.choice = int32(v)
		}
		buf = append(buf, e)
	}
	return buf
}

// Len returns the number of sendings.
func (t *Trace) Len() int { return len(t.heads) }

// each hands every sending to yield, in the order in which they were added.
func (t *Trace) each(yield func(*request)) {
	r := request{}
	for i := range t.heads {
		r.head = &t.heads[i]
		r.events = t.decode(r.head, r.events[:0])
		yield(&r)
	}
}

// load returns the load's window.
func (t *Trace) load() (from, to int64) {
	from, to = t.opt.Start.Or(absent), t.opt.End.Or(absent)
	first, last := absent, absent
	for i := range t.heads {
		h := &t.heads[i]
		if h.intended != absent && (first == absent || h.intended < first) {
			first = h.intended
		}
		last = max(last, h.intended, h.ended)
	}
	if from == absent {
		from = first
	}
	if to == absent {
		to = max(last, from)
	}
	return from, to
}
