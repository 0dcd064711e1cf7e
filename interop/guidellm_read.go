package interop

import (
	"github.com/tokamak-bench/tokamak/interop/jsonstream"
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
)

// guidellmFormat is GuideLLM's benchmarks.json: of 0.7 and later (schema 2),
// and the older forms, whose requests name their moments otherwise.
func guidellmFormat() format {
	return format{
		name: "guidellm", holds: "GuideLLM's benchmarks.json, of 0.8 and of the versions before; it has each request",
		files: []string{"benchmarks.json", "guidellm*.json"},
		recognise: func(h *head) bool {
			return !h.list && (h.has("benchmarks") || h.contains(`"guidellm_version"`) || h.contains(`"generative_benchmark"`))
		},
		read: readGuideLLM,
	}
}

// guideRequest is one request of the file.
type guideRequest struct {
	a   record.Attempt
	err string
}

func readGuideLLM(in *input, s *Source, to sink) error {
	s.Tool = "GuideLLM"
	n := 0
	err := in.json(func(r *jsonstream.Reader) error {
		return r.Object(func(name string) error {
			switch name {
			case "metadata":
				return guideVersion(r, s)
			case "benchmarks":
				return r.Array(func(i int) error {
					n++
					if !in.chosen(i) {
						return nil
					}
					return guideBenchmark(r, s, to)
				})
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	s.Runs = n
	return in.single(n)
}

func guideVersion(r *jsonstream.Reader, s *Source) error {
	return r.Object(func(name string) (err error) {
		if name == "guidellm_version" {
			s.Version, _, err = r.Text(64)
		}
		return err
	})
}

func guideBenchmark(r *jsonstream.Reader, s *Source, to sink) error {
	s.API = "openai-chat"
	s.lose("arrivals between the first and the last token: the file has no chunks, so gaps, stalls and jitter are unknown")
	s.lose("when the last byte of a request had left, when the first byte of a response came, connections, finish reasons and notes")
	s.lose("whether token counts are the server's or GuideLLM's tokenizer's: they stand as the server's")
	s.Untold = []string{"usage_difference", "prompt_usage_difference", "ttfb"}
	id, without := int64(0), int64(0)
	err := r.Object(func(name string) error {
		switch name {
		case "config":
			return guideConfig(r, s)
		case "metrics":
			return guideFigures(r, s, "")
		case "requests":
			return r.Object(func(list string) error {
				return r.Array(func(int) error {
					placed, err := guideRow(r, s, to, list, id)
					id++
					if !placed {
						without++
					}
					return err
				})
			})
		case "request_loader", "args", "benchmark": // before 0.4
			return guideConfig(r, s)
		}
		return nil
	})
	if without > 0 && err == nil {
		s.doubt("%s of %s without any moment, left out of every figure", plural(without, "request"), measure.Count(id))
	}
	return err
}

// guideConfig finds the target, the model and the load in the configuration.
func guideConfig(r *jsonstream.Reader, s *Source) error {
	if r.Kind() != '{' {
		return nil
	}
	return r.Object(func(name string) (err error) {
		switch {
		case name == "target" && r.Kind() == '"':
			s.Target, _, err = r.Text(1 << 10)
		case name == "model" && r.Kind() == '"':
			s.Model, _, err = r.Text(256)
		case name == "strategy":
			s.Load, err = guideStrategy(r)
		case name == "request_format" && r.Kind() == '"':
			format, _, readErr := r.Text(64)
			if format == "/v1/completions" || format == "text_completions" {
				s.API = "openai-completions"
			}
			err = readErr
		case name == "backend" || name == "args":
			err = guideConfig(r, s)
		}
		return err
	})
}

// guideStrategy says the load in words.
func guideStrategy(r *jsonstream.Reader) (string, error) {
	kind, rate, streams := "", "", record.Int{}
	if r.Kind() != '{' {
		return "", nil
	}
	err := r.Object(func(name string) (err error) {
		switch name {
		case "type_":
			kind, _, err = r.Text(32)
		case "rate":
			rate, err = rateWord(r)
		case "streams":
			streams, err = count(r)
		}
		return err
	})
	switch kind {
	case "concurrent", "synchronous":
		return loadWords("", record.Some(streams.Or(1))), err
	case "throughput":
		return "all at once", err
	case "":
		return "", err
	}
	text := "open loop, " + kind
	if rate != "" {
		text += ", " + rate + " requests/s"
	}
	return text, err
}

// mostFigures bounds how many figures of a file are kept.
const mostFigures = 5000

// guideFigures keeps the summary's numbers of successful requests and of all.
func guideFigures(r *jsonstream.Reader, s *Source, path string) error {
	return figures(r, s, path, func(name string) bool { return name != "pdf" && name != "mode" && name != "variance" })
}

// figures keeps every number below a value under its path, as far as wanted.
func figures(r *jsonstream.Reader, s *Source, path string, wanted func(name string) bool) error {
	switch r.Kind() {
	case '0':
		x, ok, err := r.Float()
		if ok && len(s.Figures) < mostFigures {
			s.figure(path, unitOf(path), x)
		}
		return err
	case '{':
		return r.Object(func(name string) error {
			if !wanted(name) {
				return nil
			}
			if len(name) > 128 {
				return r.Errorf("expected a name of at most 128 bytes")
			}
			if path != "" {
				name = path + "." + name
			}
			if len(name) > 1024 {
				return nil
			}
			return figures(r, s, name, wanted)
		})
	}
	return r.Skip()
}

// guideRow reads one request of the list called list; false: nothing says when
// it was.
func guideRow(r *jsonstream.Reader, s *Source, to sink, list string, id int64) (bool, error) {
	var g guideRequest
	a := &g.a
	a.RequestID, a.Attempt = id, 1
	if err := r.Object(func(name string) error { return g.field(r, name) }); err != nil {
		return true, err
	}
	start, ok := a.WriteStart.Get()
	switch {
	case !ok:
		// Never sent: GuideLLM had it in its queue when it stopped.
		a.Outcome = record.Unsent
	case list == "successful":
		a.Outcome = record.OK
	case list == "incomplete":
		a.Outcome, a.ErrorClass = record.Cut, "cut"
	default:
		failure(a, g.err)
	}
	if ok && !a.Intended.Valid() {
		a.Intended = record.Some(start)
		s.lose("the intended time of some requests: the moment of sending stands for it")
	}
	if !a.Intended.Valid() {
		a.Intended = a.Dispatched
	}
	if !a.Intended.Valid() {
		return false, nil
	}
	if err := to.row(a); err != nil {
		return true, r.Errorf("%w", err)
	}
	return true, nil
}

func (g *guideRequest) field(r *jsonstream.Reader, name string) (err error) {
	a := &g.a
	switch name {
	case "request_id":
		a.SourceID, _, err = r.Text(256)
	case "response_id":
		a.ServerID, _, err = r.Text(256)
	case "info", "scheduler_info":
		err = r.Object(func(name string) error { return g.info(r, name) })
	case "input_metrics":
		err = usage(r, &a.PromptUsage, &a.CachedUsage)
	case "output_metrics":
		err = usage(r, &a.OutputUsage, nil)
	case "prompt_tokens":
		err = fill(r, &a.PromptUsage)
	case "output_tokens":
		err = fill(r, &a.OutputUsage)
	case "start_time":
		err = moment(r, &a.WriteStart)
	case "first_token_time":
		err = moment(r, &a.FirstToken)
	case "last_token_time":
		err = moment(r, &a.LastToken)
	case "end_time":
		err = moment(r, &a.Moments.Ended)
	case "error":
		g.err, _, err = r.Text(64 << 10)
	}
	return err
}

func (g *guideRequest) info(r *jsonstream.Reader, name string) (err error) {
	switch name {
	case "conversation_id":
		g.a.SessionID, _, err = r.Text(256)
	case "turn_index":
		g.a.Turn, _, err = r.Count()
	case "error":
		if r.Kind() == '"' {
			g.err, _, err = r.Text(64 << 10)
		}
	case "timings", "request_timings":
		err = r.Object(func(name string) error { return g.timing(r, name) })
	default:
		err = g.timing(r, name) // before 0.4 they stood here
	}
	return err
}

func (g *guideRequest) timing(r *jsonstream.Reader, name string) error {
	m := &g.a.Moments
	switch name {
	case "targeted_start", "targeted_start_time":
		return moment(r, &m.Intended)
	case "dequeued", "dequeued_time":
		return moment(r, &m.Dispatched)
	case "request_start":
		return moment(r, &m.WriteStart)
	case "first_request_iteration":
		return moment(r, &m.FirstChunk)
	case "first_token_iteration":
		return moment(r, &m.FirstToken)
	case "first_output_token_iteration":
		return moment(r, &m.FirstAnswer)
	case "last_token_iteration":
		return moment(r, &m.LastToken)
	case "request_end":
		return moment(r, &m.Ended)
	}
	return nil
}

// moment reads seconds into a moment that has none yet. Less than 0 is how some
// versions write one that was not reached.
func moment(r *jsonstream.Reader, into *record.Int) error {
	ns, ok, err := r.Nanoseconds(1e9)
	if ok && ns >= 0 && !into.Valid() {
		*into = record.Some(ns)
	}
	return err
}

func fill(r *jsonstream.Reader, into *record.Int) error {
	n, ok, err := r.Count()
	if ok && !into.Valid() {
		*into = record.Some(n)
	}
	return err
}

// usage reads a block of token counts.
func usage(r *jsonstream.Reader, total, cached *record.Int) error {
	text := record.Int{}
	err := r.Object(func(name string) error {
		switch {
		case name == "total_tokens":
			return fill(r, total)
		case name == "text_tokens":
			return fill(r, &text)
		case name == "cached_tokens" && cached != nil:
			return fill(r, cached)
		}
		return nil
	})
	if !total.Valid() {
		*total = text
	}
	return err
}
