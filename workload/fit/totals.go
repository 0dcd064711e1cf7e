package fit

import (
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// Totals hold what a log came to against what samples of its model, as long as
// the log, come to.
type Totals struct {
	Requests Total `json:"requests"`
	// Input are the tokens of all prompts, history included; Output of all answers.
	Input  Total `json:"input_tokens"`
	Output Total `json:"output_tokens"`
	// Seeds is how many samples the medians are of.
	Seeds int `json:"seeds"`
}

// Total is one sum.
type Total struct {
	// Known are the requests of the log that tell it: Log is their sum, nil where
	// none does.
	Known int64    `json:"known_requests"`
	Log   *float64 `json:"log"`
	// Model is the median of the samples, Low and High the least and the greatest;
	// all their requests count.
	Model float64 `json:"model"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// PerSecond are both by second; nil where the log's moments tell nothing.
	LogPerSecond   *float64 `json:"log_per_s"`
	ModelPerSecond *float64 `json:"model_per_s"`
	// Off is Model ÷ Log − 1, of as many requests as tell it; nil without Log.
	Off *float64 `json:"off"`
}

const (
	// totalSeeds is of how many samples totals are the median at most, and
	// mostTotalled bounds their requests together.
	totalSeeds   = 9
	mostTotalled = 200_000
	// totalLimit is from which difference on a total is a finding.
	totalLimit = 0.10
)

// totals samples a model and adds it up.
func (l *log) totals(m *traffic.Model) (*Totals, error) {
	n := len(l.at)
	t := &Totals{Seeds: min(max(mostTotalled/n, 1), totalSeeds)}
	list := make([]traffic.Summary, t.Seeds)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for k := range list {
		g.Go(func() (err error) {
			list[k], err = sampleTotals(m, stat.Key(l.options.Seed, "totals", uint64(k)))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	sum := [3]int64{int64(n), l.prompts}
	known := [3]int64{int64(n)}
	for i := range n {
		if l.input[i] > 0 {
			known[1]++
		}
		if l.output[i] > 0 {
			known[2]++
			sum[2] += int64(l.output[i])
		}
	}
	for i, to := range []*Total{&t.Requests, &t.Input, &t.Output} {
		drawn := make([]float64, 0, len(list))
		for _, s := range list {
			drawn = append(drawn, float64([...]int64{s.Requests, s.InputTokens, s.OutputTokens}[i]))
		}
		slices.Sort(drawn)
		*to = Total{Known: known[i], Model: stat.Quantile(drawn, .5), Low: drawn[0], High: drawn[len(drawn)-1]}
		to.against(float64(sum[i]), float64(known[i])/float64(n), l)
	}
	return t, nil
}

// against fills in the log's side; share is that of its requests which tell it.
func (t *Total) against(sum, share float64, l *log) {
	perSecond := func(x float64) *float64 {
		if l.madeUp {
			return nil
		}
		x /= l.span
		return &x
	}
	t.ModelPerSecond = perSecond(t.Model)
	if sum > 0 {
		t.Log, t.LogPerSecond = &sum, perSecond(sum)
		t.Off = known(t.Model*share/sum - 1)
	}
}

func sampleTotals(m *traffic.Model, seed uint64) (traffic.Summary, error) {
	s, err := m.Sampler(traffic.SampleOptions{Seed: seed})
	if err != nil {
		return traffic.Summary{}, err
	}
	meter := traffic.NewMeter(0)
	var turns []traffic.Turn
	for {
		d, ok := s.Next()
		if !ok {
			return meter.Summary(), nil
		}
		turns = s.Turns(&d, turns[:0])
		meter.Add(&d, turns)
	}
}

// findTotals says where the model comes to clearly more or less than the log.
func (l *log) findTotals(t *Totals) {
	for _, k := range []struct {
		what string
		*Total
	}{{"requests", &t.Requests}, {"input tokens", &t.Input}, {"output tokens", &t.Output}} {
		if k.Off == nil || math.Abs(*k.Off) <= totalLimit {
			continue
		}
		word := "more"
		if *k.Off < 0 {
			word = "fewer"
		}
		spread := ""
		if t.Seeds > 1 {
			share := float64(k.Known) / float64(len(l.at))
			spread = ", samples from " + grouped(int64(k.Low)) + " to " + grouped(int64(k.High)) +
				byChance(*k.Log, k.Low*share, k.High*share, t.Seeds)
		}
		of := ""
		if k.Known < int64(len(l.at)) {
			of = " of the " + grouped(k.Known) + " requests that tell them"
		}
		l.say("totals: a sample of the model has %.0f %% %s %s than the log (%s against %s%s%s)", 100*math.Abs(*k.Off), word, k.what,
			grouped(int64(k.Model)), grouped(int64(*k.Log)), of, spread)
	}
}
