package fit

import (
	"math"
	"runtime"
	"slices"
	"time"

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
	// Model is the median of the samples, all requests of which count.
	Model float64 `json:"model"`
	// LogCompared is the log's sum as it is held against the model: that of all
	// ComparedRequests, those of clients of which some request tells it, where
	// each client's that do not tell are as long as its own mean. It is nil
	// without Log. ModelCompared is the median of the samples of the same clients,
	// Low and High are their least and greatest; of all clients without Log.
	LogCompared      *float64 `json:"log_compared"`
	ComparedRequests int64    `json:"compared_requests"`
	ModelCompared    float64  `json:"model_compared"`
	Low              float64  `json:"low"`
	High             float64  `json:"high"`
	// PerSecond are both by second; nil where the log's moments tell nothing.
	LogPerSecond   *float64 `json:"log_per_s"`
	ModelPerSecond *float64 `json:"model_per_s"`
	// Off is ModelCompared ÷ LogCompared − 1; nil without Log.
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
	l.placed = make([]int, len(m.Clients))
	for c := range l.clients {
		if p := l.clients[c].place; p > 0 {
			l.placed[p-1] = c
		}
	}
	t := &Totals{Seeds: min(max(mostTotalled/n, 1), totalSeeds)}
	list := make([][]sums, t.Seeds) // by sample and client
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for k := range list {
		g.Go(func() (err error) {
			list[k], err = l.sampleTotals(m, stat.Key(l.options.Seed, "totals", uint64(k)))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	sum, known := l.sums()
	for i, to := range []*Total{&t.Requests, &t.Input, &t.Output} {
		to.logged(i, sum, known)
		to.sampled(i, list, known)
		to.perSecond(l)
	}
	return t, nil
}

// sums are requests, tokens of prompts, and tokens of answers.
type sums [3]float64

// sums of the log by client, and how many requests tell each.
func (l *log) sums() (sum, known []sums) {
	sum, known = make([]sums, len(l.clients)), make([]sums, len(l.clients))
	for i, c := range l.client {
		for k, x := range (sums{1, float64(l.whole[i]), float64(l.output[i])}) {
			if x > 0 {
				sum[c][k] += x
				known[c][k]++
			}
		}
	}
	return sum, known
}

// logged fills in the log's side of the i-th of the sums.
func (t *Total) logged(i int, sum, told []sums) {
	all, compared := 0.0, 0.0
	for c := range sum {
		n := told[c][i]
		if n == 0 {
			continue
		}
		t.Known += int64(n)
		t.ComparedRequests += int64(told[c][0])
		all += sum[c][i]
		compared += sum[c][i] * told[c][0] / n
	}
	if all > 0 {
		t.Log, t.LogCompared = &all, &compared
	}
}

// sampled fills in the model's side, and the difference.
func (t *Total) sampled(i int, list [][]sums, told []sums) {
	var whole, compared []float64
	for _, sample := range list {
		a, b := 0.0, 0.0
		for c := range sample {
			a += sample[c][i]
			if told[c][i] > 0 || t.Log == nil {
				b += sample[c][i]
			}
		}
		whole, compared = append(whole, a), append(compared, b)
	}
	slices.Sort(whole)
	slices.Sort(compared)
	t.Model, t.ModelCompared = stat.Quantile(whole, .5), stat.Quantile(compared, .5)
	t.Low, t.High = compared[0], compared[len(compared)-1]
	if t.Log != nil {
		t.Off = known(t.ModelCompared / *t.LogCompared - 1)
	}
}

// perSecond fills in both by second.
func (t *Total) perSecond(l *log) {
	if l.madeUp {
		return
	}
	model := t.Model / l.span
	t.ModelPerSecond = &model
	if t.Log != nil {
		log := *t.Log / l.span
		t.LogPerSecond = &log
	}
}

// sampleTotals adds up a sample by client of the log; one that the model has no
// part of comes to nothing.
func (l *log) sampleTotals(m *traffic.Model, seed uint64) ([]sums, error) {
	s, err := m.Sampler(traffic.SampleOptions{Seed: seed})
	if err != nil {
		return nil, err
	}
	meters := make([]*traffic.Meter, len(m.Clients))
	for c := range meters {
		meters[c] = traffic.NewMeter(0)
	}
	var turns []traffic.Turn
	for {
		d, ok := s.Next()
		if !ok {
			break
		}
		turns = s.Turns(&d, turns[:0])
		meters[d.Client].Add(&d, l.before(m, &d, turns))
	}
	out := make([]sums, len(l.clients))
	for c := range out {
		place := l.clients[c].place
		if place == 0 {
			continue
		}
		all := meters[place-1].Summary()
		out[c] = sums{float64(all.Requests), float64(all.InputTokens), float64(all.OutputTokens)}
	}
	return out, nil
}

// before are the turns that come before the log's end, as the log shows no others.
func (l *log) before(m *traffic.Model, d *traffic.Draw, turns []traffic.Turn) []traffic.Turn {
	c := l.placed[d.Client]
	if !l.clients[c].ends {
		return turns
	}
	at := time.Duration(d.At)
	for i := range turns[1:] {
		if at += turns[i+1].Think + duration(l.clients[c].took); at >= m.Duration {
			return turns[:i+1]
		}
	}
	return turns
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
			spread = ", samples from " + grouped(int64(k.Low)) + " to " + grouped(int64(k.High)) + byChance(*k.LogCompared, k.Low, k.High, t.Seeds)
		}
		of := ""
		if k.Known < int64(len(l.at)) {
			of = " of " + grouped(k.ComparedRequests) + " requests, extrapolated from the " + grouped(k.Known) + " that tell them"
		}
		l.say("totals: a sample of the model has %.0f %% %s %s than the log (%s against %s%s%s)", 100*math.Abs(*k.Off), word, k.what,
			grouped(int64(k.ModelCompared)), grouped(int64(*k.LogCompared)), of, spread)
	}
}
