package fit

import (
	"math"
	"slices"
	"sort"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// Together says how the turns of a client's sessions go together in the model.
type Together struct {
	// FirstBins are the rank bins of first prompts after which sessions go on with
	// odds of their own, LaterBins those of later new text; 0: as likely after each.
	FirstBins int `json:"first_bins"`
	LaterBins int `json:"later_bins"`
	// InputAlike and OutputAlike are the correlations in a session of the normal
	// scores of later new text and of answers; 0: none.
	InputAlike  float64 `json:"input_alike"`
	OutputAlike float64 `json:"output_alike"`
}

// chat is a session of a client by its rows: at least one.
type chat struct {
	rows   []int32
	odd    bool      // begun in a slice that is held out
	input  []float64 // rank of each row's new text: of the first among first prompts, of others among later turns; NaN where not known
	output []float64 // rank of each row's answer
	seen   []float64 // input as the log has it
}

// leastAlike is how many sessions of two values each half has at least for their
// correlation to be told.
const leastAlike = 50

// binsTried are the rank bins of new text that sessions may go on after with odds
// of their own.
var binsTried = [...]int{3, 5, 8}

// goOn finds out how sessions go on: the rank bins that make the sessions begun in
// the odd slices likeliest, fitted in those of the even ones, none where the same
// odds after all make them likelier.
func (l *log) goOn(chats []*chat) *uncut {
	var even, odd []*chat
	for _, c := range chats {
		if c.odd {
			odd = append(odd, c)
		} else {
			even = append(even, c)
		}
	}
	var sides [2]int
	if len(even) >= leastRows && len(odd) >= leastRows {
		most := newUncut(l.seenOf(even, sides)).likelihoods(l.seenOf(odd, sides))
		for _, n := range binsTried {
			tried := [2]int{n, n}
			for later, x := range newUncut(l.seenOf(even, tried)).likelihoods(l.seenOf(odd, tried)) {
				if x > most[later] {
					most[later], sides[later] = x, n
				}
			}
		}
	}
	return newUncut(l.seenOf(chats, sides))
}

// inputsAlike is how alike the new texts of a session's later turns are.
func (l *log) inputsAlike(chats []*chat) float64 {
	return alikeness(chats, 1, func(c *chat, i int) float64 { return c.input[i] })
}

// outputsAlike is how alike its answers are, beyond what their inputs make them.
func (l *log) outputsAlike(list []traffic.Lengths, chats []*chat) float64 {
	return alikeness(chats, 0, func(c *chat, i int) float64 {
		return shareGiven(l.lengthsAt(list, c.rows[0]).Ranks, c.input[i], c.output[i])
	})
}

// chats lists the sessions of a client in the order of their beginnings, at most
// about mostPairs of n, evenly taken.
func (l *log) chats(rows []int32, n int) []*chat {
	step := max((n+mostPairs-1)/mostPairs, 1)
	var out []*chat
	at, begun := make([]*chat, l.sessions.count), make([]bool, l.sessions.count)
	i := -1
	for _, r := range rows {
		s := l.session[r]
		if s < 0 || !begun[s] {
			i++
			var c *chat
			if i%step == 0 {
				c = &chat{odd: l.sliceOf(r)%2 == 1, rows: []int32{r}}
				out = append(out, c)
			}
			if s >= 0 {
				at[s], begun[s] = c, true
			}
			continue
		}
		if c := at[s]; c != nil {
			c.rows = append(c.rows, r)
		}
	}
	return out
}

// lengthsAt are the lengths in force at a session's beginning.
func (l *log) lengthsAt(list []traffic.Lengths, first int32) *traffic.Lengths {
	i := len(list) - 1
	for i > 0 && int64(list[i].From) > l.at[first] {
		i--
	}
	return &list[i]
}

// rankTurns fills in the ranks of the rows of sessions as a sampler draws them:
// first prompts and answers among those that the same lengths are of.
func (l *log) rankTurns(list []traffic.Lengths, chats []*chat) {
	first, answers := map[*traffic.Lengths]*ranked{}, map[*traffic.Lengths]*ranked{}
	var later ranked
	for _, c := range chats {
		n := len(c.rows)
		at := l.lengthsAt(list, c.rows[0])
		if first[at] == nil {
			first[at], answers[at] = &ranked{}, &ranked{}
		}
		c.input, c.output = make([]float64, n), make([]float64, n)
		for i, r := range c.rows {
			answers[at].add(l.output[r], &c.output[i])
			if i == 0 {
				first[at].add(l.newText(r), &c.input[0])
				continue
			}
			later.add(l.input[r], &c.input[i])
		}
	}
	later.rank("later ranks")
	defer func() {
		for _, c := range chats {
			c.seen = slices.Clone(c.input)
		}
	}()
	for i := range list {
		if f := first[&list[i]]; f != nil {
			f.rank("first ranks")
			answers[&list[i]].rank("answer ranks")
		}
	}
}

// ranked are lengths whose ranks are wanted somewhere.
type ranked struct {
	value []int32
	to    []*float64
}

func (r *ranked) add(value int32, to *float64) {
	*to = math.NaN()
	if value > 0 {
		r.value, r.to = append(r.value, value), append(r.to, to)
	}
}

// rank gives each value its rank among all as a share in (0, 1), equal ones in
// random order.
func (r *ranked) rank(purpose stat.Stream) {
	n := len(r.value)
	order, chance := make([]int32, n), make([]uint32, n)
	random := stat.Random(0, purpose, 0)
	for i := range order {
		order[i], chance[i] = int32(i), random.Uint32()
	}
	sort.Slice(order, func(a, b int) bool {
		x, y := order[a], order[b]
		if r.value[x] != r.value[y] {
			return r.value[x] < r.value[y]
		}
		return chance[x] < chance[y]
	})
	for k, i := range order {
		*r.to[i] = (float64(k) + .5) / float64(n)
	}
}

// shareGiven is the share of what goes with a rank that is no more than another
// rank: what a sampler draws the other with. NaN where a rank is not known and needed.
func shareGiven(grid [][]float64, rank, other float64) float64 {
	n := len(grid)
	if n == 0 || math.IsNaN(other) {
		return other
	}
	if math.IsNaN(rank) {
		return math.NaN()
	}
	row := grid[min(int(rank*float64(n)), n-1)]
	at := other * float64(n)
	k := min(int(at), n-1)
	below, all := 0.0, 0.0
	for j, x := range row {
		if j < k {
			below += x
		}
		all += x
	}
	return (below + row[k]*(at-float64(k))) / all
}

// alikeness is the correlation of the normal scores of shares in the sessions:
// each session's are normal with one of the same mean for all of its own. It is that
// which makes the even slices likeliest if that makes the odd ones likelier than none
// does, then of both; else 0.
func alikeness(chats []*chat, from int, share func(c *chat, i int) float64) float64 {
	var even, odd []scores
	for _, c := range chats {
		var s scores
		for i := from; i < len(c.rows); i++ {
			if p := share(c, i); !math.IsNaN(p) {
				s.add(scoreOf(p))
			}
		}
		switch {
		case s.n < 2:
		case c.odd:
			odd = append(odd, s)
		default:
			even = append(even, s)
		}
	}
	if len(even) < leastAlike || len(odd) < leastAlike || likelihood(odd, likeliestOf(even)) <= 0 {
		return 0
	}
	return round(likeliestOf(append(even, odd...)))
}

// scoreOf is the normal score of a share.
func scoreOf(share float64) float64 {
	return stat.Normal{SD: 1}.Quantile(min(max(share, 1e-9), 1-1e-9))
}

// scores are the normal scores of one session.
type scores struct{ n, sum, squares float64 }

func (s *scores) add(x float64) { s.n, s.sum, s.squares = s.n+1, s.sum+x, s.squares+x*x }

// likelihood is by how many nats a correlation makes sessions likelier than none:
// the covariance of n scores has the eigenvalues 1 + (n-1)ρ, once, and 1 - ρ.
func likelihood(list []scores, correlation float64) float64 {
	sum := 0.0
	for i := range list {
		s := &list[i]
		mean := s.sum * s.sum / s.n
		wide, narrow := 1+(s.n-1)*correlation, 1-correlation
		sum -= (math.Log(wide) + (s.n-1)*math.Log(narrow) + mean/wide + (s.squares-mean)/narrow - s.squares) / 2
	}
	return sum
}

// leastCorrelation is the least that is told from none.
const leastCorrelation = 0.01

// likeliestOf is the correlation that makes sessions likeliest.
func likeliestOf(list []scores) float64 {
	return golden(leastCorrelation, traffic.MaxAlike, func(c float64) float64 { return likelihood(list, c) })
}
