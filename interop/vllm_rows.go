package interop

import (
	"fmt"
	"strconv"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
)

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return measure.Count(n) + " " + word + "s"
}

// at returns the i-th of a list that may be missing.
func at(list []record.Int, i int) record.Int {
	if i < len(list) {
		return list[i]
	}
	return record.Int{}
}

// rows hands over a flat result request by request.
func (f *flat) rows(s *Source, to sink) error {
	s.Timed = f.start != nil
	if !s.Timed {
		s.lose("when requests were sent: only their durations are known, so nothing per second is")
	}
	if f.queue == nil {
		s.lose("the intended time: the moment of sending stands for it, so that lateness of the client does not show")
	}
	s.lose("when the last byte of a request had left, when the first byte of a response came, connections, finish reasons and notes")
	s.lose("what a chunk held: kinds, bytes and tokens of single chunks; one token each where their number is that of the output tokens")
	f.negatives(s)
	ok, failed := int64(0), int64(0)
	var a record.Attempt
	for i := range f.ttft {
		f.row(&a, i)
		if a.Outcome == record.OK {
			ok++
		} else {
			failed++
		}
		if err := to.row(&a); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
	}
	if n, told := f.completed.Get(); told && n != ok {
		s.doubt("the file says that %s succeeded, its requests say %s", plural(n, "request"), measure.Count(ok))
	}
	if n, told := f.failed.Get(); told && n != failed {
		s.doubt("the file says that %s failed, its requests say %s", plural(n, "request"), measure.Count(failed))
	}
	return nil
}

// negatives says which durations below 0 the file has: no request takes less
// than no time, so that they are taken as not measured.
func (f *flat) negatives(s *Source) {
	for _, list := range []struct {
		name   string
		values []record.Int
	}{{"ttfts", f.ttft}, {"latencies", f.latency}, {"queue_times", f.queue}} {
		n, first := int64(0), -1
		for i, v := range list.values {
			if v.Or(0) < 0 {
				n++
				if first < 0 {
					first = i
				}
			}
		}
		if n > 0 {
			s.lose("%s of %s: below 0 (the first is %s[%d], %s s), taken as not measured", list.name, plural(n, "request"),
				list.name, first, number(float64(list.values[first].Or(0))/1e9))
		}
	}
}

// row fills a with the i-th request. A TTFT or latency of 0 is how the tools
// write one that was not measured.
func (f *flat) row(a *record.Attempt, i int) {
	*a = record.Attempt{Chunks: record.Chunks{At: a.Chunks.At[:0]}}
	a.RequestID, a.Attempt = int64(i), 1
	start := at(f.start, i).Or(0)
	a.WriteStart, a.Intended = record.Some(start), record.Some(start)
	if q, ok := at(f.queue, i).Get(); ok {
		a.Intended = record.Some(start - max(q, 0))
	}
	if ttft := at(f.ttft, i).Or(0); ttft > 0 {
		t := start + ttft
		a.Chunks.At = append(a.Chunks.At, t)
		for _, g := range f.itls[i] {
			t += g
			a.Chunks.At = append(a.Chunks.At, t)
		}
		a.FirstToken, a.LastToken = record.Some(start+ttft), record.Some(t)
		a.Moments.Ended = a.LastToken
	}
	if l := at(f.latency, i).Or(0); l > 0 {
		a.Moments.Ended = record.Some(start + l)
	}
	a.PromptCounted = at(f.input, i)
	a.CachedUsage = at(f.cached, i)
	a.Outcome = record.OK
	if f.errors[i] != "" {
		failure(a, f.errors[i])
	} else if a.OutputUsage = at(f.output, i); a.OutputUsage.Or(0) == 0 {
		failure(a, "no output and no error text")
		a.OutputUsage = record.Int{}
	}
}
