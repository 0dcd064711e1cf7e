package interop

import (
	"github.com/valyala/fastjson"

	"github.com/tokamak-bench/tokamak/interop/jsonstream"
	"github.com/tokamak-bench/tokamak/record"
)

// inferencePerfFormat is inference-perf's per_request_lifecycle_metrics.json:
// each request with every event of its stream.
func inferencePerfFormat() format {
	return format{
		name: "inference-perf", holds: "inference-perf's per_request_lifecycle_metrics.json: each request with the events of its stream",
		files:     []string{"*per_request_lifecycle_metrics.json"},
		recognise: func(h *head) bool { return h.list && h.has("start_time", "end_time", "info") },
		read:      readInferencePerf,
	}
}

// perfRequest is one element of the file.
type perfRequest struct {
	a           record.Attempt
	p           fastjson.Parser
	stamps      []int64 // of all events
	tokens      []int64 // of all tokens
	events      []perfEvent
	failed      bool
	err, errTyp string
}

// perfEvent is what an event held; kind 0: no content.
type perfEvent struct {
	kind  record.ChunkKind
	bytes int32
}

func readInferencePerf(in *input, s *Source, to sink) error {
	s.Tool = "inference-perf"
	s.lose("the intended time and the stage: the summary has the delays alone; the moment of sending stands for it, so that lateness of the client does not show")
	s.lose("when the last byte of a request had left and the first byte of a response came, connections, finish reasons and notes")
	s.lose("prompts and answers: they are in the file and are not read")
	s.Untold = []string{"ttfb"}
	n := int64(0)
	err := in.json(func(r *jsonstream.Reader) error {
		var q perfRequest
		return r.Array(func(int) error {
			q.reset(n)
			n++
			if err := r.Object(func(name string) error { return q.field(r, name) }); err != nil {
				return err
			}
			if !q.a.WriteStart.Valid() {
				return r.Errorf("expected a start_time")
			}
			q.settle()
			if err := to.row(&q.a); err != nil {
				return r.Errorf("%w", err)
			}
			return nil
		})
	})
	if err == nil && n == 0 {
		return in.single(0)
	}
	return err
}

func (q *perfRequest) reset(id int64) {
	q.a = record.Attempt{Identity: record.Identity{RequestID: id, Attempt: 1}}
	q.stamps, q.tokens, q.events, q.failed, q.err, q.errTyp = q.stamps[:0], q.tokens[:0], q.events[:0], false, "", ""
}

func (q *perfRequest) field(r *jsonstream.Reader, name string) error {
	switch name {
	case "start_time":
		return moment(r, &q.a.WriteStart)
	case "end_time":
		return moment(r, &q.a.Moments.Ended)
	case "info":
		return r.Object(func(name string) error { return q.info(r, name) })
	case "error":
		if r.Kind() == 'n' {
			return nil
		}
		q.failed = true
		return r.Object(func(name string) (err error) {
			switch name {
			case "error_type":
				q.errTyp, _, err = r.Text(256)
			case "error_msg":
				q.err, _, err = r.Text(64 << 10)
			}
			return err
		})
	}
	return nil
}

func (q *perfRequest) info(r *jsonstream.Reader, name string) error {
	switch name {
	case "input_tokens":
		return fill(r, &q.a.PromptCounted)
	case "output_tokens": // before the two blocks of metrics
		return fill(r, &q.a.OutputCounted)
	case "output_token_times":
		return times(r, &q.tokens)
	case "response_metrics":
		return r.Object(func(name string) error { return q.response(r, name) })
	}
	return nil
}

func (q *perfRequest) response(r *jsonstream.Reader, name string) error {
	switch name {
	case "output_tokens":
		return fill(r, &q.a.OutputCounted)
	case "server_usage":
		return r.Object(func(name string) error {
			switch name {
			case "prompt_tokens":
				return fill(r, &q.a.PromptUsage)
			case "completion_tokens":
				return fill(r, &q.a.OutputUsage)
			case "prompt_tokens_details":
				return r.Object(func(name string) error {
					if name == "cached_tokens" {
						return fill(r, &q.a.CachedUsage)
					}
					return nil
				})
			}
			return nil
		})
	case "chunk_times":
		return times(r, &q.stamps)
	case "output_token_times":
		return times(r, &q.tokens)
	case "response_chunks":
		return r.Array(func(i int) error {
			if i >= maxGaps {
				return r.Errorf("more than %d events in one response", maxGaps)
			}
			text, _, err := r.Text(1 << 20)
			q.events = append(q.events, q.look(text))
			return err
		})
	}
	return nil
}

// times reads an array of moments in seconds.
func times(r *jsonstream.Reader, into *[]int64) error {
	*into = (*into)[:0]
	return r.Array(func(i int) error {
		if i >= maxGaps {
			return r.Errorf("more than %d moments in one response", maxGaps)
		}
		ns, ok, err := r.Nanoseconds(1e9)
		if err == nil && !ok {
			err = r.Errorf("expected a moment")
		}
		*into = append(*into, ns)
		return err
	})
}

// look says what an event holds; its text is not kept.
func (q *perfRequest) look(event string) perfEvent {
	v, err := q.p.Parse(event)
	if err != nil {
		return perfEvent{}
	}
	choice := v.Get("choices", "0")
	for _, k := range [...]struct {
		kind record.ChunkKind
		path []string
	}{
		{record.TextChunk, []string{"text"}},
		{record.TextChunk, []string{"delta", "content"}},
		{record.ReasoningChunk, []string{"delta", "reasoning_content"}},
		{record.ReasoningChunk, []string{"delta", "reasoning"}},
	} {
		if text := choice.GetStringBytes(k.path...); len(text) > 0 {
			return perfEvent{k.kind, int32(len(text))}
		}
	}
	if calls := choice.GetArray("delta", "tool_calls"); len(calls) > 0 {
		return perfEvent{record.ToolChunk, int32(len(calls[0].GetStringBytes("function", "arguments")))}
	}
	return perfEvent{}
}

// settle makes chunks of events, or of the moments of tokens where the file
// has no events: tokens of one moment came in one chunk.
func (q *perfRequest) settle() {
	a, c := &q.a, &q.a.Chunks
	a.Intended = a.WriteStart
	switch {
	case len(q.events) == len(q.stamps) && len(q.stamps) > 0:
		for i, e := range q.events {
			if e.kind != 0 {
				c.At, c.Kind, c.Bytes = append(c.At, q.stamps[i]), append(c.Kind, e.kind), append(c.Bytes, e.bytes)
				if e.kind != record.ReasoningChunk && !a.FirstAnswer.Valid() {
					a.FirstAnswer = record.Some(q.stamps[i])
				}
			}
		}
		a.FirstChunk = record.Some(q.stamps[0])
	case len(q.tokens) > 0:
		for i, at := range q.tokens {
			if i > 0 && at == q.tokens[i-1] {
				c.Tokens[len(c.Tokens)-1]++
				continue
			}
			c.At, c.Tokens = append(c.At, at), append(c.Tokens, 1)
		}
		a.TokenSource = "tokenizer"
	case !q.failed && a.Moments.Ended.Valid(): // not streamed: all of it came at once
		a.FirstToken, a.LastToken = a.Moments.Ended, a.Moments.Ended
		a.Notes = append(a.Notes, "not_streamed")
	}
	a.Outcome = record.OK
	if q.failed {
		failure(a, q.errTyp+": "+q.err)
		a.PromptCounted = record.Int{} // it writes 0
	}
}

// inferencePerfSummaryFormat is its summary, of the run or of a stage.
func inferencePerfSummaryFormat() format {
	return format{
		name: "inference-perf-summary", holds: "inference-perf's summary_ or stage_N_lifecycle_metrics.json: figures only",
		files:     []string{"*summary_lifecycle_metrics.json"},
		recognise: func(h *head) bool { return !h.list && h.has("load_summary", "successes", "failures") },
		read: func(in *input, s *Source, _ sink) error {
			s.Tool = "inference-perf"
			err := in.json(func(r *jsonstream.Reader) error {
				return figures(r, s, "", func(name string) bool {
					return name != "by_label" && name != "image" && name != "video" && name != "audio"
				})
			})
			for i := range s.Figures {
				s.Figures[i].Unit = perfUnit(s.Figures[i].Name)
			}
			return err
		},
	}
}

// perfUnit is the unit of a figure of inference-perf: times are seconds.
func perfUnit(path string) string {
	switch {
	case containsAny(path, "count", "goodput", "mismatch"):
		return ""
	case containsAny(path, "tokens_per_sec"):
		return "tok/s"
	case containsAny(path, "_per_sec", "rate"):
		return "/s"
	case containsAny(path, "latency", "time_", "delay", "duration"):
		return "s"
	case containsAny(path, "tokens", "output_len"):
		return "tok"
	case containsAny(path, "bytes"):
		return "bytes"
	}
	return ""
}
