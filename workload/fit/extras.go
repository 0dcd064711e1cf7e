package fit

import (
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// singleLimit is the mean number of turns up to which sessions are not
// modelled.
const singleLimit = 1.005

// conversations walks a client's sessions: it counts the turns of each, and
// calls later with each later turn and the one before.
func (l *log) conversations(rows []int32, later func(before, now int32)) (turns []int32) {
	last, number := map[int32]int32{}, map[int32]int32{}
	for _, r := range rows {
		s := l.session[r]
		before, ok := last[s]
		switch {
		case s < 0:
			turns = append(turns, 1)
			continue
		case !ok:
			number[s] = int32(len(turns))
			turns = append(turns, 1)
		default:
			turns[number[s]]++
			if later != nil {
				later(before, r)
			}
		}
		last[s] = r
	}
	return turns
}

// fitSessions models turns, think time, later lengths, jumps, and how they go
// together; nil where nearly all sessions have one turn.
func (l *log) fitSessions(rows []int32, k *traffic.Client, c *client) (*traffic.Sessions, *Together, error) {
	if l.sessions.count == 0 {
		return nil, nil, nil
	}
	var inputs []int32
	turns := l.conversations(rows, func(_, now int32) {
		if l.input[now] > 0 {
			inputs = append(inputs, l.input[now])
		}
	})
	if meanOf(turns) <= singleLimit {
		return nil, nil, nil
	}
	chats := l.chats(rows, len(turns))
	l.rankTurns(k.Lengths, chats)
	s := &traffic.Sessions{}
	jumps := l.jumps(chats)
	s.Jump = round(jump(jumps, l.inputsAlike(chats)))
	c.jump, c.jumps = s.Jump, len(jumps)
	s.Think, c.ends = l.fitThink(chats)
	u, inputs, err := l.selected(k, s, chats, inputs, c.ends)
	if err != nil {
		return nil, nil, err
	}
	if c.ends {
		c.took = l.meanTook(rows)
	}
	c.turns = meanOf(u.turns(len(turns)))
	if len(inputs) > 0 {
		_, s.Input = chooseLength(newTokens(inputs))
	}
	s.OutputAlike = l.outputsAlike(k.Lengths, chats)
	return s, &Together{FirstBins: u.sides[0], LaterBins: u.sides[1], InputAlike: s.InputAlike, OutputAlike: s.OutputAlike}, nil
}

// fitThink is the time of think, nil where it is not known; ends says that the log
// shows when turns came, so that it ends before some of them.
func (l *log) fitThink(chats []*chat) (d stat.Distribution, ends bool) {
	list := newUncut(l.seenOf(chats, [2]int{})).thinks()
	if ends = len(list) > 0; !ends {
		list = slices.Clone(l.thinks)
		slices.Sort(list)
	}
	if len(list) == 0 {
		return nil, false
	}
	return table(list), ends
}

func meanOf(list []int32) float64 {
	sum := 0.0
	for _, x := range list {
		sum += float64(x)
	}
	return sum / float64(len(list))
}

// meanTook is how long the service took in the mean, in s, 0 where the log does
// not say.
func (l *log) meanTook(rows []int32) float64 {
	if l.took == nil {
		return 0
	}
	sum := 0.0
	for _, r := range rows {
		sum += float64(l.took[r])
	}
	return sum / float64(len(rows))
}

// timely tells whether the log says when a later turn came.
func (l *log) timely(turn int32) bool { return !l.madeUp && l.flags[turn]&flagNoTime == 0 }

// think is the wait before a turn: from the end of the answer before where the
// log says how long it took, else from the request before.
func (l *log) think(before, now int32) float64 {
	wait := float64(l.at[now]-l.at[before]) / 1e9
	if l.took != nil {
		wait -= float64(l.took[before])
	}
	return max(wait, 0)
}

const (
	// sameShare and sameTokens are how near the lengths of two turns are that
	// count as alike.
	sameShare  = 0.05
	sameTokens = 2
)

// jumps are the new text of later turns and of the later turn before. The first of
// a session has none before it: what begins a session is of other lengths.
func (l *log) jumps(chats []*chat) [][2]int32 {
	var out [][2]int32
	for _, c := range chats {
		for i := 2; i < len(c.rows); i++ {
			if before, now := l.input[c.rows[i-1]], l.input[c.rows[i]]; before > 0 && now > 0 {
				out = append(out, [2]int32{before, now})
			}
		}
	}
	return out
}

// jump is the chance that a turn's length is drawn anew: of the turns whose
// length is like that of the turn before, those are taken off that would be by
// chance, given how alike the later turns of a session are.
func jump(list [][2]int32, alike float64) float64 {
	n := float64(len(list))
	if n == 0 {
		return 1
	}
	same := 0.0
	now := make([]float64, len(list))
	for i, p := range list {
		if near(float64(p[0]), float64(p[1])) {
			same++
		}
		now[i] = float64(p[1])
	}
	slices.Sort(now)
	upTo := func(x float64) float64 {
		k, _ := slices.BinarySearch(now, x)
		return float64(k) / n
	}
	chance := 0.0
	for _, p := range list {
		x := float64(p[0])
		room := max(x*sameShare, sameTokens)
		low, high := upTo(x-room), upTo(math.Nextafter(x+room, math.Inf(1)))
		if alike > 0 {
			at := scoreOf((upTo(x) + upTo(math.Nextafter(x, math.Inf(1)))) / 2)
			given := func(share float64) float64 {
				return stat.Normal{SD: math.Sqrt(1 - alike*alike), Average: alike * at}.Share(scoreOf(share))
			}
			low, high = given(low), given(high)
		}
		chance += (high - low) / n
	}
	if chance >= 1 {
		return 1
	}
	stays := (same/n - chance) / (1 - chance)
	return min(max(1-stays, 1e-3), 1) // 0 would mean always
}

func near(a, b float64) bool { return math.Abs(a-b) <= max(a*sameShare, sameTokens) }

// whole is the distribution of small whole numbers as a table of quantiles
// whose steps are steep, so that rounding gives the numbers back.
func whole[T ~int32 | ~uint8](list []T) stat.Distribution {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	n := len(sorted)
	if sorted[0] == sorted[n-1] {
		return stat.Constant(sorted[0])
	}
	var q stat.Quantiles
	add := func(p, v float64) {
		if k := len(q.Share); k > 0 && p <= q.Share[k-1] {
			q.Value[k-1] = v
			return
		}
		q.Share, q.Value = append(q.Share, p), append(q.Value, v)
	}
	add(0, float64(sorted[0]))
	const finest = 40 // distinct values; beyond them a table of quantiles
	distinct := 0
	for i := 1; i < n && distinct < finest; i++ {
		if sorted[i] != sorted[i-1] {
			distinct++
			p := round(float64(i) / float64(n))
			add(p, float64(sorted[i-1]))
			add(p+1e-7, float64(sorted[i]))
		}
	}
	if distinct == finest {
		values := make([]float64, n)
		for i, v := range sorted {
			values[i] = float64(v)
		}
		return table(values)
	}
	add(1, float64(sorted[n-1]))
	return q
}

// table is the table of quantiles of ascending values.
func table(ascending []float64) stat.Distribution {
	if ascending[0] == ascending[len(ascending)-1] {
		return stat.Constant(round(ascending[0]))
	}
	var q stat.Quantiles
	for _, p := range tableShares {
		v := ascending[0]
		if p > 0 {
			v = stat.Quantile(ascending, p)
		}
		q.Share, q.Value = append(q.Share, p), append(q.Value, round(v))
	}
	return q
}

// fitReasoning is the share of answers that is reasoning; nil where the log
// says it of none. Where it says it of some, the others count as none: services
// leave it out of answers without.
func (l *log) fitReasoning(rows []int32) stat.Distribution {
	var list []float64
	told := false
	for _, r := range rows {
		switch s := l.share[r]; {
		case s != noShare:
			told = true
			list = append(list, float64(s)/shareUnit)
		case l.output[r] > 0:
			list = append(list, 0)
		}
	}
	if !told {
		return nil
	}
	slices.Sort(list)
	return table(list)
}

func (l *log) fitImages(rows []int32) stat.Distribution {
	list := make([]uint8, len(rows))
	some := false
	for i, r := range rows {
		list[i] = l.images[r]
		some = some || list[i] > 0
	}
	if !some {
		return nil
	}
	return whole(list)
}

func (l *log) errorShare(rows []int32) float64 {
	failed := 0
	for _, r := range rows {
		if l.flags[r]&flagFailed != 0 {
			failed++
		}
	}
	return float64(failed) / float64(len(rows))
}
