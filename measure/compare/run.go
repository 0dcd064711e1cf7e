package compare

import (
	"slices"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
)

// Run is what a comparison needs of a finished run.
type Run struct {
	Name     string // as the reader knows it: its directory, or its id
	Manifest *record.Manifest
	API      string
	Model    string
	// Dialect is whose definitions Metrics follow; empty: tokamak's own.
	Dialect string
	// Window is what part of the load Metrics cover: all due requests, or the
	// steady window.
	Window   Window
	Metrics  map[string]measure.Metric
	Requests measure.Requests
	Validity map[string]measure.Validity
	// Unfinished says how the run ended before its time; empty: it did not.
	Unfinished string
	// View returns the run's requests, for a comparison of one run a side; nil
	// where there are no rows.
	View func() (*measure.View, error)
}

// Window is a part of a run's load.
type Window string

// The windows.
const (
	All    Window = "all"    // every request due
	Steady Window = "steady" // without warm-up and drain
)

// Side is one of those compared: one run, or repeats of it.
type Side struct {
	Name string
	Runs []Run
}

// seeds are the runs' seeds in ascending order.
func (s *Side) seeds() []uint64 {
	seeds := make([]uint64, len(s.Runs))
	for i := range s.Runs {
		seeds[i] = s.Runs[i].Manifest.Seed
	}
	slices.Sort(seeds)
	return seeds
}

// values are the figure's values in the runs, and in how many it is missing.
func (s *Side) values(f Figure) (values []float64, missing int) {
	for i := range s.Runs {
		if x, ok := f.of(&s.Runs[i]); ok {
			values = append(values, x)
		} else {
			missing++
		}
	}
	return values, missing
}

// void returns the first run whose client shaped the figure so much that it
// says nothing of the target.
func (s *Side) void(f Figure) *Run {
	for i := range s.Runs {
		if f.trust(s.Runs[i].Validity[f.Metric]) == measure.Invalid {
			return &s.Runs[i]
		}
	}
	return nil
}

// paired returns the runs of two sides with the same seeds next to each other:
// the k-th run of a seed on one side goes with the k-th on the other. ok is
// false where some run finds no partner.
func paired(a, b *Side) (x, y Side, ok bool) {
	left := slices.Clone(b.Runs)
	x, y = Side{Name: a.Name}, Side{Name: b.Name}
	for _, r := range a.Runs {
		i := slices.IndexFunc(left, func(s Run) bool { return s.Manifest.Seed == r.Manifest.Seed })
		if i < 0 {
			continue
		}
		x.Runs, y.Runs = append(x.Runs, r), append(y.Runs, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return x, y, len(x.Runs) == len(a.Runs) && len(left) == 0
}
