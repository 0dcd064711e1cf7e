package runner

import (
	"context"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/scenario"
)

// warmed notes how many connections were asked for.
type warmed struct{ asked []int }

func (w *warmed) Warm(_ context.Context, _ *url.URL, n int) error {
	w.asked = append(w.asked, n)
	return nil
}

// TestHeadroom: more connections are asked for once half of the spare ones are
// taken, and never because requests end and others begin.
func TestHeadroom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := &warmed{}
		h := newHeadroom(w, nil, 8)
		go h.keep(ctx)
		for range 4 { // 4 under way and half of 8 spare: 8 are open
			h.started()
		}
		synctest.Wait()
		if len(w.asked) > 0 {
			t.Fatalf("asked for %d with 4 of 8 taken", w.asked)
		}
		h.started() // the fifth: 5 and 8 spare
		synctest.Wait()
		for range 100 {
			h.ended()
			h.started()
		}
		for range 5 { // 10 and 8 spare: beyond 13 from the tenth on
			h.started()
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		if d := cmp.Diff([]int{13, 18}, w.asked); d != "" {
			t.Error(d)
		}
	})
	var none *headroom
	none.started()
	none.ended()
}

// TestOpenAhead counts the plan as it is run: a trace's moments at its speed.
func TestOpenAhead(t *testing.T) {
	burst := make([]int64, 40) // 40 in 4 s
	for i := range burst {
		burst[i] = int64(i) * int64(100*time.Millisecond)
	}
	for name, c := range map[string]struct {
		plan load.Plan
		want int
	}{
		"a trace":               {load.Plan{Schedule: burst}, 10},
		"four times as fast":    {load.Plan{Schedule: burst, Speed: 4}, 40},
		"forty times as fast":   {load.Plan{Schedule: append(slices.Clone(burst), burst...), Speed: 40}, 64},
		"a rate":                {load.Plan{Stages: []load.Stage{{Mode: load.OpenLoop, From: 3, To: 7, Duration: time.Second}}}, 7},
		"users":                 {load.Plan{Stages: []load.Stage{{Mode: load.ClosedLoop, From: 300, To: 300, Duration: time.Second}}}, 300},
		"less than one request": {load.Plan{Stages: []load.Stage{{Mode: load.OpenLoop, From: .2, To: .2, Duration: time.Second}}}, 1},
	} {
		if got := (&Run{scenario: &scenario.Scenario{}, plan: c.plan}).openAhead(); got != c.want {
			t.Errorf("%s: %d connections ahead, want %d", name, got, c.want)
		}
	}
}
