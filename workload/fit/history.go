package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// IndependentTurns says that the prompts of a session's requests hold no
// history: a session id that is a user's, a job's or an agent's.
const IndependentTurns trace.Turns = "independent"

// mixedTurns is what a report says where some sessions have a history and
// others none.
const mixedTurns = "mixed"

const (
	// grownMargin is by how much more than a half of the later prompts grow at
	// least where a history is in them, and grownErrors by how many standard errors:
	// of prompts that have nothing to do with each other half are longer than the
	// one before. Of few prompts grownMost more are enough.
	grownMargin, grownErrors, grownMost = 0.1, 2.5, 0.25
	// toldTurns is how many later prompts a name has at least to be judged by its
	// own.
	toldTurns = 20
	// ownTurns is how many a session has at least to have a history where those of
	// its name have none, and ownShrunk to have none where they have.
	ownTurns, ownShrunk = 5, 3
	// beyondChance is how many times as many of the former there are as chance
	// makes of prompts without history, and so many more.
	beyondChance = 3
)

// history is what was found out about the prompts of later turns.
type history struct {
	sessions    int64 // that the log tells
	later       int64 // requests that go on with one
	judged      int64 // of them, those that tell whether they grow
	grown       int64
	delta       int64 // that hold their new text alone
	independent int64 // that were taken as requests of their own
	anew        int64 // that are shorter than the one before, where prompts grow
	unsaid      int64 // that are shorter than the one before with its answer
}

// sessionTurns finds out what the later prompts of each session hold. Where
// they hold what came before, their length becomes that of their new text, and
// they are marked; where they hold no history, each is a request of its own.
func (l *log) sessionTurns() {
	if l.sessions.count == 0 {
		return
	}
	column, _ := l.divideBy()
	if l.options.By == BySession {
		column = slices.Clone(column)
		l.named = column
	}
	alone := l.independent(column)
	if l.options.Turns == trace.DeltaTurns {
		for i := range l.flags {
			if l.session[i] >= 0 && l.flags[i]&flagJoined == 0 {
				l.flags[i] |= flagDelta
			}
		}
	}
	l.history.sessions = int64(len(alone))
	l.unfold(alone)
}

// turnsOf counts what later prompts do.
type turnsOf struct{ judged, grown int32 }

func lgamma(x float64) float64 {
	y, _ := math.Lgamma(x)
	return y
}

// alone tells whether fewer of them grow than with a history they would: of n
// prompts that have nothing to do with each other a half does, within
// grownErrors standard errors of 1/2√n.
func (t turnsOf) alone() bool {
	n := float64(max(t.judged, 1))
	return float64(t.grown)/n < .5+min(max(grownMargin, grownErrors*.5/math.Sqrt(n)), grownMost)
}

// independent tells of each session whether its prompts hold no history. It is
// judged by all prompts of a name of the column together, or by those of all names
// where one has few. A session is judged by its own where all of five or more
// grow, or fewer than half of three or more.
func (l *log) independent(column []int32) []bool {
	alone := make([]bool, l.sessions.count)
	per := make([]turnsOf, l.sessions.count)
	name := make([]int32, l.sessions.count)
	before := make([]int32, l.sessions.count)
	for i := range before {
		before[i], name[i] = -1, -1
	}
	for i, s := range l.session {
		if s < 0 {
			continue
		}
		b := before[s]
		if b < 0 && column != nil {
			name[s] = column[i]
		}
		if l.flags[i]&flagDelta != 0 || l.input[i] == 0 {
			continue
		}
		if b >= 0 && l.flags[i]&flagFailed == 0 {
			per[s].judged++
			if l.grows(b, int32(i)) {
				per[s].grown++
			}
		}
		if l.flags[i]&flagFailed == 0 {
			before[s] = int32(i)
		}
	}
	var all turnsOf
	names := map[int32]turnsOf{}
	for s, t := range per {
		n := names[name[s]]
		n.judged, n.grown = n.judged+t.judged, n.grown+t.grown
		names[name[s]] = n
		all.judged, all.grown = all.judged+t.judged, all.grown+t.grown
	}
	l.history.judged, l.history.grown = int64(all.judged), int64(all.grown)
	if l.options.Turns != "" || all.judged == 0 {
		for s := range alone {
			alone[s] = l.options.Turns == IndependentTurns
		}
		return alone
	}
	grown, chance := 0, 0.0 // sessions all of whose prompts grow, though those of their name do not
	for s, t := range per {
		n := names[name[s]]
		if n.judged < toldTurns {
			n = all
		}
		switch alone[s] = n.alone(); {
		case alone[s] && t.judged >= ownTurns:
			chance += math.Exp(-lgamma(float64(t.judged) + 2)) // all orders are alike
			if t.grown == t.judged {
				grown++
			}
		case !alone[s] && t.judged >= ownShrunk:
			alone[s] = 2*t.grown < t.judged
		}
	}
	if float64(grown) <= beyondChance*chance+beyondChance {
		return alone
	}
	for s, t := range per {
		alone[s] = alone[s] && (t.judged < ownTurns || t.grown < t.judged)
	}
	return alone
}

// grows tells whether a prompt goes on with the one before: by their blocks
// where both name them, else it is longer. The answer does not count: what was
// reasoned in it does not come back, and most logs do not tell how much that is.
func (l *log) grows(before, now int32) bool {
	if l.flags[now]&flagExtends != 0 {
		return true
	}
	if l.flags[now]&flagApart != 0 {
		return false
	}
	return l.input[now] > l.input[before]
}

// unfold makes the lengths of later turns those of their new text, and adds
// what came before to the prompts of those that hold new text alone.
func (l *log) unfold(alone []bool) {
	h := &l.history
	u := &unfolding{log: l, at: make([]thread, len(alone)), others: map[int32][]thread{}}
	for i, s := range l.session {
		if s < 0 {
			continue
		}
		t := &u.at[s]
		if t.begun {
			h.later++
		}
		delta := l.flags[i]&flagDelta != 0
		if alone[s] && !delta {
			if t.begun {
				h.independent++
			}
			t.begun, l.session[i] = true, -1
			continue
		}
		u.continued(s, int32(i), delta)
	}
}

// unfolding is that under way.
type unfolding struct {
	log    *log
	at     []thread           // the present one of each session
	others map[int32][]thread // of those that have several, the last one first
}

// thread is a conversation under way.
type thread struct {
	begun         bool
	session       int32 // its number, another than the log's where it began anew
	prompt, whole int64 // tokens of the last prompt that was answered, and with its answer
}

// mostThreads is how many conversations of one session are under way at most.
const mostThreads = 8

// goOn makes the thread that a whole prompt goes on with the first of a
// session's: the one whose prompt and answer are the longest that it may hold,
// else the one whose prompt is, since not all of an answer comes back. It is
// false where there is none. Where blocks tell that it is not the last one, none
// is looked for.
func goOn(threads []thread, input int64, apart bool) bool {
	if apart {
		return false
	}
	best := -1
	for i := range threads {
		t := &threads[i]
		if t.prompt > input {
			continue
		}
		if best < 0 || t.fits(input) != threads[best].fits(input) && t.fits(input) || t.fits(input) == threads[best].fits(input) && t.whole > threads[best].whole {
			best = i
		}
	}
	if best > 0 {
		threads[0], threads[best] = threads[best], threads[0]
	}
	return best >= 0
}

// fits tells whether a prompt may hold all that was said in a thread.
func (t *thread) fits(input int64) bool { return t.whole <= input }

// continued places a request into its conversation, one of several that a
// session may have under way.
func (u *unfolding) continued(s, i int32, delta bool) {
	l, t := u.log, &u.at[s]
	later, input := t.begun, int64(l.input[i])
	switch {
	case !later:
		t.begun, t.session = true, l.session[i]
	case delta:
		l.history.delta++
		if input > 0 {
			input += t.whole
			l.whole[i] = small(input)
		}
	case input > 0:
		later = u.found(s, input, l.flags[i]&flagApart != 0)
	}
	l.session[i] = t.session
	if later {
		if !delta && input > 0 {
			if input < t.whole {
				l.history.unsaid++
			}
			l.input[i] = small(max(input-t.whole, 1))
		}
		l.flags[i] |= flagLater
		if !delta {
			l.front[i] = 0
		}
	}
	if l.flags[i]&flagFailed == 0 && input > 0 { // a failed turn is asked again, without an answer
		t.prompt, t.whole = input, input+l.said(i)
	}
}

// found makes the thread that a prompt goes on with the session's present one;
// false where it is a new one.
func (u *unfolding) found(s int32, input int64, apart bool) bool {
	l, t := u.log, &u.at[s]
	others := u.others[s]
	if len(others) == 0 && !apart && input >= t.prompt {
		return true // as nearly always
	}
	all := append([]thread{*t}, others...)
	ok := goOn(all, input, apart)
	if !ok {
		l.history.anew++
		all = append([]thread{{begun: true, session: l.sessions.count}}, all[:min(len(all), mostThreads-1)]...)
		l.sessions.count++
	}
	*t = all[0]
	u.others[s] = all[1:]
	return ok
}

// said is what of an answer comes back in later prompts: all but its reasoning.
func (l *log) said(i int32) int64 {
	n := int64(l.output[i])
	if s := l.share[i]; s != noShare {
		n -= (n*int64(s) + shareUnit/2) / shareUnit
	}
	return n
}

// words say which kind of turns was taken, and by which rule.
func (h *history) words(asked trace.Turns) (kind trace.Turns, why string) {
	whole := h.later - h.delta
	switch {
	case h.later == 0:
		return "", ""
	case 2*h.delta > h.later:
		kind = trace.DeltaTurns
	case h.independent == 0:
		kind = trace.CumulativeTurns
	case h.independent == whole:
		kind = IndependentTurns
	default:
		kind = mixedTurns
	}
	share := fmt.Sprintf("%.0f %% of them are longer than the prompt before", 100*float64(h.grown)/float64(max(h.judged, 1)))
	switch {
	case asked != "" && asked == kind:
		return kind, "as asked"
	case asked == trace.DeltaTurns:
		return kind, "told by blocks, which hold what came before, although delta was asked for"
	case asked != "":
		return kind, "some of the log's rows hold the new text of a turn alone, although " + string(asked) + " was asked for"
	case kind == trace.DeltaTurns && whole == 0:
		return kind, "the log's rows hold the new text of a turn alone"
	case kind == trace.DeltaTurns:
		return kind, fmt.Sprintf("%s of the log's rows hold the new text of a turn alone", grouped(h.delta))
	case h.judged == 0:
		return kind, "the log tells no two prompt lengths of a session to judge by"
	case kind == mixedTurns:
		return kind, fmt.Sprintf("%s, in some sessions more than chance makes, in others not", share)
	case kind == IndependentTurns:
		return kind, share + ", which is no more than chance makes"
	}
	return kind, share
}

// apartStarts is how many sessions of both kinds there are at least for a client
// to be divided by them.
const apartStarts = 100

// apart makes two clients of one that has both conversations and requests that
// stand alone, where their lengths differ: else prompts of the ones would begin
// the others, and be said again in every turn. Who shares blocks at the front
// belongs together.
func (l *log) apart() {
	if l.history.later == l.history.independent || l.blocks.sharing() {
		return
	}
	turns := make([]int32, l.sessions.count)
	for _, s := range l.session {
		if s >= 0 {
			turns[s]++
		}
	}
	alone := func(i int) bool { return l.session[i] < 0 || turns[l.session[i]] == 1 }
	kinds := make([][2][]int32, len(l.clients)) // rows of conversations, and alone
	for i, c := range l.client {
		k := 0
		if alone(i) {
			k = 1
		}
		kinds[c][k] = append(kinds[c][k], int32(i))
	}
	for c := range kinds {
		talks, single := kinds[c][0], kinds[c][1]
		if first := l.starts(talks); len(first) < apartStarts || len(single) < apartStarts || !l.differs(first, talks, single) {
			continue
		}
		n := int32(len(l.clients))
		l.clients = append(l.clients, client{name: l.clients[c].name + "-alone", members: l.clients[c].members, rows: int64(len(single))})
		l.clients[c].rows -= int64(len(single))
		l.say("%s has conversations and requests that stand alone, of other lengths: the latter are %s", l.clients[c].name, l.clients[n].name)
		for _, i := range single {
			l.client[i] = n
		}
	}
}

// differs tells whether requests that stand alone are of other lengths than the
// first prompts of conversations and their answers.
func (l *log) differs(first, talks, alone []int32) bool {
	_, input := differ(values(l.input, first), values(l.input, alone))
	_, output := differ(values(l.output, talks), values(l.output, alone))
	return input || output
}
