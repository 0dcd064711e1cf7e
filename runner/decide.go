package runner

import (
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/verify"
)

// decider ends a load once every objective that can be decided is. It looks
// when the run's first requests have all ended, so many as the sequence asks for.
type decider struct {
	looks   *verify.Sequence
	sums    *measure.Accumulator
	settled map[int64]struct{} // beyond upTo
	upTo    int64              // requests 0 to upTo − 1 have their last row
	next    int64
}

var _ Decider = (*decider)(nil)

// newDecider returns nil where the scenario does not ask for it.
func newDecider(s *scenario.Scenario, sums *measure.Accumulator) Decider {
	if !s.Load.StopWhenDecided {
		return nil
	}
	d := &decider{looks: verify.NewSequence(s.SLO), sums: sums, settled: map[int64]struct{}{}}
	d.next = int64(d.looks.Next())
	return d
}

// Settled notes that a request has its last row, and takes the looks that
// have become due.
func (d *decider) Settled(id int64) bool {
	d.settled[id] = struct{}{}
	for {
		if _, ok := d.settled[d.upTo]; !ok {
			break
		}
		delete(d.settled, d.upTo)
		d.upTo++
	}
	for d.next > 0 && d.upTo >= d.next {
		d.looks.Look(d.sums, int(d.next))
		d.next = int64(d.looks.Next())
	}
	return d.next == 0
}

// judge holds the scenario's objectives against what was measured.
func judge(s *scenario.Scenario, sums *measure.Accumulator) []verify.SLO {
	if s.Load.StopWhenDecided {
		return verify.JudgeLooks(s.SLO, sums)
	}
	return verify.Judge(s.SLO, sums)
}
