package portrait

import (
	"fmt"
	"math"
	"time"

	"github.com/tokamak-bench/tokamak/chart"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/workload/fit"
)

// steps are the edges of windows of equal length.
func steps(n int, window float64) []float64 {
	out := make([]float64, n+1)
	for k := range out {
		out[k] = float64(k) * window
	}
	return out
}

// lastStep says how long the last step is where it is clearly shorter than a
// window.
func lastStep(to, window float64) string {
	if rest := math.Mod(to, window); rest > 1e-6*window && rest < 0.9*window {
		return ", the last of " + elapsed(rest)
	}
	return ""
}

func fittedRate(r *fit.Report) *chart.Plot {
	p := &chart.Plot{Title: "Arrivals over time", X: chart.Axis{Label: "time since the first request", Unit: chart.Seconds}, Y: chart.Axis{Label: "arrivals/s"}}
	if len(r.Rate.Log) == 0 && len(r.Rate.Model) == 0 {
		p.Empty = noMoments(r)
		return p
	}
	p.Note = "The log, and one sample of the model; each step is the mean of " + written(time.Duration(r.Rate.Window*1e9)) + lastStep(r.Rate.To, r.Rate.Window) + "."
	for _, s := range []struct {
		name  string
		shape chart.Shape
		role  chart.Role
		y     []float64
	}{{"log", chart.Filled, chart.Data, r.Rate.Log}, {"model", chart.Steps, chart.Model, r.Rate.Model}} {
		if len(s.y) > 0 {
			edges := steps(len(s.y), r.Rate.Window)
			edges[len(s.y)] = min(edges[len(s.y)], r.Rate.To)
			p.Series = append(p.Series, chart.Series{Name: s.name, Shape: s.shape, Role: s.role, X: edges, Y: s.y})
		}
	}
	return p
}

func fittedDispersion(r *fit.Report) *chart.Plot {
	p := &chart.Plot{Title: "Burstiness over time scales",
		Note: fmt.Sprintf("Variance ÷ mean of the counts in windows: the log, the median of %d samples of the model with their least and greatest, and Poisson of one rate.", r.Seeds),
		X:    chart.Axis{Label: "window", Unit: chart.Seconds, Log: true}, Y: chart.Axis{Label: "index of dispersion", Log: true}}
	if len(r.Dispersion) < 2 {
		p.Empty = "the log is too short for windows of several lengths, or its source holds no moments"
		if r.MadeUp {
			p.Empty = noMoments(r)
		}
		return p
	}
	log, model := chart.Series{Name: "log"}, chart.Series{Name: "model", Role: chart.Model}
	poisson, span := chart.Series{Name: "Poisson", Role: chart.Reference}, chart.Series{Name: "model, least and greatest", Role: chart.Other}
	var high []float64
	for _, d := range r.Dispersion {
		log.X, log.Y = append(log.X, d.Scale), append(log.Y, d.Log)
		model.Y, poisson.Y, span.Y = append(model.Y, d.Model), append(poisson.Y, d.Poisson), append(span.Y, d.Low)
		high = append(high, d.High)
	}
	model.X, poisson.X = log.X, log.X
	span.X = append(append(append(span.X, log.X...), log.X[0]), log.X...)
	span.Y = append(append(span.Y, math.NaN()), high...)
	p.Series = []chart.Series{log, model, span, poisson}
	return p
}

func fittedGaps(r *fit.Report) *chart.Plot {
	g := r.Gaps
	p := &chart.Plot{Title: "Time between arrivals", Note: "Share of the gaps that are no longer.",
		X: chart.Axis{Label: "gap to the arrival before", Unit: chart.Seconds, Log: true}, Y: chart.Axis{Label: "share of the gaps", Unit: chart.Share, To: 1}}
	if g == nil {
		p.Empty = noMoments(r)
		return p
	}
	p.Series = []chart.Series{{Name: "log", X: g.Log, Y: g.Share}, {Name: "model", Role: chart.Model, X: g.Model, Y: g.Share},
		{Name: "Poisson of one rate", Role: chart.Reference, X: g.Poisson, Y: g.Share}}
	return p
}

func fittedLength(which string, h *fit.HeldOut, madeUp bool) *chart.Plot {
	p := &chart.Plot{Title: map[string]string{"input": "Input", "output": "Output"}[which] + " length, held out",
		X: chart.Axis{Label: which + " length (tokens)", Log: true}, Y: chart.Axis{Label: "share of the requests", Unit: chart.Share, To: 1}}
	if h == nil {
		p.Empty = "the log has too few " + which + " lengths"
		return p
	}
	slice := elapsed(h.Slice)
	if madeUp {
		slice = measure.Count(int64(math.Round(h.Slice))) + " rows"
	}
	p.Note = fmt.Sprintf("Share of the requests that are no longer: odd slices of %s, and a model learnt from the even ones.", slice)
	log, model, even := chart.Series{Name: "odd slices of the log"}, chart.Series{Name: "model of the even slices", Role: chart.Model},
		chart.Series{Name: "even slices", Role: chart.Reference}
	for _, q := range h.Quantiles {
		log.X, log.Y = append(log.X, q.Log), append(log.Y, q.Share)
		model.X, model.Y = append(model.X, q.Model), append(model.Y, q.Share)
		even.X, even.Y = append(even.X, q.Even), append(even.Y, q.Share)
		if q.Share == 0.95 {
			p.Marks = append(p.Marks, chart.At(q.Log, "p95 log "+measure.Digits(q.Log)+", model "+measure.Digits(q.Model)))
		}
	}
	p.Series = []chart.Series{log, model, even}
	return p
}

// ranks draws the joint ranks of lengths.
func ranks(title, which string, cells [][]float64) *chart.Plot {
	edges := steps(len(cells), 1/float64(max(len(cells), 1)))
	return &chart.Plot{Title: title, Note: "Ranks instead of lengths: fields of one shade would be lengths that have nothing to do with each other. Darker: more requests.",
		X: chart.Axis{Label: "rank of the input (" + which + ")", Unit: chart.Share}, Y: chart.Axis{Label: "rank of the output", Unit: chart.Share},
		Grid: &chart.Grid{X: edges, Y: edges, Count: cells}}
}

func fittedPrefix(r *fit.PrefixReport) *chart.Plot {
	p := &chart.Plot{Title: "What a prefix cache would find",
		Note: "Share of the prompt tokens that a cache of so many tokens finds, if it forgets what was used longest ago.",
		X:    chart.Axis{Label: "cache size (tokens)", Log: true}, Y: chart.Axis{Label: "prompt tokens found", Unit: chart.Share}}
	if r == nil || len(r.Curve) < 2 {
		p.Empty = "the log does not name the blocks of its prompts"
		return p
	}
	log, model := chart.Series{Name: "log"}, chart.Series{Name: "model", Role: chart.Model}
	for _, c := range r.Curve[:len(r.Curve)-1] {
		log.X, log.Y = append(log.X, float64(c.Tokens)), append(log.Y, c.Hit)
		if c.Model != nil {
			model.X, model.Y = append(model.X, float64(c.Tokens)), append(model.Y, *c.Model)
		}
	}
	p.Series = []chart.Series{log}
	if len(model.X) > 0 {
		p.Series = append(p.Series, model)
	}
	all := r.Curve[len(r.Curve)-1].Hit
	p.Series = append(p.Series, chart.Series{Name: "log, unlimited: " + measure.Percent(100*all), Role: chart.Reference,
		X: []float64{log.X[0], log.X[len(log.X)-1]}, Y: []float64{all, all}})
	return p
}

func popularity(r *fit.PrefixReport) *chart.Plot {
	p := &chart.Plot{Title: "Popularity of what sessions share at their front", X: chart.Axis{Label: "rank of the front", Log: true},
		Y: chart.Axis{Label: "sessions", Log: true}}
	s := chart.Series{Name: "fronts", Shape: chart.Dots}
	for _, k := range r.Popularity {
		s.X, s.Y = append(s.X, float64(k.Rank)), append(s.Y, float64(k.Sessions))
	}
	if r.Exponent != nil {
		p.Note = "Zipf's law with an exponent of " + measure.Digits(*r.Exponent) + " fits it best."
	}
	p.Series = []chart.Series{s}
	return p
}

// driftSection draws the parts of a log, of which there is one at least; newText
// says that the input of a later turn is what it adds to its conversation.
func driftSection(d *fit.Drift, newText bool) Section {
	s := Section{Title: "Drift along the log"}
	rate := chart.Series{Name: "rate", Shape: chart.Filled, X: []float64{d.Parts[0].From}}
	var input, output [2]chart.Series
	for k, name := range []string{"p50", "p90"} {
		role := []chart.Role{chart.Data, chart.Other}[k]
		input[k], output[k] = chart.Series{Name: name, Shape: chart.Steps, Role: role, X: rate.X}, chart.Series{Name: name, Shape: chart.Steps, Role: role, X: rate.X}
	}
	for _, p := range d.Parts {
		rate.X, rate.Y = append(rate.X, p.To), append(rate.Y, p.PerMinute/60)
		for _, v := range []struct {
			to   *chart.Series
			from *float64
		}{{&input[0], p.InputP50}, {&input[1], p.InputP90}, {&output[0], p.OutputP50}, {&output[1], p.OutputP90}} {
			y := math.NaN()
			if v.from != nil {
				y = *v.from
			}
			v.to.X, v.to.Y = append(v.to.X, p.To), append(v.to.Y, y)
		}
	}
	note := ""
	if newText {
		note = "Of a later turn its new text."
	}
	time := chart.Axis{Label: "time since the first request", Unit: chart.Seconds}
	s.Figures = []chart.Figure{
		&chart.Plot{Title: "Rate of each part", X: time, Y: chart.Axis{Label: "requests/s"}, Series: []chart.Series{rate}},
		&chart.Plot{Title: "Input length of each part", Note: note, X: time, Y: chart.Axis{Label: "tokens"}, Series: input[:], Empty: silent(input[:])},
		&chart.Plot{Title: "Output length of each part", X: time, Y: chart.Axis{Label: "tokens"}, Series: output[:], Empty: silent(output[:])},
	}
	return s
}

// silent says why there is no picture of lengths, where none is known.
func silent(series []chart.Series) string {
	for _, s := range series {
		for _, y := range s.Y {
			if !math.IsNaN(y) {
				return ""
			}
		}
	}
	return "the log has no such lengths"
}

func season(s *fit.Season) *chart.Plot {
	return &chart.Plot{Title: "The rate repeats every " + elapsed(s.Period),
		Note: fmt.Sprintf("Mean of each part of the period, in multiples of the mean rate; it explains %s of the rate's variance.", measure.Percent(100*s.Strength)),
		X:    chart.Axis{Label: "time in the period", Unit: chart.Seconds}, Y: chart.Axis{Label: "times the mean rate"},
		Series: []chart.Series{{Name: "profile", Shape: chart.Filled, X: steps(len(s.Profile), s.Period/float64(max(len(s.Profile), 1))), Y: s.Profile}}}
}
