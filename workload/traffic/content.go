package traffic

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

const (
	// maxTokens bounds a drawn length: above every model's context.
	maxTokens = 10_000_000
	// maxTurns bounds a session, maxImages a request.
	maxTurns  = 10_000
	maxImages = 1000
)

// mould is what the sessions of a client, and of those that a scale made of it,
// are drawn from.
type mould struct {
	client *Client
	grids  []grid
	ranks  stat.Zipf         // of prefixes
	later  stat.Distribution // new text of later turns; nil: as of the first
	joint  *joint            // how the turns of a session go together; nil: independent
}

func newMould(c *Client) *mould {
	m := &mould{client: c}
	if s := c.Sessions; s != nil {
		m.joint = newJoint(s)
		if s.Input != nil {
			m.later = stat.Prepared(s.Input)
		}
	}
	for i := range c.Lengths {
		m.grids = append(m.grids, grid{Lengths: &c.Lengths[i]})
	}
	if p := c.Prefix; p != nil {
		m.ranks = stat.NewZipf(p.Exponent, p.Count, 1)
	}
	return m
}

// content draws what a client's sessions hold. Each session draws from
// generators of its own number.
type content struct {
	*mould
	seed     uint64
	lengths  *stat.Keyed
	sessions *stat.Keyed
	turned   *stat.Keyed
	levels   *stat.Keyed
	goesOn   *stat.Keyed
	prefixes map[int64]int64 // tokens by rank, of those met
}

func newContent(m *mould, seed uint64) *content {
	return &content{mould: m, seed: seed, lengths: stat.NewKeyed(seed, "lengths"), sessions: stat.NewKeyed(seed, "session"),
		turned: stat.NewKeyed(seed, "turns"), levels: stat.NewKeyed(seed, "levels"), goesOn: stat.NewKeyed(seed, "goes on"), prefixes: map[int64]int64{}}
}

// at returns the lengths in force at a moment of the period.
func (k *content) at(moment time.Duration) *grid {
	i := len(k.grids) - 1
	for i > 0 && k.grids[i].From > moment {
		i--
	}
	g := &k.grids[i]
	if g.input == nil {
		g.prepare()
	}
	return g
}

// draw fills in what belongs to a session and its first turn.
func (k *content) draw(d *Draw, moment time.Duration) {
	g := k.at(moment)
	r := k.lengths.At(uint64(d.Index))
	d.rank = r.Float64()
	d.Input = whole(g.input.Quantile(d.rank), 1, maxTokens)
	bin, within := r.Float64(), r.Float64()
	if k.joint != nil {
		d.level = drawLevel(k.levels.At(uint64(d.Index)))
	}
	d.Output = k.answer(g, d, d.rank, bin, within)
	d.Turns = 1
	c := k.client
	if c.Sessions == nil && c.Prefix == nil && c.Reasoning == nil && c.Images == nil {
		return
	}
	r = k.sessions.At(uint64(d.Index))
	front, popularity := r.Float64(), r.Float64()
	turns, reasoning, images := r.Float64(), r.Float64(), r.Float64()
	if c.Prefix != nil && front < c.Prefix.Share {
		d.Prefix = k.rank(popularity)
		d.PrefixTokens = k.prefix(d.Prefix)
	}
	if c.Sessions != nil {
		if k.joint != nil && k.joint.selects() {
			d.Turns = k.walk(d)
		} else {
			d.Turns = whole(c.Sessions.Turns.Quantile(turns), 1, maxTurns)
		}
	}
	if c.Reasoning != nil {
		d.Reasoning = share(c.Reasoning.Quantile(reasoning), d.Output)
	}
	if c.Images != nil {
		d.Images = whole(c.Images.Quantile(images), 0, maxImages)
	}
}

// rank is that of the prefix that a number from [0, 1) falls on: the ones that
// stand out come first, then Zipf's law over the others.
func (k *content) rank(popularity float64) int64 {
	top := k.client.Prefix.Top
	for i, f := range top {
		if popularity < f.Share {
			return int64(i + 1)
		}
		popularity -= f.Share
	}
	rest := 1.0
	for _, f := range top {
		rest -= f.Share
	}
	if rest <= 0 {
		return int64(len(top))
	}
	return int64(len(top)) + int64(k.ranks.Quantile(min(popularity/rest, 1)))
}

// prefix returns how long the prefix of a rank is.
func (k *content) prefix(rank int64) int64 {
	if top := k.client.Prefix.Top; rank <= int64(len(top)) {
		return top[rank-1].Tokens
	}
	n, ok := k.prefixes[rank]
	if !ok {
		n = whole(k.client.Prefix.Tokens.Sample(stat.Random(k.seed, "prefix", uint64(rank))), 1, maxTokens)
		k.prefixes[rank] = n
	}
	return n
}

// turns appends the turns of a session.
func (k *content) turns(d *Draw, moment time.Duration, list []Turn) []Turn {
	list = append(list, Turn{Input: d.Input, Output: d.Output, Reasoning: d.Reasoning, Images: d.Images})
	if d.Turns == 1 {
		return list
	}
	c := k.client
	s := c.Sessions
	g := k.at(moment)
	input, rank := d.Input, d.rank
	for t := int64(1); t < d.Turns; t++ {
		r := k.turned.At(uint64(d.Index)<<14 | uint64(t))
		if anew, yes := k.jumps(d, t, r); yes {
			rank = anew
			of := k.later
			if of == nil {
				of = g.input
			}
			input = whole(of.Quantile(rank), 1, maxTokens)
		}
		n := Turn{Input: input, Output: k.answer(g, d, rank, r.Float64(), r.Float64())}
		if s.Think != nil {
			n.Think = seconds(s.Think.Quantile(r.Float64()))
		}
		if c.Reasoning != nil {
			n.Reasoning = share(c.Reasoning.Quantile(r.Float64()), n.Output)
		}
		if c.Images != nil {
			n.Images = whole(c.Images.Quantile(r.Float64()), 0, maxImages)
		}
		list = append(list, n)
	}
	return list
}

// jumps tells whether the new text of a later turn is drawn anew, and its rank.
// Where later turns have lengths of their own the first of them always is.
func (k *content) jumps(d *Draw, turn int64, r *rand.Rand) (rank float64, yes bool) {
	chance := k.client.Sessions.Jump
	jump, anew := r.Float64(), r.Float64()
	if chance != 0 && jump >= chance && (turn > 1 || k.later == nil) {
		return 0, false
	}
	if k.joint != nil {
		anew = alike(k.joint.InputAlike, d.level.input, anew)
	}
	return anew, true
}

// walk draws how many turns a session has where that depends on what is sent.
func (k *content) walk(d *Draw) int64 {
	rank, turns := d.rank, int64(1)
	for turns < maxTurns {
		key := uint64(d.Index)<<14 | uint64(turns)
		if k.goesOn.At(key).Float64() >= k.joint.chance(turns, rank) {
			break
		}
		if anew, yes := k.jumps(d, turns, k.turned.At(key)); yes {
			rank = anew
		}
		turns++
	}
	return turns
}

// answer draws an answer's length given the rank of the input.
func (k *content) answer(g *grid, d *Draw, rank, bin, within float64) int64 {
	if k.joint != nil && k.joint.OutputAlike > 0 {
		return g.answerAt(rank, alike(k.joint.OutputAlike, d.level.output, bin))
	}
	return g.answer(rank, bin, within)
}

// grid draws lengths that go together.
type grid struct {
	*Lengths
	input, output stat.Distribution // nil until prepared
	upTo          [][]float64       // sums of each row of the balanced grid; nil: independent
}

func (g *grid) prepare() {
	g.input = stat.Prepared(g.Input)
	if g.Output != nil {
		g.output = stat.Prepared(g.Output)
	}
	for _, row := range balanced(g.Ranks) {
		g.upTo = append(g.upTo, sums(row))
	}
}

// answer draws an answer's length given the rank of the input: 0 where the
// server decides.
func (g *grid) answer(rank, bin, within float64) int64 {
	if g.output == nil {
		return 0
	}
	if n := len(g.upTo); n > 0 {
		row := g.upTo[min(int(rank*float64(n)), n-1)]
		within = (float64(choose(row, bin)) + within) / float64(n)
	}
	return whole(g.output.Quantile(within), 1, maxTokens)
}

// answerAt is the answer that a share of those to an input of a rank are no longer
// than.
func (g *grid) answerAt(rank, share float64) int64 {
	if g.output == nil {
		return 0
	}
	return whole(g.output.Quantile(given(g.upTo, rank, share)), 1, maxTokens)
}

// balanced scales rows and columns of a grid in turn until each adds up to the
// same, so that the ranks of either length are uniform and the lengths keep
// their own distributions (iterative proportional fitting).
func balanced(grid [][]float64) [][]float64 {
	n := len(grid)
	g := make([][]float64, n)
	for i := range grid {
		g[i] = slices.Clone(grid[i])
	}
	for range 100 {
		columns := make([]float64, n)
		for i := range g {
			scale(g[i], 1/float64(n))
			for j, x := range g[i] {
				columns[j] += x
			}
		}
		off := 0.0
		for j, sum := range columns {
			off = max(off, math.Abs(sum*float64(n)-1))
			for i := range g {
				g[i][j] /= sum * float64(n)
			}
		}
		if off < 1e-9 {
			break
		}
	}
	return g
}

// scale makes a row add up to a sum.
func scale(row []float64, sum float64) {
	total := 0.0
	for _, x := range row {
		total += x
	}
	for i := range row {
		row[i] = float64(row[i]/total) * sum
	}
}

func whole(x, least, most float64) int64 { return int64(math.Floor(min(max(x, least), most) + 0.5)) }

// share returns a share of a length, in tokens.
func share(x float64, of int64) int64 {
	return whole(float64(min(max(x, 0), 1)*float64(of)), 0, maxTokens)
}

func seconds(x float64) time.Duration {
	const year = 365 * 24 * 3600
	return time.Duration(float64(min(max(x, 0), year) * 1e9))
}
