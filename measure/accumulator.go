package measure

import (
	"cmp"
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/record"
)

// Options say what a run was, as far as measuring must know.
type Options struct {
	// Start and End are the load's window in ns since the run's epoch: a
	// request is due if it was intended in it. An absent Start is the first
	// intended time. An absent End, as for a load that has a number of requests and no
	// duration, is the last end of an attempt.
	Start, End record.Int
	// Warmup and WarmupRequests cut the start of the steady window; where both
	// are zero the cut is found.
	Warmup         time.Duration
	WarmupRequests int
	// Stages is how many levels the load has; with more than one there is no
	// steady window.
	Stages int
	// Users tells that the load is a closed loop: its users bound it.
	Users bool
	// Intent is what the prompts are meant to be to a prefix cache; empty:
	// [Unasked].
	Intent CacheIntent
	// GPUs adds rates per accelerator where it is more than zero.
	GPUs int
	// Limits are what a good request meets; none: goodput is null.
	Limits []Limit
	// Stops are times in which the client is known to have stood still.
	Stops []Stop
	// Pauses are times in which nobody read: of events that share a stamp in
	// one of them, all but the last may have come earlier in it.
	Pauses []Stop
	// Closed says that each user sends as soon as the answer before is seen,
	// so that a client which sees late offers less load.
	Closed bool
	// SchedLatency is the 99th percentile, in ns, of the time from a packet's
	// arrival to its reading; it bounds the error of user stamps.
	SchedLatency record.Int
}

// Stop is a time in which the client did nothing, in ns since the run's epoch.
type Stop struct{ From, To int64 }

// Accumulator gathers attempts and measures them. It belongs to one goroutine.
type Accumulator struct {
	opt      Options
	blocks   [][]row // of rowBlock each but the last, so that growth copies nothing
	gaps     gapStore
	scratch  []gap
	again    map[int64]int // requests that may have or had further attempts: their row
	outcomes []record.Outcome
	fates    []fate // of outcomes
	attempts map[record.Outcome]int
	words    words
	merged   []merged
	users    map[int64]user // of a closed loop
	n        int
	all      *View // cached until the next Add
}

const rowBlock = 4096

// New returns an empty accumulator.
func New(opt Options) *Accumulator {
	return &Accumulator{opt: opt, again: map[int64]int{},
		attempts: map[record.Outcome]int{}, words: newWords()}
}

// Configure replaces the options, as when the load's end becomes known.
func (a *Accumulator) Configure(opt Options) { a.opt, a.all = opt, nil }

// Options returns the options in force.
func (a *Accumulator) Options() Options { return a.opt }

// Add takes an ended attempt and keeps nothing of its memory. Attempts of a
// request may come in any order; the one with the highest number decides.
func (a *Accumulator) Add(t *record.Attempt) {
	a.all = nil
	a.attempts[t.Outcome]++
	a.words.add(t)
	var r row
	r.fill(t)
	r.outcome = a.outcome(t.Outcome)
	r.own = t.ErrorClass == record.ClientFailureClass
	a.noteIdle(&r, t)
	mayRepeat := t.Outcome != record.OK || t.Attempt > 1
	if i, ok := a.again[t.RequestID]; ok && mayRepeat {
		a.merge(a.row(i), &r, t)
		return
	}
	a.keepGaps(&r, t)
	if mayRepeat {
		a.again[t.RequestID] = a.n
	}
	if a.n%rowBlock == 0 {
		a.blocks = append(a.blocks, make([]row, 0, rowBlock))
	}
	last := &a.blocks[len(a.blocks)-1]
	*last = append(*last, r)
	a.n++
}

// merge makes one row of two attempts of a request: the later one counts, but
// for the moment from which it counts and the client's lateness.
func (a *Accumulator) merge(kept, r *row, t *record.Attempt) {
	early := *kept
	if r.firstAttempt < kept.firstAttempt {
		early = *r
	}
	if r.attempt > kept.attempt {
		a.keepGaps(r, t)
		*kept = *r
	}
	if early.intended != absent {
		kept.intended = early.intended
	}
	kept.firstAttempt, kept.firstWrite, kept.lag, kept.held = early.firstAttempt, early.firstWrite, early.lag, early.held
	kept.stallSend, kept.waited = early.stallSend, early.waited
}

func (a *Accumulator) keepGaps(r *row, t *record.Attempt) {
	a.scratch, r.many = arrivalGaps(&t.Chunks, a.scratch[:0])
	r.gaps = a.gaps.add(a.scratch)
	r.settleGaps(a.scratch)
	a.noteMerged(r, t)
}

func (a *Accumulator) outcome(o record.Outcome) uint8 {
	i := slices.Index(a.outcomes, o)
	if i < 0 {
		i = len(a.outcomes)
		if i > 200 { // only a corrupt file names so many
			return uint8(i - 1)
		}
		a.outcomes, a.fates = append(a.outcomes, o), append(a.fates, fateOf(o))
	}
	return uint8(i)
}

func (a *Accumulator) row(i int) *row { return &a.blocks[i/rowBlock][i%rowBlock] }

func (a *Accumulator) outcomeOf(r *row) record.Outcome { return a.outcomes[r.outcome] }

// All returns the view of all due requests.
func (a *Accumulator) All() *View {
	if a.all == nil {
		a.all = a.view(a.window())
	}
	return a.all
}

// window returns the load's window.
func (a *Accumulator) window() (from, to int64) {
	from, to = moment(a.opt.Start), moment(a.opt.End)
	if from != absent && to != absent {
		return from, to
	}
	first, last := absent, absent
	for _, b := range a.blocks {
		for i := range b {
			r := &b[i]
			if r.intended != absent && (first == absent || r.intended < first) {
				first = r.intended
			}
			last = max(last, r.intended, r.ended)
		}
	}
	if from == absent {
		from = first
	}
	if to == absent {
		to = max(last, from)
	}
	return from, to
}

// view returns the requests that were due in a window, in order of their
// intended time.
func (a *Accumulator) view(from, to int64) *View {
	v := &View{a: a, from: from, to: to}
	for i := range a.n {
		if r := a.row(i); r.intended != absent && from <= r.intended && r.intended <= to {
			v.rows = append(v.rows, r)
		}
	}
	slices.SortStableFunc(v.rows, func(x, y *row) int {
		return cmp.Or(cmp.Compare(x.intended, y.intended), cmp.Compare(x.id, y.id))
	})
	return v
}

// Whole returns how many requests, from the run's first on and numbered
// without a gap, have been added.
func (a *Accumulator) Whole() int {
	seen := make([]bool, a.n)
	for i := range a.n {
		if id := a.row(i).id; 0 <= id && id < int64(a.n) {
			seen[id] = true
		}
	}
	if gap := slices.Index(seen, false); gap >= 0 {
		return gap
	}
	return a.n
}

// First returns the view of those of the run's first n requests, by number,
// that were due.
func (a *Accumulator) First(n int) *View {
	all := a.All()
	v := &View{a: a, from: all.from, to: all.to}
	for _, r := range all.rows {
		if r.id < int64(n) {
			v.rows = append(v.rows, r)
		}
	}
	return v
}

// part returns those of the view's requests that were due in a shorter window.
func (v *View) part(from, to int64) *View {
	w := &View{a: v.a, from: from, to: to}
	for _, r := range v.rows {
		if from <= r.intended && r.intended <= to {
			w.rows = append(w.rows, r)
		}
	}
	return w
}

// Result measures what was added.
func (a *Accumulator) Result() *Result {
	all := a.All()
	return &Result{
		Requests: all.Requests(),
		Attempts: a.Attempts(),
		Metrics:  all.Metrics(),
		Steady:   a.steadyBlock(),
		Validity: all.Validity(),
		Evidence: all.Evidence(),
		Cache:    all.Cache(),
	}
}
