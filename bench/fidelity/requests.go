package fidelity

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload"
	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// request is one of lone requests: its moment in ns, its lengths in tokens,
// and the name of its text.
type request struct {
	at            int64
	input, output int64
	text          uint64
}

// recorded reads the requests of a trace; texts are all different.
func recorded(path string) ([]request, error) {
	r, err := trace.Open(path, func() (io.ReadCloser, error) { return os.Open(path) }, trace.Options{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var list []request
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if !row.Timed || row.Input == 0 || row.Output == 0 {
			return nil, fmt.Errorf("%s: needs a moment and both lengths in each row", path)
		}
		list = append(list, request{row.At, row.Input, row.Output, uint64(len(list)) + 1})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no rows", path)
	}
	slices.SortStableFunc(list, func(a, b request) int { return int(min(max(a.at-b.at, -1), 1)) })
	first := list[0].at
	for i := range list {
		list[i].at -= first
	}
	return list, nil
}

// fitted samples a model over its own time line.
func fitted(m *traffic.Model, seed uint64) ([]request, error) {
	s, err := m.Sampler(traffic.SampleOptions{Seed: seed})
	if err != nil {
		return nil, err
	}
	var list []request
	for {
		d, ok := s.Next()
		if !ok {
			return list, nil
		}
		if d.Turns > 1 || d.Prefix > 0 {
			return nil, errors.New("a model of lone requests without prefixes is needed")
		}
		list = append(list, request{d.At, d.Input, d.Output, uint64(len(list)) + 1})
	}
}

// shuffledIn is how far windows are in which the trace's lengths change places, ns.
const shuffledIn = int64(10e9)

// shuffled is a trace whose requests have changed lengths with others of the same
// ten seconds: as near to it as a model can come that knows all but the order.
func shuffled(of []request, seed uint64) []request {
	out := slices.Clone(of)
	for i, w := 0, uint64(0); i < len(of); w++ {
		j := i
		for j < len(of) && of[j].at/shuffledIn == of[i].at/shuffledIn {
			j++
		}
		for a, b := range stat.Random(seed, "shuffled", w).Perm(j - i) {
			out[i+a].input, out[i+a].output = of[i+b].input, of[i+b].output
		}
		i = j
	}
	return out
}

// naive is what a tool does with means: Poisson arrivals of the trace's mean
// rate, and for each length one lognormal of the trace's mean and CV, drawn
// independently.
func naive(of []request, seed uint64) []request {
	in, out := model(of, func(r request) int64 { return r.input }), model(of, func(r request) int64 { return r.output })
	return poisson(of, seed, func(i uint64) request {
		return request{input: length(in, seed, "input", i), output: length(out, seed, "output", i), text: i + 1}
	})
}

// fixed is one prompt of the mean lengths again and again, at Poisson moments.
func fixed(of []request, seed uint64) []request {
	in, out := model(of, func(r request) int64 { return r.input }), model(of, func(r request) int64 { return r.output })
	return poisson(of, seed, func(uint64) request {
		return request{input: int64(math.Round(in.Average)), output: int64(math.Round(out.Average)), text: 1}
	})
}

func model(of []request, pick func(request) int64) stat.Lognormal {
	values := make([]float64, len(of))
	for i, r := range of {
		values[i] = float64(pick(r))
	}
	mean, sd := stat.MeanSD(values)
	return stat.Lognormal{Average: mean, CV: sd / mean}
}

func length(d stat.Distribution, seed uint64, stream stat.Stream, i uint64) int64 {
	return int64(max(1, math.Round(d.Sample(stat.Random(seed, stream, i)))))
}

// poisson draws moments over the time of a trace at its mean rate.
func poisson(of []request, seed uint64, draw func(uint64) request) []request {
	end := of[len(of)-1].at
	gap := stat.Exponential{Average: float64(end) / float64(len(of)-1)}
	var list []request
	for at, i := 0.0, uint64(0); ; i++ {
		if at += gap.Sample(stat.Random(seed, "gap", i)); at > float64(end) {
			return list
		}
		r := draw(i)
		r.at = int64(at)
		list = append(list, r)
	}
}

// content are requests as sessions of one turn.
type content struct {
	list []request
}

func (c content) Session(i int64) (workload.Session, error) {
	if i >= int64(len(c.list)) {
		return nil, workload.ErrEnd
	}
	return &lone{request: c.list[i]}, nil
}

type lone struct {
	request
	sent bool
}

func (l *lone) Next(*workload.Answer) (*workload.Request, bool) {
	if l.sent {
		return nil, false
	}
	l.sent = true
	return &workload.Request{InputTokens: l.input, OutputTokens: l.output,
		Messages: []workload.Message{{Role: "user", Blocks: []workload.Block{{ID: l.text, Tokens: l.input}}}}}, true
}

// moments is the load of requests, sped up by a factor.
func moments(list []request, speed float64) (load.Source, error) {
	p := load.Plan{Speed: speed}
	for _, r := range list {
		p.Schedule = append(p.Schedule, r.at)
	}
	return load.New(p)
}
