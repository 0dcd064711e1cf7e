package dialect

// carry adds what a rate counts of a sending.
func (y *tally) carry(r *request, s *seen, ok bool) {
	w := &y.rules.Window.Of
	if !w.load {
		if from, to, counts := w.of(r, s, ok); counts {
			y.window.grow(from, to)
		}
	}
	if ok {
		y.own.grow(s.start, s.end)
	}
	c := y.rules.Carried.Of(r, s, ok)
	input := y.rules.Input.Of(r)
	part := 1.0
	if w.load {
		c.request = c.request && y.inside(r.ended)
		c.input = c.input && y.inside(s.first)
		part = y.partInside(r)
	}
	if c.request {
		y.requests++
	}
	if c.input && input != unknown {
		y.input += float64(input)
		y.inputKnown = true
	}
	if c.output && s.output != unknown && (s.chunks > 0 || !w.load) {
		y.output += float64(s.output) * part
		y.outputKnown = true
	}
	if ok {
		y.okOutput += float64(max(s.output, 0))
		y.okInput += float64(max(input, 0))
	}
}

func (y *tally) inside(at int64) bool {
	return at != absent && y.window.from <= at && at <= y.window.to
}

// partInside is the share of a response's tokens that came in the window; an
// event whose tokens are unknown counts as one.
func (y *tally) partInside(r *request) float64 {
	var in, all float64
	for _, e := range r.events {
		if e.kind&y.rules.Sees.Of == 0 {
			continue
		}
		n := float64(e.tokens)
		if e.tokens < 0 {
			n = 1
		}
		all += n
		if y.inside(e.at) {
			in += n
		}
	}
	if all == 0 {
		return 0
	}
	return in / all
}

// rates puts counts and rates among the figures.
func (y *tally) rates(out values) {
	known := func(x float64, ok bool) float64 {
		if !ok {
			return nan()
		}
		return x
	}
	seconds := y.window.seconds()
	input, output := known(y.input, y.inputKnown), known(y.output, y.outputKnown)
	out["requests.ok"], out["requests.failed"] = float64(y.n.ok), float64(y.n.failed)
	out["requests.sent"] = float64(y.n.sent)
	out["duration"] = seconds
	out["output_tokens"], out["input_tokens"] = y.okOutput, y.okInput
	out["request_rate"] = float64(max(y.requests-y.rules.Window.Of.less, 0)) / seconds
	out["output_rate"], out["input_rate"] = output/seconds, input/seconds
	out["total_rate"] = (output + input) / seconds
	g := &y.rules.Good.Of
	if !g.takesAll(y.limits) {
		return
	}
	over := seconds
	if g.own {
		over = y.own.seconds()
	}
	out["goodput"] = float64(y.n.good) / over
	if g.share != nil {
		if of := g.share(&y.n); of > 0 {
			out["goodput_share"] = 100 * float64(y.n.good) / float64(of)
		}
	}
}
