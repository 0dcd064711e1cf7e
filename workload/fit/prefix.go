package fit

import (
	"cmp"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// popular is how many sessions began with a front.
type popular struct {
	front    int32
	sessions int64
}

// popularity counts the fronts of session starts, most popular first.
func (l *log) popularity(starts []int32) (list []popular, sessions int64) {
	at := map[int32]int{}
	for _, r := range starts {
		f := l.front[r]
		if f == 0 {
			continue
		}
		k, ok := at[f]
		if !ok {
			k = len(list)
			at[f] = k
			list = append(list, popular{front: f})
		}
		list[k].sessions++
	}
	for _, p := range list {
		sessions += p.sessions
	}
	slices.SortFunc(list, func(a, b popular) int {
		return cmp.Or(cmp.Compare(b.sessions, a.sessions), cmp.Compare(a.front, b.front))
	})
	return list, sessions
}

const (
	// topShare is which share of the sessions with a front makes it stand out,
	// and mostTop how many do at most.
	topShare = 0.01
	mostTop  = 100
)

// fitPrefix models what sessions share at their front: those fronts that stand
// out as they are, the others by Zipf's law.
func (l *log) fitPrefix(starts []int32) *traffic.Prefix {
	list, sessions := l.popularity(starts)
	if len(list) == 0 {
		return nil
	}
	p := &traffic.Prefix{Share: round(min(float64(sessions)/float64(len(starts)), 1))}
	for len(p.Top) < min(len(list)-1, mostTop) && float64(list[len(p.Top)].sessions) >= topShare*float64(sessions) {
		f := list[len(p.Top)]
		p.Top = append(p.Top, traffic.Front{Share: round(float64(f.sessions) / float64(sessions)), Tokens: int64(l.blocks.frontTokens(f.front))})
	}
	rest := list[len(p.Top):]
	lengths := make([]int32, len(rest))
	for i, f := range rest {
		lengths[i] = l.blocks.frontTokens(f.front)
	}
	p.Count, p.Exponent, p.Tokens = int64(len(rest)), round(zipfExponent(rest)), whole(lengths)
	return p
}

// zipfExponent is the likeliest of Zipf's law over ranks.
func zipfExponent(list []popular) float64 {
	n, logs := 0.0, 0.0
	for i, p := range list {
		n += float64(p.sessions)
		logs += float64(p.sessions) * math.Log(float64(i+1))
	}
	if len(list) < 2 {
		return 0
	}
	return golden(1e-3, 20, func(s float64) float64 {
		sum := 0.0
		for k := range list {
			sum += math.Exp(-s * math.Log(float64(k+1)))
		}
		return -s*logs - n*math.Log(sum)
	})
}

// prefixReport says what caches of each size would have found, of the log and
// of a sample of its model.
func (l *log) prefixReport(m *traffic.Model) (*PrefixReport, error) {
	b := l.blocks
	if b.distinct == 0 {
		return nil, nil
	}
	r := &PrefixReport{BlockLengths: b.byPrompts(), Texts: b.texts, Estimated: b.estimated, Blocks: b.distinct, UsedOnce: 1 - float64(b.again)/float64(b.distinct)}
	r.Curve = b.curve()
	if len(r.BlockLengths) > 0 {
		r.BlockTokens = r.BlockLengths[0].Tokens
	}
	if 2*b.estimated <= b.followed { // else the model's lengths are made up
		sampled, err := sampledCurve(m, b, cmp.Or(r.BlockTokens, textBlock), stat.Key(l.options.Seed, "prompts", 0))
		if err != nil {
			return nil, err
		}
		for i := range sampled {
			r.Curve[i].Model = &sampled[i].Hit
		}
	}
	starts := l.starts(allRows(len(l.at)))
	list, sessions := l.popularity(starts)
	r.Fronts, r.FrontShare = int64(len(list)), min(float64(sessions)/float64(max(len(starts), 1)), 1)
	if len(list) > 0 {
		e := zipfExponent(list)
		r.Exponent = &e
	}
	for i, p := range list {
		if i < 20 || i&(i-1) == 0 { // all of the first, then powers of two
			r.Popularity = append(r.Popularity, PopularRank{int64(i + 1), p.sessions})
		}
	}
	if len(b.reuse) > 0 && !l.madeUp {
		slices.Sort(b.reuse)
		p50 := stat.Quantile(b.reuse, .5)
		r.ReuseP50 = &p50
	}
	r.Complete = !b.forgot
	return r, nil
}

func allRows(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}
