package traffic

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// By hand: for odds of 1 and 3 to mean a chance of ½ they are multiplied by 1/√3,
// since 1/(1+√3) + √3/(1+√3) = 1. Of 1, 2, 2 and 4 turns three of four sessions go on
// after the first turn, one of three after the second, and all after the third.
func TestChanceByHand(t *testing.T) {
	j := newJoint(&Sessions{Turns: stat.Quantiles{Share: []float64{0, .25, .25 + 1e-9, .75, .75 + 1e-9, 1}, Value: []float64{1, 1, 2, 2, 4, 4}}, GoesOn: []float64{1, 3}})
	for _, c := range []struct {
		turns      int64
		rank, want float64
	}{{1, .1, .75}, {1, .9, .75}, {3, .1, 1}, {4, .9, 0}, {5, .1, 0}} {
		if got := j.chance(c.turns, c.rank); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("after %d turns, at rank %v: %v, want %v", c.turns, c.rank, got, c.want)
		}
	}
	low, high := j.chance(2, .49), j.chance(2, .51)
	if mean := (low + high) / 2; math.Abs(mean-1./3) > 1e-6 || math.Abs(high/(1-high)-3*low/(1-low)) > 1e-6 {
		t.Errorf("chances %v and %v: a mean of %v, want 1/3, with odds as 1 to 3", low, high, mean)
	}
	if got := chanceOf(balance([]float64{1, 3}, .5)); math.Abs(got-1/(1+math.Sqrt(3))) > 1e-9 {
		t.Errorf("%v, want 1/(1+√3)", got)
	}
}

// By hand: a rank in the second half of rows of ¾ and ¼: the share ⅜ lies in the middle of
// the first ¾, which is the first half of the other ranks; ⅞ in the middle of the second.
func TestGivenByHand(t *testing.T) {
	upTo := [][]float64{{.25, .5}, {.375, .5}}
	for _, c := range []struct{ rank, share, want float64 }{{.6, .375, .25}, {.6, .875, .75}, {.4, .25, .25}, {.6, 0, 0}} {
		if got := given(upTo, c.rank, c.share); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("rank %v, share %v: %v, want %v", c.rank, c.share, got, c.want)
		}
	}
	if got := given(nil, .3, .7); got != .7 {
		t.Errorf("independent: %v", got)
	}
}

// conversations samples the sessions of one client for an hour of 20 a second.
func conversations(t *testing.T, s *Sessions) (list []Draw, turns [][]Turn) {
	t.Helper()
	m := one(time.Hour, Client{Rate: Curve{Rate: []float64{20}}, Sessions: s})
	m.Clients[0].Lengths[0] = Lengths{Input: stat.Uniform{Low: 1, High: 1_000_000}, Output: stat.Uniform{Low: 1, High: 1_000_000}}
	p := sampler(t, m, SampleOptions{Seed: 3})
	for {
		d, ok := p.Next()
		if !ok {
			return list, turns
		}
		list, turns = append(list, d), append(turns, p.Turns(&d, nil))
		if int(d.Turns) != len(turns[len(turns)-1]) {
			t.Fatalf("%d turns said, %d given", d.Turns, len(turns[len(turns)-1]))
		}
	}
}

// The number of turns is its own distribution however much first prompts and later
// texts matter, and these are what the odds say: a session goes on with ¼ after the
// shorter half of first prompts and with ¾ after the longer, of a mean of ½.
func TestGoesOn(t *testing.T) {
	turns := stat.Quantiles{Share: []float64{0, .5, .5 + 1e-9, .75, .75 + 1e-9, 1}, Value: []float64{1, 1, 2, 2, 6, 6}}
	later := stat.Uniform{Low: 1, High: 1_000_000}
	list, all := conversations(t, &Sessions{Turns: turns, Input: later, GoesOnFirst: []float64{1, 9}, GoesOn: []float64{4, 1, .01}})
	var first, on, last [3]float64 // sessions by first prompt and by second text, and those that go on
	count := map[int]float64{}
	for i, d := range list {
		half := 0
		if d.Input > 500_000 {
			half = 1
		}
		first[half]++
		count[len(all[i])]++
		if d.Turns > 1 {
			on[half]++
			if third := min(all[i][1].Input/333_334, 2); d.Turns > 2 {
				last[third]++
			}
		}
	}
	n := float64(len(list))
	for k, want := range map[int]float64{1: .5, 2: .25, 6: .25} {
		if math.Abs(count[k]/n-want) > .01 {
			t.Errorf("%.3f of the sessions have %d turns, want %v", count[k]/n, k, want)
		}
	}
	if a, b := on[0]/first[0], on[1]/first[1]; math.Abs(a-.25) > .01 || math.Abs(b-.75) > .01 {
		t.Errorf("%.3f and %.3f go on after short and long first prompts, want ¼ and ¾", a, b)
	}
	if last[0] < 1.2*last[1] || last[1] < 10*last[2] {
		t.Errorf("go on after a second text of each third: %v", last)
	}
}

// The turns of a session are as alike as is asked: the correlation of normal scores of
// two answers and of two later texts; first prompts have nothing to do with it, and
// lengths keep their distribution. What is not asked for is independent.
func TestAlike(t *testing.T) {
	for _, c := range []struct{ input, output float64 }{{.3, .6}, {0, .9}, {.5, 0}} {
		_, all := conversations(t, &Sessions{Turns: stat.Constant(3), Input: stat.Uniform{Low: 1, High: 1_000_000}, InputAlike: c.input, OutputAlike: c.output})
		at := func(x int64) float64 { return score((float64(x) - .5) / 1e6) }
		var firstOut, secondOut, text, next, first, outs []float64
		for _, s := range all {
			firstOut, secondOut = append(firstOut, at(s[0].Output)), append(secondOut, at(s[2].Output))
			first, text, next = append(first, at(s[0].Input)), append(text, at(s[1].Input)), append(next, at(s[2].Input))
			outs = append(outs, float64(s[1].Output))
		}
		for _, k := range []struct {
			what      string
			a, b      []float64
			correlate float64
		}{{"answers", firstOut, secondOut, c.output}, {"later texts", text, next, c.input}, {"first prompts and texts", first, text, 0}, {"texts and answers", next, secondOut, 0}} {
			if got := correlation(k.a, k.b); math.Abs(got-k.correlate) > .02 {
				t.Errorf("%+v: correlation of %s %.3f, want %v", c, k.what, got, k.correlate)
			}
		}
		slices.Sort(outs)
		if p50, p90 := stat.Quantile(outs, .5), stat.Quantile(outs, .9); math.Abs(p50-5e5) > 1e4 || math.Abs(p90-9e5) > 1e4 {
			t.Errorf("%+v: answers of p50 %v and p90 %v", c, p50, p90)
		}
	}
}

// correlation is Pearson's.
func correlation(a, b []float64) float64 {
	n := float64(len(a))
	var x, y, xx, yy, xy float64
	for i := range a {
		x, y, xx, yy, xy = x+a[i], y+b[i], xx+a[i]*a[i], yy+b[i]*b[i], xy+a[i]*b[i]
	}
	return (xy/n - x/n*y/n) / math.Sqrt((xx/n-x/n*x/n)*(yy/n-y/n*y/n))
}

// Answers that are alike go with their prompts by the rank grid all the same.
func TestAlikeKeepsRanks(t *testing.T) {
	m := one(time.Hour, Client{Rate: Curve{Rate: []float64{20}}, Sessions: &Sessions{Turns: stat.Constant(2), OutputAlike: .5}})
	m.Clients[0].Lengths[0] = Lengths{Input: stat.Uniform{Low: 1, High: 1_000_000}, Output: stat.Uniform{Low: 1, High: 1_000_000},
		Ranks: [][]float64{{.4, .1}, {.1, .4}}}
	p := sampler(t, m, SampleOptions{Seed: 3})
	same, n := 0.0, 0.0
	for _, d := range all(p, 1_000_000) {
		n++
		if (d.Input > 500_000) == (d.Output > 500_000) {
			same++
		}
	}
	if math.Abs(same/n-.8) > .01 {
		t.Errorf("%.3f of the pairs are in the same half, want 0.8", same/n)
	}
}

// Where later turns have lengths of their own, the first of them is no copy of the
// first prompt.
func TestFirstPromptsDoNotStay(t *testing.T) {
	_, all := conversations(t, &Sessions{Turns: stat.Constant(3), Input: stat.Uniform{Low: 2_000_000, High: 3_000_000}, Jump: .001})
	for _, s := range all[:1000] {
		if s[1].Input < 2_000_000 {
			t.Fatalf("%+v", s)
		}
	}
	if stays := slices.IndexFunc(all[:1000], func(s []Turn) bool { return s[2].Input == s[1].Input }); stays < 0 {
		t.Error("no later turn stays as it was")
	}
}

// Whether a session goes on says nothing of whether a length stays.
func TestGoingOnIsNoJump(t *testing.T) {
	_, all := conversations(t, &Sessions{Turns: stat.Quantiles{Share: []float64{0, .5, .5 + 1e-9, .75, .75 + 1e-9, 1}, Value: []float64{1, 1, 2, 2, 3, 3}}, Input: stat.Uniform{Low: 1, High: 1_000_000}, Jump: .5,
		GoesOn: []float64{1, 1}, GoesOnFirst: []float64{1, 1}})
	stays, n := 0.0, 0.0
	for _, s := range all {
		if len(s) == 3 {
			n++
			if s[1].Input == s[2].Input {
				stays++
			}
		}
	}
	if math.Abs(stays/n-.5) > .02 {
		t.Errorf("%.3f of the lengths stay, want ½", stays/n)
	}
}
