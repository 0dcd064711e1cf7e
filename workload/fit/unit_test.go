package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// The distance in the stack is the tokens of the different blocks used since, as
// a list that moves each used block to its end tells it.
func TestStackAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBlocks([]int64{16})
		size := func(id uint64) int64 { return 16 << (id % 3) }
		var list []uint64
		for range rapid.IntRange(1, 6000).Draw(t, "n") {
			id := uint64(rapid.IntRange(0, 40).Draw(t, "id"))
			if at := slices.Index(list, id); at >= 0 {
				want := int64(0)
				for _, later := range list[at:] {
					want += size(later)
				}
				if got := b.stack.distance(b.all[b.known[id]].place); got != want {
					t.Fatalf("block %d: %d, want %d", id, got, want)
				}
				list = slices.Delete(list, at, at+1)
			}
			list = append(list, id)
			b.use(-1, id, size(id), 0, 0)
		}
	})
}

// More tokens than the stack's sums hold are forgotten, oldest first.
func TestStackForgets(t *testing.T) {
	b := newBlocks(nil)
	const size = 1 << 30
	for id := range uint64(10) {
		b.use(-1, id, size, 0, 0)
	}
	if !b.forgot || b.stack.used >= mostStacked {
		t.Errorf("forgot %v, %d tokens", b.forgot, b.stack.used)
	}
	if got := b.stack.distance(b.all[b.known[9]].place); got != size {
		t.Errorf("the last block lies %d tokens deep", got)
	}
	if _, ok := b.known[0]; ok {
		t.Error("the oldest block is still known")
	}
}

// By hand, blocks of 10 tokens, two blocks of cache: prompts a b, a c, b. The
// second finds a; the third's b was pushed out by c. Unlimited finds b too, but
// of a prompt of exactly its length the last token is always computed.
func TestPrefixByHand(t *testing.T) {
	b := newBlocks([]int64{20, 30})
	for i, p := range []struct {
		ids   []uint64
		input int64
	}{{[]uint64{1, 2}, 20}, {[]uint64{1, 3}, 25}, {[]uint64{2}, 11}, {[]uint64{2}, 10}} {
		b.add(b.promptOf(&trace.Row{Input: p.input, Output: 1000, Blocks: p.ids, BlockTokens: 10}, nil), int32(i))
	}
	var got []float64
	for _, p := range b.curve() {
		got = append(got, p.Hit*66)
	}
	for i, want := range []float64{10, 20, 20} {
		if math.Abs(got[i]-want) > 1e-9 {
			t.Errorf("found %v tokens, want 10, 20, 20", got)
		}
	}
}

// Gaps drawn from a process give its CV back, and it is the likeliest.
func TestRenewalIsRecovered(t *testing.T) {
	r := stat.Random(5, "test", 0)
	for _, c := range []struct {
		name string
		draw func() float64
		cv   float64
		of   func(*gaps) (float64, float64)
	}{
		{"gamma", func() float64 { return stat.Gamma{Average: 1, CV: 2}.Sample(r) }, 2, (*gaps).gamma},
		{"weibull", func() float64 { return stat.WeibullOf(1, 1.7).Sample(r) }, 1.7, (*gaps).weibull},
	} {
		at := []float64{0}
		for range 40_000 {
			at = append(at, at[len(at)-1]+c.draw())
		}
		g := newGaps(at, 1e-12, nil)
		cv, likelihood := c.of(g)
		if math.Abs(cv/c.cv-1) > .01 {
			t.Errorf("%s: CV %.3f, want %v", c.name, cv, c.cv)
		}
		_, gamma := g.gamma()
		_, weibull := g.weibull()
		if best := max(gamma, weibull, g.poissonLikelihood()); likelihood != best {
			t.Errorf("%s: its likelihood %.0f is not the best: %.0f", c.name, likelihood, best)
		}
	}
}

// By hand: exponential gaps 1 and 3 have mean 2 and are scaled to ½ and 1½,
// whose log-likelihood is -2; a gamma of shape 1 is the same.
func TestLikelihoodByHand(t *testing.T) {
	g := newGaps([]float64{0, 1, 4}, 1e-9, nil)
	if got := g.poissonLikelihood(); math.Abs(got+2) > 1e-12 {
		t.Errorf("got %v, want -2", got)
	}
	if a, b := g.gammaLikelihood(1), g.weibullLikelihood(1); math.Abs(a+2) > 1e-12 || math.Abs(b+2) > 0.01 {
		t.Errorf("shape 1: gamma %v, weibull %v, want -2", a, b)
	}
	if got := g.cv(); math.Abs(got-.5) > 1e-12 {
		t.Errorf("CV %v, want ½", got)
	}
}

// Lengths drawn from a family are given back as that family, near its
// parameters, and pass its own goodness of fit.
func TestFamiliesAreRecovered(t *testing.T) {
	for name, d := range map[string]stat.Distribution{
		familyLognormal: stat.Lognormal{Average: 900, CV: 1.1}, familyGamma: stat.Gamma{Average: 400, CV: .7},
		familyWeibull: stat.Weibull{Shape: 1.8, Scale: 500}, familyPareto: stat.Pareto{Body: stat.Lognormal{Average: 500, CV: .6}, From: 873, Alpha: 1.8},
		familyZipf: stat.NewZipf(1.1, 64, 50),
	} {
		r := stat.Random(9, stat.Stream(name), 0)
		list := make([]int32, 20_000)
		for i := range list {
			list[i] = int32(max(math.Round(d.Sample(r)), 1))
		}
		f, got := chooseLength(newTokens(list))
		if f.Chosen != name {
			t.Errorf("%s was taken for %s: %s", name, f.Chosen, f.Why)
		}
		for _, p := range []float64{.5, .9, .95} {
			if a, b := got.Quantile(p), d.Quantile(p); math.Abs(a/b-1) > .05 {
				t.Errorf("%s: p%v is %v, want %v", name, 100*p, a, b)
			}
		}
	}
}

// By hand: of lengths 1, 1, 3 against a distribution with a half up to 1.5 and
// all from 2.5 on: KS is 1/3 (between 2.5 and 3: 2/3 against 1).
func TestAgainstByHand(t *testing.T) {
	tokens := newTokens([]int32{3, 1, 1})
	_, ks, _ := tokens.against(func(x float64) float64 {
		switch {
		case x < 1:
			return 0
		case x < 2.5:
			return .5
		}
		return 1
	})
	if math.Abs(ks-1.0/3) > 1e-12 {
		t.Errorf("KS %v, want 1/3", ks)
	}
	if tokens.quantile(.5) != 1 || tokens.quantile(.7) != 3 {
		t.Error("quantiles")
	}
}

// By hand: of four turns two keep their length; two different lengths, each
// half of the later ones, agree by chance in half of the cases. So nothing is
// left of staying: all are drawn anew. Four that stay among four lengths: none.
func TestJumpByHand(t *testing.T) {
	if got := jump([][2]int32{{100, 100}, {100, 500}, {500, 500}, {500, 100}}, 0); math.Abs(got-1) > 1e-9 {
		t.Errorf("got %v, want 1", got)
	}
	if got := jump([][2]int32{{100, 100}, {500, 501}, {900, 900}, {2000, 2050}}, 0); got != 1e-3 {
		t.Errorf("got %v, want the least", got)
	}
}

// By hand: half of the pairs in each of two opposite cells are at distance ½
// from independence.
func TestGridByHand(t *testing.T) {
	g := grid([]float64{.1, .2, .8, .9}, []float64{.2, .1, .9, .8}, 2)
	if got := apart(g, evenGrid(2)); got != .5 {
		t.Errorf("got %v, want ½", got)
	}
	if got := spearman(ranks([]int32{1, 2, 3, 4}, "a"), ranks([]int32{10, 20, 30, 40}, "b")); math.Abs(got-(1-1.0/16)) > 1e-12 {
		t.Errorf("rank correlation %v", got)
	}
}

// Stamps in whole seconds are told, and so are batches.
func TestTicks(t *testing.T) {
	at := func(f func(i int) int64) *log {
		l := newLog(Options{})
		for i := range 200 {
			l.add(&trace.Row{Timed: true, At: f(i), Input: 5, Output: 5})
		}
		l.finish()
		return l
	}
	if l := at(func(i int) int64 { return int64(i) * 2 * 1e9 / 3 / 1e9 * 1e9 }); l.stamps.Tick != 1 || !l.stamps.Jittered {
		t.Errorf("seconds: %+v", l.stamps)
	}
	if l := at(func(i int) int64 { return int64(i/10)*3e9 + int64(i/10%3)*17 }); math.Abs(l.stamps.Tick-3) > 1e-6 || !l.stamps.Jittered {
		t.Errorf("batches: %+v", l.stamps)
	}
	r := rand.New(rand.NewPCG(1, 2))
	now := int64(0)
	if l := at(func(int) int64 { now += r.Int64N(1e9); return now }); l.stamps.Tick != 0 || l.stamps.Jittered {
		t.Errorf("exact: %+v", l.stamps)
	}
}

// A day's wave over four days is found, and none in a level rate.
func TestSeason(t *testing.T) {
	r := stat.Random(1, "test", 0)
	const day = 24 * 3600.0
	var wave, level []float64
	gap := stat.Exponential{Average: 20}
	for x := 0.0; x < 4*day; x += gap.Sample(r) {
		level = append(level, x)
		if r.Float64() < .5+.5*math.Sin(2*math.Pi*x/day) {
			wave = append(wave, x)
		}
	}
	if s := season(wave, 4*day); s == nil || s.Period != day || s.Strength < .9 {
		t.Errorf("%+v", s)
	}
	if s := season(level, 4*day); s != nil {
		t.Errorf("of a level rate: %+v", s)
	}
}

// Names with many requests are clients of their own, the others go together.
func TestClients(t *testing.T) {
	l := newLog(Options{})
	at := int64(0)
	add := func(tenant string, n int, input int64) {
		for range n {
			at += 1e8 + at%7
			l.add(&trace.Row{Timed: true, At: at, Tenant: tenant, Input: input, Output: 3})
		}
	}
	add("small-1", 30, 10)
	add("large", 900, 100)
	add("small-2", 40, 5000)
	add("medium", 300, 100)
	l.finish()
	want := []client{{name: "client-1", members: 1, rows: 900}, {name: "client-2", members: 1, rows: 300}, {name: "group-1", members: 2, rows: 70}}
	if !slices.Equal(l.clients, want) {
		t.Errorf("%+v, want %+v", l.clients, want)
	}
}

// A session that goes from one model to another is all of the one that began it.
func TestSessionsStayTogether(t *testing.T) {
	l := newLog(Options{})
	for i := range 1200 {
		model := []string{"first", "second"}[i%2]
		if i >= 1000 {
			model = "second"
		}
		l.add(&trace.Row{Timed: true, At: int64(i)*1e9 + int64(i*i)%997, Model: model, Session: fmt.Sprint(i / 4), Delta: true, Input: 10, Output: 3})
	}
	l.finish()
	rows := map[string]int64{}
	total := 0
	for i, c := range l.rowsOf() {
		rows[l.clients[i].name] = l.clients[i].rows
		total += len(c)
		if int64(len(c)) != l.clients[i].rows {
			t.Errorf("%+v has %d rows", l.clients[i], len(c))
		}
	}
	// 250 sessions of four that "first" begins, 50 of "second" alone.
	if total != 1200 || rows["client-1"]+rows["client-2"] != 1200 || rows["client-1"] != 200 && rows["client-2"] != 200 {
		t.Errorf("%d rows, %v", total, rows)
	}
	if !slices.ContainsFunc(l.findings, func(f string) bool { return strings.HasPrefix(f, "500 requests go on with a session") }) {
		t.Errorf("%q", l.findings)
	}
}

// A long name is cut, and what begins alike stays apart.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("é", 150)
	a, b := clipped(long+"a", 1), clipped(long+"b", 2)
	if a == b || len(a) > 200 || !utf8.ValidString(a) || clipped("short", 3) != "short" {
		t.Errorf("%q, %q", a, b)
	}
}

// Turns told by parents: new text is what a prompt has beyond the one before
// and its answer.
func TestTurnsByParent(t *testing.T) {
	l := newLog(Options{})
	for i, r := range []trace.Row{{ID: "a", Input: 100, Output: 50}, {ID: "b", Input: 77, Output: 10}, {ID: "c", Parent: "a", Input: 190, Output: 5},
		{ID: "d", Parent: "c", Input: 215, Output: 5}} {
		r.Timed, r.At = true, int64(i)*1e9+int64(i*i)*12345
		l.add(&r)
	}
	l.finish()
	if want := []int32{100, 77, 40, 20}; !slices.Equal(l.input, want) {
		t.Errorf("new text %v, want %v", l.input, want)
	}
	if got := l.conversations(allRows(4), nil); !slices.Equal(got, []int32{3, 1}) {
		t.Errorf("turns %v", got)
	}
}
