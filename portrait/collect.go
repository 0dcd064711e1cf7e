package portrait

import (
	"container/heap"
	"math"
	"slices"

	texts "github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/fit"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// missing stands in a column for what a row does not say.
const missing = -1

// log is what is kept of the rows of a log.
type log struct {
	at            []int64 // ns, of the requests that have a moment
	absolute      bool    // at counts from the Unix epoch
	input, output []int32 // tokens, one a request; missing: not said
	fresh         []int32 // the same of what a prompt adds to its conversation
	newTold       bool    // a row said what new text is

	limits []int32 // most tokens that an answer may have, of the rows that say it

	rows, failed            int64
	told                    int64     // rows that say whether the service answered
	counter                 Tokenizer // of texts whose length the log does not say; nil: none
	spoken                  *texts.Prompts
	counted                 int64 // requests whose length it counted
	texts                   int64 // requests that have text but no length of it
	reasoning, reasonedOver int64 // reasoning tokens, and output tokens of the same requests
	reasoned                int64 // requests that say their reasoning tokens
	cached, cachedOver      int64 // prompt tokens that the service says it had, and the prompt tokens of the same requests
	media                   int64 // requests with images, audio or video

	waiting    waiting // later turns of the rows so far
	planned    int64   // later turns whose moment follows from think times
	momentless int64   // later turns without a moment though the first has one
	until      int64   // ns, the end of a model's time; 0: none
	beyond     int64   // later turns that would come at or behind it
	most       int64   // requests wanted; 0: all
	said       said
	last       int64 // moment of the last row that has one
	unsorted   int64
	clocks     clocks
	sessions   sessions
	reuse      *fit.Reuse // of prompts that name their blocks; nil: none so far
	followed   int64      // requests in it
	prompts    int64      // their tokens
	alone      int64      // tokens of prompts that have nothing in common with others
	alones     int64      // how many those are
	fronts     bool       // blocks of a front alone, or of conversations, were followed
	deltas     int64      // rows that name the blocks of a turn's new text alone
	named      int64      // length in tokens of the blocks of the last row that names several
	tenants    tally
	tenantless int64 // requests without a tenant's name
}

// add counts a row in; an error is the tokenizer's.
func (l *log) add(r *trace.Row) error {
	if r.Timed {
		if len(l.clocks.of) > 0 && r.At < l.last {
			l.unsorted++
		}
		l.drain(r.At)
		l.last, l.absolute = r.At, r.Absolute
		l.clocks.add(r)
	}
	if l.full() {
		return nil
	}
	l.rows++
	if r.Limit > 0 {
		l.limits = append(l.limits, column(r.Limit))
	}
	if r.Failed {
		l.failed++
	}
	if r.Told || r.Failed {
		l.told++
	}
	if r.Cached > 0 {
		l.cached += r.Cached
	}
	l.cachedOver += r.Input
	if l.spoken == nil {
		l.spoken = texts.NewPrompts(l.counter)
	}
	said, err := l.spoken.Of(r)
	if err != nil {
		return err
	}
	all := l.unfold(r, said)
	if len(all) == 0 {
		return nil
	}
	c := &conversation{left: all, tenant: r.Tenant, cut: l.cutOf(r, len(r.Turns) > 1, l.rows)}
	f := l.follow(r, said, c.cut == nil)
	c.number = l.sessions.add(r, f, len(all))
	if f.ok && len(said) > 1 {
		l.followTurns(said[1:len(all)], r.At, c.number)
	}
	if c.cut != nil {
		l.followCut(c.cut, &all[0], c.number)
	}
	if f.before >= 0 && f.ok { // goes on with an earlier prompt
		all[0].fresh = 0
	}
	if len(all) > 1 {
		l.newTold = l.newTold || all[1].fresh > 0
	}
	l.request(&all[0], c.tenant)
	if c.left = all[1:]; len(c.left) == 0 {
		return nil
	}
	if all[1].timed {
		heap.Push(&l.waiting, c)
		return nil
	}
	for i := range c.left {
		if c.cut != nil {
			l.followCut(c.cut, &c.left[i], c.number)
		}
		l.request(&c.left[i], c.tenant)
	}
	return nil
}

// request counts one in.
func (l *log) request(q *request, tenant string) {
	if q.timed {
		l.at = append(l.at, q.at)
	}
	if q.media {
		l.media++
	}
	if (q.reasoning > 0 || q.reasonsTold) && q.output > 0 {
		l.reasoned++
		l.reasoning += q.reasoning
		l.reasonedOver += q.output
	}
	if q.input <= 0 && q.text {
		l.texts++
	}
	if tenant == "" {
		l.tenantless++
	}
	l.tenants.add(tenant)
	l.input, l.output, l.fresh = append(l.input, column(q.input)), append(l.output, column(q.output)), append(l.fresh, column(q.fresh))
}

// follow looks at the blocks of a prompt that names them, where it is asked to,
// or at those of its text.
func (l *log) follow(r *trace.Row, said []texts.Prompt, wanted bool) followed {
	if len(r.Blocks) == 0 && len(said) > 0 && !r.Delta {
		before, ok := l.reusedText(&said[0], r.At, -1)
		return followed{before, ok}
	}
	if len(r.Blocks) == 0 || !wanted {
		return followed{}
	}
	if r.Delta {
		l.deltas++
		return followed{}
	}
	var f followed
	f.before, f.ok = l.reused(r)
	return f
}

// followCut looks at the blocks into which a prompt is cut.
func (l *log) followCut(c *cut, q *request, number int32) {
	if c.made += q.input/c.size + 1; q.input <= 0 || c.made > mostPieces {
		return
	}
	ids, ends := c.blocks(q.input)
	l.following()
	l.reuse.AddBlocks(ids, ends, q.input, q.output, q.at)
	l.followed++
	l.prompts += q.input
	l.sessions.of = append(l.sessions.of, number)
}

// followTurns looks at the later prompts of a conversation of texts, the first of
// which was followed last.
func (l *log) followTurns(said []texts.Prompt, at int64, number int32) {
	first := int32(l.followed - 1)
	for i := range said {
		if _, ok := l.reusedText(&said[i], at, first); ok {
			l.sessions.of = append(l.sessions.of, number)
		}
	}
}

func (l *log) reusedText(q *texts.Prompt, at int64, first int32) (before int32, ok bool) {
	l.following()
	if before, ok = l.reuse.AddText(q, at, first); ok {
		l.followed++
		l.prompts += q.Tokens
	}
	return before, ok
}

func (l *log) following() {
	if l.reuse == nil {
		l.reuse = fit.NewReuse(cacheSizes())
	}
}

func (l *log) reused(r *trace.Row) (before int32, ok bool) {
	l.following()
	if before, ok = l.reuse.Add(r); ok {
		l.followed++
		l.prompts += r.Input
	}
	return before, ok
}

// followed is what the blocks of a prompt tell of its conversation: the number
// of the prompt that it goes on with, counted over those that name their
// blocks, or -1, and whether it names its own.
type followed struct {
	before int32
	ok     bool
}

func column(tokens int64) int32 {
	if tokens <= 0 {
		return missing
	}
	return int32(min(tokens, math.MaxInt32))
}

// sort puts the moments in order.
func (l *log) sort() {
	if !slices.IsSorted(l.at) {
		slices.Sort(l.at)
	}
}

// known returns the values of a column that rows said, ascending.
func known(column []int32) []int32 {
	out := make([]int32, 0, len(column))
	for _, v := range column {
		if v != missing {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}
