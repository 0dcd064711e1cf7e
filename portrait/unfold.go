package portrait

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
	texts "github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// request is one, as far as the log tells of it.
type request struct {
	at    int64 // ns
	timed bool
	// Tokens, 0: not said. input is the whole prompt, fresh what of it the
	// conversation had not said before.
	input, fresh, output, reasoning int64
	media                           bool // images, audio or video
	text                            bool // its text is known
	reasonsTold                     bool // the log says reasoning, so that 0 is none
}

// conversation is a row that holds several requests, with those that are left.
type conversation struct {
	left   []request
	number int32
	tenant string
	cut    *cut // its prompts' blocks; nil: not known
}

// waiting is a heap of conversations by the moment of their next request.
type waiting []*conversation

func (w waiting) Len() int           { return len(w) }
func (w waiting) Less(i, j int) bool { return w[i].left[0].at < w[j].left[0].at }
func (w waiting) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *waiting) Push(x any)        { *w = append(*w, x.(*conversation)) }
func (w *waiting) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}

// unfold returns the requests of a row with their planned moments: a later turn
// comes its think time after the turn before, as if answers took no time, since
// no log of lengths says how long they will take. Where texts come without any
// think time, later turns have no moment. What lies at or behind the end of a
// model's time is left out.
func (l *log) unfold(r *trace.Row, said []texts.Prompt) []request {
	var all []request
	switch {
	case len(r.Turns) == 0:
		return []request{l.single(r, said)}
	case r.Turns[0].Messages == nil:
		all = lengthTurns(r)
	default:
		all = l.textTurns(r, said)
	}
	thinks := !all[0].text || slices.ContainsFunc(r.Turns[1:], func(t trace.Turn) bool { return t.Think > 0 })
	at := r.At
	for i := range all {
		if i > 0 {
			at += int64(r.Turns[i].Think)
		}
		all[i].at, all[i].timed = at, r.Timed && (i == 0 || thinks)
		if l.until > 0 && at >= l.until {
			l.beyond += int64(len(all) - i)
			return all[:i]
		}
		if i > 0 && !all[i].timed && r.Timed {
			l.momentless++
		}
	}
	if len(all) > 1 && r.Timed && thinks {
		l.planned += int64(len(all) - 1)
	}
	return all
}

// single is the request of a row that is one.
func (l *log) single(r *trace.Row, said []texts.Prompt) request {
	q := request{at: r.At, timed: r.Timed, input: r.Input, output: r.Output, reasoning: r.Reasoning, reasonsTold: r.ReasoningTold,
		media: r.Images+r.Audios+r.Videos > 0, text: r.Body != nil}
	if len(said) == 1 && said[0].Counted {
		q.input = said[0].Said
		l.counted++
	}
	switch {
	case r.Delta:
		l.newTold = true
		q.fresh = r.Input
		q.input = l.said.prompt(r)
	case r.Session == "" && r.Parent == "":
		q.fresh = q.input
	}
	return q
}

// lengthTurns are the requests of a session of lengths: a prompt is all prompts
// and answers before it, without their reasoning, and its own text; not known
// behind an answer of unknown length.
func lengthTurns(r *trace.Row) []request {
	out := make([]request, 0, len(r.Turns))
	history, known := int64(0), true
	for i := range r.Turns {
		t := &r.Turns[i]
		q := request{fresh: t.Input, output: t.Output, reasoning: t.Reasoning, reasonsTold: t.ReasoningTold, media: t.Images > 0}
		if known {
			q.input = history + t.Input
		}
		known = known && t.Output > 0
		history += t.Input + t.Output - min(t.Reasoning, t.Output)
		out = append(out, q)
	}
	return out
}

// textTurns are the requests of a row that has their texts.
func (l *log) textTurns(r *trace.Row, texts []texts.Prompt) []request {
	out := make([]request, 0, len(r.Turns))
	history := int64(0) // tokens counted, answers included
	for i := range r.Turns {
		t := &r.Turns[i]
		q := request{input: t.Input, output: t.Output, text: true}
		if i == 0 {
			q.media = r.Images+r.Audios+r.Videos > 0
			if q.input == 0 {
				q.input = r.Input
			}
			q.fresh = q.input
		}
		if len(r.Turns) == 1 {
			q.reasoning, q.reasonsTold = r.Reasoning, r.ReasoningTold
			if q.output == 0 {
				q.output = r.Output
			}
		}
		if q.input == 0 && i < len(texts) && texts[i].Counted {
			q.input, q.fresh = history+texts[i].Said, texts[i].Said
			if q.output == 0 {
				q.output = texts[i].Answer
			}
			history = q.input + q.output
			l.counted++
		}
		out = append(out, q)
	}
	return out
}

// drain counts the waiting requests in that come before a moment in ns.
func (l *log) drain(to int64) {
	for len(l.waiting) > 0 && l.waiting[0].left[0].at < to && !l.full() {
		c := l.waiting[0]
		q := &c.left[0]
		if c.cut != nil {
			l.followCut(c.cut, q, c.number)
		}
		l.request(q, c.tenant)
		if c.left = c.left[1:]; len(c.left) == 0 {
			heap.Pop(&l.waiting)
		} else {
			heap.Fix(&l.waiting, 0)
		}
	}
}

// full tells whether no more requests are wanted.
func (l *log) full() bool { return l.most > 0 && int64(len(l.input)) >= l.most }

// said keeps how much conversations have said whose rows hold new text alone.
type said struct {
	of map[string]int64 // tokens, answers included; -1: not known
}

// prompt returns the tokens of the whole prompt of a row of new text; 0: not
// known.
func (s *said) prompt(r *trace.Row) int64 {
	if r.Session == "" {
		return 0
	}
	if s.of == nil {
		s.of = map[string]int64{}
	}
	before := s.of[r.Session]
	if before < 0 || r.Input == 0 {
		s.of[r.Session] = -1
		return 0
	}
	s.of[r.Session] = before + r.Input + r.Output - min(r.Reasoning, r.Output)
	if r.Output == 0 {
		s.of[r.Session] = -1
	}
	return before + r.Input
}

// ownRows is the format of tokamak's own rows.
const ownRows = "tokamak"

// pieceTokens is the length of the blocks into which prompts are cut that name
// a front alone, or none beside their conversation.
const pieceTokens = 64

// cut makes blocks of the prompts of a conversation: those of its front, by the
// names that the row gives, then those of its own.
type cut struct {
	size  int64 // tokens of a block
	named []uint64
	each  int64 // tokens of a named block
	own   uint64
	made  int64    // blocks so far
	ids   []uint64 // of the prompt before
	ends  []int64
}

// mostPieces is how many blocks the prompts of a conversation are cut into in
// all, so that a line of a file cannot make work without end.
const mostPieces = 1 << 20

// cutOf returns how the prompts of a row are cut that names the blocks of a
// front of it, or holds a conversation, or has neither in a log that does
// elsewhere; nil for others. The number is that of the row.
func (l *log) cutOf(r *trace.Row, several bool, number int64) *cut {
	if len(r.Blocks) > 1 {
		l.named = r.BlockTokens
	}
	front := len(r.Blocks) > 0 && r.Input > int64(len(r.Blocks))*r.BlockTokens
	lengths := (len(r.Turns) == 0 || r.Turns[0].Messages == nil) && r.Body == nil && r.Input > 0 && !r.Delta
	switch {
	case !lengths || r.Format != ownRows:
		return nil
	case several || front:
		l.fronts = true
	case len(r.Blocks) > 0:
		return nil
	case !l.fronts:
		l.alone += r.Input
		l.alones++
		return nil
	}
	c := &cut{size: cmp.Or(l.named, pieceTokens), named: slices.Clone(r.Blocks), each: r.BlockTokens, own: stat.Key(uint64(number), "portrait", 0)}
	if len(r.Blocks) > 1 || len(r.Blocks) == 1 && !front {
		c.size = r.BlockTokens
	}
	return c
}

// blocks are those of the conversation's next prompt, by name, and the tokens up to
// the end of each, valid until the next call. A prompt holds all that the one
// before held, ends a block, and so does a front, where the first prompt has all
// of it.
func (c *cut) blocks(input int64) (ids []uint64, ends []int64) {
	from := int64(0)
	if n := len(c.ends); n > 0 {
		from = c.ends[n-1]
	}
	for from < input {
		to, id := min(from+c.size, int64(len(c.named))*c.each), uint64(0)
		switch {
		case to <= from, to > input: // its own
			c.named = nil
			to = min(from+c.size, input)
			id = stat.Key(c.own, "block", uint64(from))
		case c.each == c.size:
			id = c.named[from/c.each]
		default:
			id = stat.Key(c.named[from/c.each], "piece", uint64(from/c.size))
			for _, also := range c.named[from/c.each+1 : (to-1)/c.each+1] {
				id = stat.Key(id, "joined", also)
			}
		}
		c.ids, c.ends = append(c.ids, id), append(c.ends, to)
		from = to
	}
	return c.ids, c.ends
}
