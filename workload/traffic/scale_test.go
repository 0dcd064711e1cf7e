package traffic

import (
	"math"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// dispersionOf is the mean index of dispersion of the session starts of samples
// in windows of some seconds.
func dispersionOf(t *testing.T, m *Model, o SampleOptions, window float64) float64 {
	t.Helper()
	const seeds = 12
	sum := 0.0
	for o.Seed = range uint64(seeds) {
		s, err := m.Sampler(o)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int64, int(m.Duration.Seconds()/window))
		for {
			at, ok := s.NextMoment()
			if !ok {
				break
			}
			if i := int(float64(at) / 1e9 / window); i < len(counts) {
				counts[i]++
			}
		}
		sum += stat.IndexOfDispersion(counts) / seeds
	}
	return sum
}

// What a scale does to burstiness, as docs/traffic.md says it: under one rate, by
// rate, the index at a time is that of as many times as long before, and by
// clients it stays. Rate curves stay as long as they are, and those of all
// clients rise together: what they add to the index is multiplied either way.
func TestScaleOfDispersion(t *testing.T) {
	const scale, window = 4, 2
	lengths := []Lengths{{Input: stat.Constant(5), Output: stat.Constant(5)}}
	steady := &Model{Duration: 2 * time.Hour, Clients: []Client{{Name: "steady", Rate: Curve{Rate: []float64{2}}, Arrival: Arrival{Process: Gamma, CV: []float64{3}}, Lengths: lengths}}}
	waves := &Model{Duration: 2 * time.Hour, Clients: []Client{{Name: "waves", Rate: Curve{Window: time.Minute}, Arrival: Arrival{Process: Poisson}, Lengths: lengths}}}
	for i := range 120 {
		waves.Clients[0].Rate.Rate = append(waves.Clients[0].Rate.Rate, 2+1.5*math.Sin(float64(i*i)))
	}
	for _, c := range []struct {
		name string
		of   *Model
		by   Scaling
		want float64
	}{
		{"one rate, by rate", steady, ByRate, dispersionOf(t, steady, SampleOptions{}, scale*window)},
		{"one rate, by clients", steady, ByClients, dispersionOf(t, steady, SampleOptions{}, window)},
		{"rate windows, by rate", waves, ByRate, 1 + scale*(dispersionOf(t, waves, SampleOptions{}, window)-1)},
		{"rate windows, by clients", waves, ByClients, 1 + scale*(dispersionOf(t, waves, SampleOptions{}, window)-1)},
	} {
		if got := dispersionOf(t, c.of, SampleOptions{Scale: scale, ScaleBy: c.by}, window); math.Abs(got/c.want-1) > .10 {
			t.Errorf("%s: %.3g at %d s, want %.3g", c.name, got, window, c.want)
		} else {
			t.Logf("%s: %.3g, want %.3g", c.name, got, c.want)
		}
	}
}
