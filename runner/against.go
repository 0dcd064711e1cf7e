package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/measure/compare"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/verify"
)

// Against drives two targets in turns: pairs of blocks with the same requests,
// the order within each pair drawn, each block a run of its own with its drain
// before the next begins. What drifts with time meets both alike.
type Against struct {
	scenario *scenario.Scenario
	opt      Options
	id, dir  string
	// Began, where set, is told of each block before it sends; what it returns
	// is called when the block has ended.
	Began func(Block) (ended func())
}

// Block is one run of a comparison's.
type Block struct {
	Pair, Pairs int // from 1
	Other       bool
	Run         *Run
	Scenario    *scenario.Scenario
}

// NewAgainst makes a run with two targets ready.
func NewAgainst(s *scenario.Scenario, o Options) *Against {
	r := &Run{scenario: s}
	r.name(time.Now())
	return &Against{scenario: s, opt: o, id: r.id, dir: r.dir}
}

// Dir returns the directory of the blocks; empty where nothing is written.
func (p *Against) Dir() string { return p.dir }

// First makes the first block of the baseline ready, to look at before
// anything is sent.
func (p *Against) First(ctx context.Context) (*Run, error) {
	return New(ctx, p.block(1, false), p.opt)
}

// block is the scenario of one block. The pairs' seeds follow on each other.
func (p *Against) block(pair int, other bool) *scenario.Scenario {
	name, dir := blockName(pair, side(other)), ""
	if p.dir != "" {
		dir = filepath.Join(p.dir, name)
	}
	if p.scenario.Name != "" {
		name = p.scenario.Name + "-" + name
	}
	return p.scenario.Block(other, p.scenario.Seed+uint64(pair-1), name, dir)
}

// order draws which target begins each pair: the other one in half of the
// pairs, rounded by chance.
func (p *Against) order() []bool {
	n := p.scenario.Load.Pairs
	r := stat.Random(p.scenario.Seed, "pairs", 0)
	first := make([]bool, n)
	for i := range first {
		first[i] = i%2 == 0
	}
	if n%2 == 1 && r.IntN(2) == 0 {
		first[n-1] = !first[n-1]
	}
	r.Shuffle(n, func(i, j int) { first[i], first[j] = first[j], first[i] })
	return first
}

// Do looks at both targets, sends all blocks and compares what came of them. Interrupted, it compares
// the whole pairs that there are; an error comes with what could still be said.
func (p *Against) Do(ctx context.Context, o compare.Options, gates []verify.Change) (*report.Compared, error) {
	if err := p.look(ctx); err != nil {
		return nil, err
	}
	if err := p.makeDir(); err != nil {
		return nil, err
	}
	sides := []compare.Side{{Name: "a"}, {Name: "b"}}
	left := 0
	var stopped error
	for i, otherFirst := range p.order() {
		pair, err := p.pair(ctx, i+1, otherFirst)
		if err != nil {
			stopped = err
		}
		switch {
		case pair != nil:
			sides[0].Runs, sides[1].Runs = append(sides[0].Runs, pair[0]), append(sides[1].Runs, pair[1])
		case err == nil && ctx.Err() == nil:
			left++
		}
		if stopped != nil || ctx.Err() != nil {
			break
		}
	}
	if len(sides[0].Runs) == 0 {
		if stopped == nil {
			stopped = p.nothing(ctx)
		}
		return nil, stopped
	}
	o.Anyway = true // it was asked for: what differs is named
	c, err := compare.Compare(sides, o)
	if err != nil {
		return nil, errors.Join(stopped, err)
	}
	if left > 0 {
		c.Notes = append(c.Notes, leftOut(left))
	}
	if p.dir != "" {
		c.Dir = p.dir
	}
	found := report.NewCompared(c, gates, ctx.Err() != nil)
	return found, errors.Join(stopped, p.write(found))
}

// nothing says why there is no whole pair.
func (p *Against) nothing(ctx context.Context) error {
	if ctx.Err() != nil {
		return exit.With(exit.Interrupted, errors.New("interrupted before the first pair of blocks was whole: there is nothing to compare"))
	}
	return exit.With(exit.Inconclusive, errors.New("no pair of blocks was whole: there is nothing to compare"))
}

// pair sends both blocks of a pair; nil where one of them is not whole.
func (p *Against) pair(ctx context.Context, pair int, otherFirst bool) (*[2]compare.Run, error) {
	var found [2]compare.Run
	whole := true
	for _, other := range []bool{otherFirst, !otherFirst} {
		r, err := p.send(ctx, pair, other)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", blockName(pair, side(other)), err)
		}
		if other {
			found[1] = r
		} else {
			found[0] = r
		}
		whole = whole && r.Unfinished == ""
		if ctx.Err() != nil {
			break
		}
	}
	if !whole || ctx.Err() != nil && (found[0].Manifest == nil || found[1].Manifest == nil) {
		return nil, nil
	}
	return &found, nil
}

// send runs one block.
func (p *Against) send(ctx context.Context, pair int, other bool) (compare.Run, error) {
	s := p.block(pair, other)
	r, err := New(ctx, s, p.opt)
	if err != nil {
		return compare.Run{}, err
	}
	defer r.Close()
	ended := func() {}
	if p.Began != nil {
		ended = p.Began(Block{Pair: pair, Pairs: p.scenario.Load.Pairs, Other: other, Run: r, Scenario: s})
	}
	sum, err := r.Do(ctx)
	ended()
	if err != nil {
		return compare.Run{}, err
	}
	if sum.Verdict.Exit == int(exit.Target) {
		return compare.Run{}, exit.With(exit.Target, errors.New(sum.Verdict.Reason))
	}
	m, err := r.manifest()
	if err != nil {
		return compare.Run{}, err
	}
	c := fromSummary(sum, m, s.Name)
	if r.dir != "" {
		c.Name = filepath.Base(r.dir)
		c.View = func() (*measure.View, error) {
			run, err := record.Open(r.dir)
			if err != nil {
				return nil, err
			}
			return view(run, compare.All)
		}
	}
	return c, nil
}

// makeDir makes the directory of the blocks.
func (p *Against) makeDir() error {
	if p.dir == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(p.dir), 0o755); err != nil {
		return exit.With(exit.Usage, err)
	}
	for n := 2; ; n++ {
		err := os.Mkdir(p.dir, 0o755)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrExist) && p.scenario.Out.Dir == "" && n < sameSecond:
			p.dir = filepath.Join("runs", fmt.Sprintf("%s-%d", p.id, n))
		case errors.Is(err, fs.ErrExist):
			return exit.Hint(exit.Usage, err, "choose another --out, or remove the directory")
		default:
			return exit.With(exit.Usage, err)
		}
	}
}

func (p *Against) write(c *report.Compared) error {
	if p.dir == "" {
		return nil
	}
	b, err := c.Encode()
	if err != nil {
		return err
	}
	return exit.With(exit.Invalid, replace(filepath.Join(p.dir, ComparisonFile), b))
}
