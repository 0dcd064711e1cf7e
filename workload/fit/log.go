package fit

import (
	"hash/maphash"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// log is what is kept of a log: columns of numbers, one value a request.
type log struct {
	options Options
	formats []string // in the order of their first rows

	at      []int64 // ns from the first arrival; before finish as stamped
	input   []int32 // tokens of the whole prompt or, with flagDelta, of the new text
	output  []int32
	front   []int32   // 1 + which front another session sent before, 0: none
	took    []float32 // s, how long the service took; empty where no row says
	tenant  []int32   // numbers of names, -1 where there is none
	model   []int32
	session []int32
	named   []int32 // the log's own sessions, where they divide it into clients
	share   []uint8 // of the output that is reasoning, in 1/shareUnit; noShare where not said
	images  []uint8
	flags   []uint8
	limit   []int32 // most tokens that an answer may have; empty where no row says

	rows, timed, untimed, failed int64
	texted                       int64 // requests that have texts or bodies
	counted, uncounted           int64 // of them, those whose texts were counted, and those whose texts nothing counts

	absolute bool    // some moments tell the day
	relative bool    // some do not
	files    int     // that the log is of; 0: not known
	begin    int64   // the first arrival, ns of the log's clock
	madeUp   bool    // nothing is known of arrivals: their moments are made up
	span     float64 // s

	seed     maphash.Seed
	tenants  names
	models   names
	sessions sessions
	blocks   *blocks
	prompts  *count.Prompts
	thinks   []float64 // s, where rows say them
	history  history
	whole    []int32 // tokens of each prompt, history included, as far as known

	client   []int32 // of each request, an index of clients
	clients  []client
	placed   []int // the client of each of the model's
	hidden   []HiddenCandidate
	mixed    *mixed // bursts of all, where clients are classes of lengths
	stamps   Stamps
	pauses   []Pause
	findings []string
}

const (
	flagFailed uint8 = 1 << iota
	flagDelta
	flagLater  // a later turn of its session
	flagNoTime // came in one row with the turn before
	// its blocks go on with those of an earlier request of its session, or do not
	flagExtends
	flagApart
	flagJoined // told to go on with an earlier request by its blocks alone
)

const (
	// noShare is the share of reasoning that is not said.
	noShare = 255
	// shareUnit is one in which shares are kept.
	shareUnit = 200
)

func newLog(o Options) *log {
	seed := maphash.MakeSeed()
	return &log{options: o, seed: seed, tenants: newNames(o.KeepNames), models: newNames(o.KeepNames),
		sessions: newSessions(o.KeepNames && o.By == BySession), blocks: newBlocks(o.CacheTokens), prompts: count.NewPrompts(o.Tokenizer)}
}

// names number the names of a column.
type names struct {
	ids  map[uint64]int32
	keep bool
	text []string // where they are kept
}

func newNames(keep bool) names { return names{ids: map[uint64]int32{}, keep: keep} }

// id returns the number of a name, -1 of none. Names are told apart by 64 bits
// of a hash, so that a million of them take little room.
func (n *names) id(seed maphash.Seed, name string) int32 {
	if name == "" {
		return -1
	}
	h := maphash.String(seed, name)
	id, ok := n.ids[h]
	if !ok {
		id = int32(len(n.ids))
		n.ids[h] = id
		if n.keep {
			n.text = append(n.text, name)
		}
	}
	return id
}

// add appends a row: a request, or a conversation as several. An error is the
// tokenizer's.
func (l *log) add(r *trace.Row) error {
	l.rows++
	if n := len(l.formats); n == 0 || l.formats[n-1] != r.Format && !slices.Contains(l.formats, r.Format) {
		l.formats = append(l.formats, r.Format)
	}
	if r.Timed {
		l.timed++
		l.absolute, l.relative = l.absolute || r.Absolute, l.relative || !r.Absolute
	} else {
		l.untimed++
	}
	said, err := l.prompts.Of(r)
	if err != nil {
		return err
	}
	if len(r.Turns) > 1 {
		l.conversation(r, said)
		return nil
	}
	input, output := l.lengths(r, said)
	session, front, evidence := l.sessionOf(r, l.blocks.promptOf(r, l.wholly(said)))
	l.request(r, input, output, session, front)
	l.share = append(l.share, reasoningShare(r.Reasoning, output, r.ReasoningTold))
	l.flags[len(l.flags)-1] |= evidence
	return nil
}

// request appends a request to the columns but for its reasoning.
func (l *log) request(r *trace.Row, input, output int64, session, front int32) {
	at := r.At
	if !r.Timed {
		at = untimedAt
	}
	l.at = append(l.at, at)
	l.input = append(l.input, small(input))
	l.output = append(l.output, small(output))
	l.front = append(l.front, front)
	if r.Duration > 0 && l.took == nil {
		l.took = make([]float32, len(l.at)-1)
	}
	if l.took != nil {
		l.took = append(l.took, float32(r.Duration.Seconds()))
	}
	if r.Limit > 0 && l.limit == nil {
		l.limit = make([]int32, len(l.at)-1)
	}
	if l.limit != nil {
		l.limit = append(l.limit, small(r.Limit))
	}
	l.images = append(l.images, uint8(min(max(r.Images, 0), math.MaxUint8)))
	var flags uint8
	if r.Failed {
		flags |= flagFailed
		l.failed++
	}
	if r.Delta {
		flags |= flagDelta
	}
	l.flags = append(l.flags, flags)
	l.tenant = append(l.tenant, l.tenants.id(l.seed, r.Tenant))
	l.model = append(l.model, l.models.id(l.seed, r.Model))
	l.session = append(l.session, session)
}

// untimedAt stands for the moment of a row without a stamp.
const untimedAt = math.MinInt64

// small keeps a length within what a model may hold.
func small(n int64) int32 { return int32(min(max(n, 0), trace.MaxTokens)) }

// reasoningShare is the share of an answer that is reasoning: noShare where the
// answer's length or its reasoning is not known.
func reasoningShare(reasoning, output int64, told bool) uint8 {
	if output <= 0 || reasoning <= 0 && !told {
		return noShare
	}
	return uint8(math.Round(shareUnit * min(float64(reasoning)/float64(output), 1)))
}
