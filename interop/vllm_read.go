package interop

import (
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/interop/jsonstream"
	"github.com/tokamak-bench/tokamak/record"
)

// vllmFormat is the flat object of vllm bench serve, Python's and Rust's; with
// --save-detailed it has an array a quantity, one element a request.
func vllmFormat() format {
	return format{
		name: "vllm", holds: "result of vllm bench serve (Python or Rust client); each request with --save-detailed",
		files: []string{"vllm*.json"},
		recognise: func(h *head) bool {
			return !h.list && h.has("backend", "model_id") && (h.has("request_throughput") || h.has("endpoint_type") || h.has("num_prompts"))
		},
		read: readVLLM,
	}
}

// sglangFormat is a line of SGLang's bench_serving; with --output-details it
// has the same arrays, without the moments.
func sglangFormat() format {
	return format{
		name: "sglang", holds: "result of SGLang's bench_serving (JSON lines, asyncio or Rust client); each request with --output-details",
		files: []string{"sglang*.jsonl", "vllm-chat_*.jsonl"},
		recognise: func(h *head) bool {
			return !h.list && h.has("backend", "dataset_name") && !h.has("model_id")
		},
		read: readSGLang,
	}
}

// arrays are the per-request arrays that vLLM's and SGLang's clients write.
type arrays struct {
	input, output, latency, start, queue, ttft, cached []record.Int
	itls                                               [][]int64
	errors                                             []string
}

// flat is one result.
type flat struct {
	arrays
	date, model, backend, endpoint, rate string
	duration                             int64 // ns
	completed, failed, prompts           record.Int
	concurrency                          record.Int
}

// field reads one field of a flat result; figures are kept in s.
func (f *flat) field(r *jsonstream.Reader, s *Source, name string) error {
	var err error
	switch name {
	case "date":
		f.date, _, err = r.Text(64)
	case "model_id":
		f.model, _, err = r.Text(256)
	case "backend":
		f.backend, _, err = r.Text(64)
	case "endpoint_type":
		f.endpoint, _, err = r.Text(64)
	case "request_rate":
		f.rate, err = rateWord(r)
	case "max_concurrency":
		f.concurrency, err = count(r)
	case "input_lens":
		f.input, err = ints(r, (*jsonstream.Reader).Count)
	case "output_lens":
		f.output, err = ints(r, (*jsonstream.Reader).Count)
	case "cached_tokens":
		f.cached, err = ints(r, (*jsonstream.Reader).Count)
	case "ttfts":
		f.ttft, err = ints(r, seconds)
	case "latencies":
		f.latency, err = ints(r, seconds)
	case "start_times":
		f.start, err = ints(r, seconds)
	case "queue_times":
		f.queue, err = ints(r, seconds)
	case "itls":
		f.itls, err = lists(r)
	case "errors":
		f.errors, err = errorTexts(r)
	case "generated_texts":
		err = r.Skip()
	default:
		err = f.number(r, s, name)
	}
	return err
}

// number keeps a figure of the tool's.
func (f *flat) number(r *jsonstream.Reader, s *Source, name string) error {
	if r.Kind() != '0' {
		return nil // skipped
	}
	x, ok, err := r.Float()
	if err != nil || !ok {
		return err
	}
	s.figure(name, unitOf(name), x)
	switch name {
	case "duration":
		f.duration = int64(x * 1e9)
	case "completed":
		f.completed = record.Some(int64(x))
	case "failed":
		f.failed = record.Some(int64(x))
	case "num_prompts":
		f.prompts = record.Some(int64(x))
	}
	return nil
}

func seconds(r *jsonstream.Reader) (int64, bool, error) { return r.Nanoseconds(1e9) }

func count(r *jsonstream.Reader) (record.Int, error) {
	n, ok, err := r.Count()
	if !ok {
		return record.Int{}, err
	}
	return record.Some(n), err
}

// rateWord reads a rate that may be the text inf or trace.
func rateWord(r *jsonstream.Reader) (string, error) {
	if r.Kind() == '"' {
		s, _, err := r.Text(32)
		return s, err
	}
	x, ok, err := r.Float()
	if !ok {
		return "", err
	}
	return number(x), err
}

// ints reads an array of numbers; null is absent.
func ints(r *jsonstream.Reader, read func(*jsonstream.Reader) (int64, bool, error)) ([]record.Int, error) {
	out := []record.Int{}
	err := r.Array(func(i int) error {
		if i >= maxRequests {
			return r.Errorf("more than %d requests", maxRequests)
		}
		v, ok, err := read(r)
		if !ok {
			out = append(out, record.Int{})
		} else {
			out = append(out, record.Some(v))
		}
		return err
	})
	return out, err
}

// lists reads an array of arrays of seconds.
func lists(r *jsonstream.Reader) ([][]int64, error) {
	out := [][]int64{}
	err := r.Array(func(i int) error {
		if i >= maxRequests {
			return r.Errorf("more than %d requests", maxRequests)
		}
		list, err := gaps(r, 1e9)
		out = append(out, list)
		return err
	})
	return out, err
}

// gaps reads an array of durations in units of unit ns.
func gaps(r *jsonstream.Reader, unit int64) ([]int64, error) {
	var list []int64
	err := r.Array(func(i int) error {
		if i >= maxGaps {
			return r.Errorf("more than %d gaps in one response", maxGaps)
		}
		g, ok, err := r.Nanoseconds(unit)
		if err == nil && (!ok || g < 0) {
			err = r.Errorf("expected a gap of at least 0")
		}
		list = append(list, g)
		return err
	})
	return list, err
}

func errorTexts(r *jsonstream.Reader) ([]string, error) {
	out := []string{}
	err := r.Array(func(i int) error {
		if i >= maxRequests {
			return r.Errorf("more than %d requests", maxRequests)
		}
		s, _, err := r.Text(64 << 10)
		out = append(out, errorLineOf(s))
		return err
	})
	return out, err
}

// errorLineOf keeps what failure needs of an error text.
func errorLineOf(s string) string {
	if s == "" {
		return ""
	}
	if line := errorLine(s); line != "" {
		return line
	}
	return "failed"
}

func readVLLM(in *input, s *Source, to sink) error {
	return readFlat(in, s, to, "vllm bench", func(f *flat) {
		for _, layout := range [...]string{"20060102-150405", "2006-01-02T15-04-05", time.RFC3339} {
			if t, err := time.ParseInLocation(layout, f.date, time.Local); err == nil {
				s.Start = t.Add(-time.Duration(f.duration)).UTC()
				s.lose("when exactly it began: the second at which the file was written, less the duration, stands for it")
			}
		}
		s.lose("which events held a token: the client counts every event that names a choice, so the first may be the role's and the last the finish")
	})
}

func readSGLang(in *input, s *Source, to sink) error {
	return readFlat(in, s, to, "SGLang bench_serving", func(f *flat) {
		s.lose("gaps between tokens where the client split them: SGLang's native API divides the gap before a chunk evenly over its tokens")
	})
}

// readFlat reads the result asked for of a file of one or more.
func readFlat(in *input, s *Source, to sink, tool string, about func(f *flat)) error {
	n := 0
	return in.json(func(r *jsonstream.Reader) error {
		for {
			more, err := r.More()
			if err != nil {
				return err
			}
			if !more {
				break
			}
			if !in.chosen(n) {
				err = r.Skip()
			} else {
				err = oneFlat(r, s, to, tool, about)
			}
			if err != nil {
				return err
			}
			n++
		}
		s.Runs = n
		return in.single(n)
	})
}

func oneFlat(r *jsonstream.Reader, s *Source, to sink, tool string, about func(f *flat)) error {
	var f flat
	if err := r.Object(func(name string) error { return f.field(r, s, name) }); err != nil {
		return err
	}
	s.Tool, s.Model, s.API = tool, f.model, apiOf(f.backend)
	s.Load = loadWords(f.rate, f.concurrency)
	about(&f)
	if f.ttft == nil || f.input == nil {
		return nil // a summary
	}
	if err := f.check(r); err != nil {
		return err
	}
	return f.rows(s, to)
}

// apiOf is our name for the API that a backend of these tools speaks.
func apiOf(backend string) string {
	switch backend {
	case "openai-chat", "vllm-chat", "sglang-oai-chat", "lmdeploy-chat":
		return "openai-chat"
	case "openai", "vllm", "sglang-oai", "lmdeploy":
		return "openai-completions"
	}
	return backend
}

// loadWords says what load a rate and a cap make.
func loadWords(rate string, concurrency record.Int) string {
	n, capped := concurrency.Get()
	text := ""
	switch rate {
	case "", "inf":
		if text = "all at once"; capped {
			text = "closed loop"
		}
	case "trace":
		text = "open loop, a trace's own moments"
	default:
		text = "open loop, " + rate + " requests/s"
	}
	if capped {
		text += ", at most " + plural(n, "request") + " at once"
	}
	return text
}

// check holds the arrays against each other.
func (f *flat) check(r *jsonstream.Reader) error {
	n := len(f.ttft)
	for name, m := range map[string]int{"input_lens": len(f.input), "output_lens": len(f.output), "itls": len(f.itls), "errors": len(f.errors)} {
		if m != n {
			return r.Errorf("%s has %d elements, expected %d as ttfts has", name, m, n)
		}
	}
	for name, m := range map[string][]record.Int{"latencies": f.latency, "start_times": f.start, "queue_times": f.queue, "cached_tokens": f.cached} {
		if m != nil && len(m) != n {
			return r.Errorf("%s has %d elements, expected %d as ttfts has", name, len(m), n)
		}
	}
	if i := slices.Index(f.start, record.Int{}); i >= 0 { // 0 would be a moment long before the others
		return r.Errorf("start_times has no number at %d, expected a moment for each request", i)
	}
	return nil
}
