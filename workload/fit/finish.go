package fit

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// finish puts the columns into the order of time, and finds steps in the
// stamps, sessions, and clients.
func (l *log) finish() {
	l.blocks.rest()
	l.prompts = nil
	l.ownFronts()
	l.dropUntimed()
	l.sort()
	l.fewMoments()
	if !l.madeUp {
		l.pauses = Pauses(l.at)
		l.resolution()
		l.jitter()
	}
	l.spanOf()
	l.whole = slices.Clone(l.input)
	l.sessionTurns()
	l.divide()
	l.apart()
	l.foldFronts()
	l.findTexts()
	if mixed := MixedBlocks(l.blocks.byPrompts()); mixed != "" {
		l.say("%s", mixed)
	}
	l.findBlocks()
	if n := l.blocks.left; n > 0 {
		l.say("%s of %s rows name prompt blocks without their length, or of too many lengths: they are left out of the prefix figures", grouped(n), grouped(l.rows))
	}
}

func (l *log) say(format string, args ...any) {
	l.findings = append(l.findings, fmt.Sprintf(format, args...))
}

// dropUntimed leaves rows without a stamp out, unless none has one.
func (l *log) dropUntimed() {
	if l.timed == 0 {
		l.makeUp("the log has no time stamps")
		return
	}
	if l.untimed == 0 {
		return
	}
	l.say("%d of %d rows have no time stamp and are left out", l.untimed, l.rows)
	kept := make([]int32, 0, l.timed)
	for i, at := range l.at {
		if at != untimedAt {
			kept = append(kept, int32(i))
		}
	}
	l.permute(kept)
}

// makeUp gives the rows moments, because the log's tell nothing of arrivals.
func (l *log) makeUp(why string) {
	l.madeUp = true
	for i := range l.at {
		l.at[i] = int64(i) * int64(time.Second)
	}
	l.say("%s: nothing is known of arrivals, and Poisson arrivals of one a second are made up", why)
}

// fewMoments makes moments up where the ordered rows have one or two: of two
// there is one gap, which is no distribution.
func (l *log) fewMoments() {
	if l.madeUp {
		return
	}
	l.stamps.Moments = 1
	for i := 1; i < len(l.at); i++ {
		if l.at[i] > l.at[i-1] {
			l.stamps.Moments++
		}
	}
	switch l.stamps.Moments {
	case 1:
		l.makeUp(fmt.Sprintf("all %s rows have the very same moment", grouped(int64(len(l.at)))))
	case 2:
		l.makeUp(fmt.Sprintf("the %s rows have two moments in all, %s apart", grouped(int64(len(l.at))), shortDuration(float64(l.at[len(l.at)-1])/1e9)))
	}
}

// sort orders the rows by time, equal ones as they stand.
func (l *log) sort() {
	for i := 1; i < len(l.at); i++ {
		if l.at[i] < l.at[i-1] {
			l.stamps.Unordered++
		}
	}
	if l.stamps.Unordered > 0 {
		order := make([]int32, len(l.at))
		for i := range order {
			order[i] = int32(i)
		}
		sort.SliceStable(order, func(a, b int) bool { return l.at[order[a]] < l.at[order[b]] })
		l.permute(order)
	}
	l.begin = l.at[0]
	for i := range l.at {
		l.at[i] -= l.begin
	}
}

// permute makes the columns those of the given rows.
func (l *log) permute(rows []int32) {
	l.at = taken(l.at, rows)
	l.input, l.output, l.front = taken(l.input, rows), taken(l.output, rows), taken(l.front, rows)
	if l.took != nil {
		l.took = taken(l.took, rows)
	}
	l.tenant, l.model, l.session = taken(l.tenant, rows), taken(l.model, rows), taken(l.session, rows)
	if l.limit != nil {
		l.limit = taken(l.limit, rows)
	}
	l.share, l.images, l.flags = taken(l.share, rows), taken(l.images, rows), taken(l.flags, rows)
}

func taken[T any](column []T, rows []int32) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = column[r]
	}
	return out
}

// resolution finds the unit of the stamps, and whether they go in steps that
// hide when requests came: a step is the unit where the mean gap is less than
// twenty of it and the unit a millisecond or more, or the usual time between
// stamps where each is shared by two rows or more in the mean.
func (l *log) resolution() {
	n, last := 0, l.at[0]
	unit, stamps := int64(0), 1
	var steps []int64
	for i, at := range l.at {
		if l.flags[i]&flagNoTime != 0 { // has the moment of its conversation
			continue
		}
		n++
		gap := at - last
		last = at
		if gap == 0 {
			continue
		}
		stamps++
		unit = divisor(unit, gap)
		if len(steps) < 1<<20 {
			steps = append(steps, gap)
		}
	}
	if unit == 0 {
		return
	}
	l.stamps.Resolution = float64(unit) / 1e9
	tick := int64(0)
	switch mean := float64(last) / float64(n-1); {
	case n >= 2*stamps:
		if copies := l.copies(); n-copies < 2*stamps {
			l.say("%s of %s rows stand for a request that another row of the same moment has too: the log may hold requests twice, or have been given twice, and all are learnt", grouped(int64(copies)), grouped(int64(n)))
			break
		}
		slices.Sort(steps)
		tick = stat.Quantile(steps, .5)
	case unit >= int64(time.Millisecond) && mean < 20*float64(unit):
		tick = unit
	}
	l.stamps.Tick = float64(tick) / 1e9
}

func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// jitter spreads the rows of a step over it: evenly at random, in their order.
func (l *log) jitter() {
	tick := int64(math.Round(l.stamps.Tick * 1e9))
	if tick > 0 {
		l.stamps.Jittered = true
		l.say("time stamps go in steps of %s: each request is moved to a random moment within its step, so that nothing is known of gaps shorter than that",
			shortDuration(l.stamps.Tick))
		r := stat.Random(l.options.Seed, "jitter", 0)
		var moments []int64
		for from := 0; from < len(l.at); {
			to := from
			for to < len(l.at) && l.at[to] == l.at[from] {
				to++
			}
			room := tick
			if to < len(l.at) {
				room = min(room, l.at[to]-l.at[from])
			}
			moments = moments[:0]
			for i := from; i < to; i++ {
				if l.flags[i]&flagNoTime == 0 {
					moments = append(moments, l.at[from]+int64(r.Uint64N(uint64(room))))
				}
			}
			slices.Sort(moments)
			for i, k := from, -1; i < to; i++ {
				if l.flags[i]&flagNoTime == 0 {
					k++
				}
				l.at[i] = moments[max(k, 0)]
			}
			from = to
		}
		if first := l.at[0]; first > 0 {
			l.begin += first
			for i := range l.at {
				l.at[i] -= first
			}
		}
	}
}

// leastSpan is the shortest time in s that a model is made for.
const leastSpan = 1

// spanOf is the time that the model is of: whole milliseconds, so that a
// duration in a file says the same.
func (l *log) spanOf() {
	last := float64(l.at[len(l.at)-1]) / 1e9
	if l.madeUp {
		l.span = max(float64(len(l.at)), leastSpan) // so that the rate is one a second
		return
	}
	if last < leastSpan {
		l.say("the log's requests came within %s, and the model spreads them over %s, the shortest that there is", shortDuration(last), shortDuration(leastSpan))
	}
	l.span = max(math.Ceil(float64(l.at[len(l.at)-1])/1e6)/1e3, leastSpan)
}
