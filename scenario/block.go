package scenario

import (
	"net/url"
	"slices"
)

// Block returns the scenario of one block of a run with two targets: this one
// with its one or the other target, a seed and a directory of its own.
func (s *Scenario) Block(other bool, seed uint64, name, dir string) *Scenario {
	b := *s
	b.Notices = slices.Clone(s.Notices)
	if other {
		b.Target.URLs = []*url.URL{s.Target.Against}
	}
	b.Target.Against, b.Load.Pairs = nil, 0
	b.Seed, b.Load.Plan.Seed = seed, seed
	b.Name = name
	b.Out.Dir, b.Out.None = dir, dir == ""
	return &b
}
