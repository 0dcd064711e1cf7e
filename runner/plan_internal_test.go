package runner

import (
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/record"
)

// By hand: a load of 20 s that began at 5 s was to end at 25 s, unless its 100
// requests were all due before.
func TestPlannedEnd(t *testing.T) {
	plan := func(d time.Duration, most int64) load.Plan {
		return load.Plan{Stages: []load.Stage{{Mode: load.OpenLoop, From: 1, To: 1, Duration: d}}, MaxRequests: most}
	}
	none := record.Int{}
	at := func(s int64) record.Int { return record.Some(s * 1e9) }
	for _, c := range []struct {
		start record.Int
		plan  load.Plan
		due   int64
		want  record.Int
	}{
		{at(5), plan(20*time.Second, 0), 100, at(25)},
		{at(5), plan(20*time.Second, 100), 99, at(25)},
		{at(5), plan(20*time.Second, 100), 100, none},
		{at(5), plan(0, 100), 100, none},
		{none, plan(20*time.Second, 0), 100, none},
	} {
		if got := plannedEnd(c.start, c.plan, c.due); got != c.want {
			t.Errorf("%+v of %+v, %d due: %+v", c.start, c.plan, c.due, got)
		}
	}
}
