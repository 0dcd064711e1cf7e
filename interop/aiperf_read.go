package interop

import (
	"time"

	"github.com/tokamak-bench/tokamak/interop/jsonstream"
	"github.com/tokamak-bench/tokamak/record"
)

// aiperfFormat is AIPerf's profile_export.jsonl: one record a line, each value
// with its unit.
func aiperfFormat() format {
	return format{
		name: "aiperf", holds: "AIPerf's records (profile_export.jsonl): each request with its chunks' gaps",
		files: []string{"profile_export.jsonl"},
		recognise: func(h *head) bool {
			return !h.list && h.has("metadata", "metrics") && h.contains(`"request_start_ns"`)
		},
		read: readAIPerf,
	}
}

// aiperfRecord is one line.
type aiperfRecord struct {
	a              record.Attempt
	phase          string
	start, end     record.Int
	ttft, answer   record.Int // durations in ns
	latency        record.Int
	gaps           []int64
	failed         bool
	cancelled      bool
	code           record.Int
	err, errorType string
}

func readAIPerf(in *input, s *Source, to sink) error {
	s.Tool = "AIPerf"
	s.lose("the intended time: the start of sending stands for it, so that lateness of the client does not show; the credit stands as dispatched")
	s.lose("when the last byte of a request had left and the first byte of a response came, finish reasons and notes")
	s.lose("kinds and bytes of single chunks; one token each where their number is that of the output tokens")
	s.Untold = []string{"ttfb"}
	warmups, n := int64(0), 0
	err := in.json(func(r *jsonstream.Reader) error {
		for id := int64(0); ; {
			more, err := r.More()
			if err != nil || !more {
				return err
			}
			var rec aiperfRecord
			if err := r.Object(func(name string) error { return rec.field(r, name) }); err != nil {
				return err
			}
			if rec.phase == "warmup" {
				warmups++
				continue
			}
			if !rec.start.Valid() {
				return r.Errorf("expected metadata.request_start_ns")
			}
			rec.a.RequestID = id
			id++
			n++
			rec.settle()
			if err := to.row(&rec.a); err != nil {
				return r.Errorf("%w", err)
			}
		}
	})
	if warmups > 0 {
		s.lose("%s of the warm-up phase: left out", plural(warmups, "record"))
	}
	if err == nil && n == 0 {
		return in.single(0)
	}
	return err
}

func (rec *aiperfRecord) field(r *jsonstream.Reader, name string) error {
	switch name {
	case "metadata":
		return r.Object(func(name string) error { return rec.metadata(r, name) })
	case "metrics":
		return r.Object(func(tag string) error { return rec.metric(r, tag) })
	case "error":
		if r.Kind() == 'n' {
			return nil
		}
		rec.failed = true
		return r.Object(func(name string) (err error) {
			switch name {
			case "code":
				var n int64
				var ok bool
				if n, ok, err = r.Int(); ok {
					rec.code = record.Some(n)
				}
			case "type":
				rec.errorType, _, err = r.Text(128)
			case "message":
				rec.err, _, err = r.Text(64 << 10)
			}
			return err
		})
	}
	return nil
}

func (rec *aiperfRecord) metadata(r *jsonstream.Reader, name string) (err error) {
	a := &rec.a
	whole := func(into *record.Int) error {
		n, ok, err := r.Int()
		if ok {
			*into = record.Some(n)
		}
		return err
	}
	switch name {
	case "x_request_id":
		a.SourceID, _, err = r.Text(256)
	case "conversation_id":
		a.SessionID, _, err = r.Text(256)
	case "turn_index":
		a.Turn, _, err = r.Count()
	case "worker_id":
		a.Worker, _, err = r.Text(256)
	case "benchmark_phase":
		rec.phase, _, err = r.Text(32)
	case "credit_issued_ns":
		err = whole(&a.Dispatched)
	case "request_start_ns":
		err = whole(&rec.start)
	case "request_end_ns":
		err = whole(&rec.end)
	case "was_cancelled":
		rec.cancelled, _, err = r.Bool()
	}
	return err
}

// metric reads {value, unit}; the unit may stand after the value.
func (rec *aiperfRecord) metric(r *jsonstream.Reader, tag string) error {
	var into *record.Int
	a := &rec.a
	switch tag {
	case "time_to_first_token":
		return rec.duration(r, &rec.ttft)
	case "time_to_first_output_token":
		return rec.duration(r, &rec.answer)
	case "request_latency":
		return rec.duration(r, &rec.latency)
	case "inter_chunk_latency":
		return r.Object(func(name string) (err error) {
			if name == "value" {
				rec.gaps, err = gaps(r, 1e6)
			} else if name == "unit" {
				err = expectUnit(r, "ms")
			}
			return err
		})
	case "input_sequence_length":
		into = &a.PromptCounted
	case "output_sequence_length":
		into = &a.OutputCounted
	case "requested_osl":
		into = &a.OutputAsked
	case "usage_prompt_tokens":
		into = &a.PromptUsage
	case "usage_completion_tokens":
		into = &a.OutputUsage
	case "usage_reasoning_tokens":
		into = &a.ReasoningUsage
	case "usage_prompt_cache_read_tokens":
		into = &a.CachedUsage
	default:
		return nil
	}
	return r.Object(func(name string) error {
		if name == "value" {
			return fill(r, into)
		}
		return nil
	})
}

// unitNS is how many ns the units of durations are; 0 of any other.
func unitNS(unit string) int64 {
	switch unit {
	case "ns":
		return 1
	case "us":
		return 1e3
	case "ms":
		return 1e6
	case "s", "sec":
		return 1e9
	}
	return 0
}

// duration reads a value with its unit.
func (rec *aiperfRecord) duration(r *jsonstream.Reader, into *record.Int) error {
	unit, value := "ms", record.Int{}
	err := r.Object(func(name string) (err error) {
		switch name {
		case "value":
			var ns int64
			var ok bool
			if ns, ok, err = r.Nanoseconds(1e6); ok {
				value = record.Some(ns)
			}
		case "unit":
			unit, _, err = r.Text(32)
		}
		return err
	})
	v, ok := value.Get()
	if !ok || err != nil {
		return err
	}
	ns := unitNS(unit)
	if ns == 0 {
		return r.Errorf("expected the unit ns, us, ms or sec, got %q", unit)
	}
	*into = record.Some(scale(v, ns)) // it was read as ms
	return nil
}

// scale turns ns read as ms into ns of another unit.
func scale(v, unit int64) int64 {
	if unit >= 1e6 {
		return v * (unit / 1e6)
	}
	return v / (1e6 / unit)
}

func expectUnit(r *jsonstream.Reader, want string) error {
	unit, ok, err := r.Text(32)
	if err == nil && ok && unit != want {
		err = r.Errorf("expected the unit %s, got %q", want, unit)
	}
	return err
}

// settle makes moments of durations.
func (rec *aiperfRecord) settle() {
	a := &rec.a
	start := rec.start.Or(0)
	a.Attempt = 1
	a.Intended, a.WriteStart, a.Moments.Ended = rec.start, rec.start, rec.end
	if d, ok := rec.ttft.Get(); ok {
		at := start + d
		a.FirstToken = record.Some(at)
		a.Chunks.At = append(a.Chunks.At, at)
		for _, g := range rec.gaps {
			at += g
			a.Chunks.At = append(a.Chunks.At, at)
		}
		a.LastToken = record.Some(at)
	}
	if d, ok := rec.latency.Get(); ok && !rec.failed {
		a.LastToken = record.Some(start + d)
		if n := len(a.Chunks.At); n > 1 {
			a.Chunks.At[n-1] = start + d // the gaps are rounded, the latency is not
			if a.Chunks.At[n-1] < a.Chunks.At[n-2] {
				a.Chunks.At[n-1] = a.Chunks.At[n-2]
			}
		}
	}
	if d, ok := rec.answer.Get(); ok {
		a.FirstAnswer = record.Some(start + d)
	}
	if !a.FirstToken.Valid() && a.LastToken.Valid() {
		a.FirstToken = a.LastToken // not streamed: all of it came at once
		a.Notes = append(a.Notes, "not_streamed")
	}
	switch {
	case rec.cancelled:
		a.Outcome, a.ErrorClass = record.Cancelled, "cancelled"
	case rec.failed:
		rec.fail()
	default:
		a.Outcome = record.OK
	}
}

func (rec *aiperfRecord) fail() {
	a := &rec.a
	failure(a, rec.err)
	code, ok := rec.code.Get()
	if ok && code >= 400 && code < 600 {
		failure(a, "HTTP "+number(float64(code)))
		a.ErrorText = errorLine(rec.errorType + ": " + rec.err)
	}
}

// aiperfSummaryFormat is AIPerf's profile_export_aiperf.json.
func aiperfSummaryFormat() format {
	return format{
		name: "aiperf-summary", holds: "AIPerf's summary (profile_export_aiperf.json): figures only",
		files: []string{"profile_export_aiperf.json"},
		recognise: func(h *head) bool {
			return !h.list && h.has("request_count") && (h.has("input_config") || h.has("aiperf_version") || h.has("schema_version"))
		},
		read: readAIPerfSummary,
	}
}

func readAIPerfSummary(in *input, s *Source, _ sink) error {
	s.Tool = "AIPerf"
	return in.json(func(r *jsonstream.Reader) error {
		return r.Object(func(name string) (err error) {
			switch name {
			case "aiperf_version":
				s.Version, _, err = r.Text(64)
			case "start_time":
				s.Start, err = civil(r)
			case "input_config", "run_info", "telemetry_data", "error_summary", "branch_stats", "warmup_metrics":
			default:
				if r.Kind() == '{' {
					err = aiperfFigures(r, s, name)
				}
			}
			return err
		})
	})
}

// aiperfFigures keeps the statistics of one tag.
func aiperfFigures(r *jsonstream.Reader, s *Source, tag string) error {
	unit, from := "", len(s.Figures)
	err := r.Object(func(name string) (err error) {
		if name == "unit" {
			unit, _, err = r.Text(64)
			return err
		}
		if r.Kind() != '0' {
			return nil
		}
		return figures(r, s, tag+"."+name, func(string) bool { return false })
	})
	for i := range s.Figures[from:] {
		s.Figures[from+i].Unit = unit
	}
	return err
}

// civil reads a date and time; what is none is left out.
func civil(r *jsonstream.Reader) (time.Time, error) {
	if r.Kind() != '"' {
		return time.Time{}, nil
	}
	text, _, err := r.Text(64)
	for _, layout := range [...]string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if t, parseErr := time.ParseInLocation(layout, text, time.Local); parseErr == nil {
			return t.UTC(), err
		}
	}
	return time.Time{}, err
}
