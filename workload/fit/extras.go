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

// fitSessions models turns, think time, later lengths and jumps; nil where
// nearly all sessions have one turn.
func (l *log) fitSessions(rows []int32) *traffic.Sessions {
	if l.sessions.count == 0 {
		return nil
	}
	var thinks []float64
	var inputs []int32
	var pairs [][2]int32
	turns := l.conversations(rows, func(before, now int32) {
		if l.timely(now) {
			thinks = append(thinks, l.think(before, now))
		}
		if l.input[now] > 0 {
			inputs = append(inputs, l.input[now])
			if l.input[before] > 0 {
				pairs = append(pairs, [2]int32{l.newText(before), l.input[now]})
			}
		}
	})
	mean := 0.0
	for _, t := range turns {
		mean += float64(t) / float64(len(turns))
	}
	if mean <= singleLimit {
		return nil
	}
	s := &traffic.Sessions{Turns: whole(turns), Jump: round(jump(pairs))}
	if len(thinks) == 0 {
		thinks = slices.Clone(l.thinks)
	}
	if len(thinks) > 0 {
		slices.Sort(thinks)
		s.Think = table(thinks)
	}
	if len(inputs) > 0 {
		_, s.Input = chooseLength(newTokens(inputs))
	}
	return s
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

// jump is the chance that a turn's length is drawn anew: of the turns whose
// length is like that of the turn before, those are taken off that would be by
// chance.
func jump(list [][2]int32) float64 {
	n := len(list)
	if n == 0 {
		return 1
	}
	alike := 0
	before, now := make([]float64, n), make([]float64, n)
	for i, p := range list {
		if near(float64(p[0]), float64(p[1])) {
			alike++
		}
		before[i], now[i] = float64(p[0]), float64(p[1])
	}
	slices.Sort(now)
	chance := 0.0
	for _, x := range before {
		room := max(x*sameShare, sameTokens)
		low, _ := slices.BinarySearch(now, x-room)
		high, _ := slices.BinarySearch(now, math.Nextafter(x+room, math.Inf(1)))
		chance += float64(high-low) / float64(n) / float64(n)
	}
	if chance >= 1 {
		return 1
	}
	stays := (float64(alike)/float64(n) - chance) / (1 - chance)
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
