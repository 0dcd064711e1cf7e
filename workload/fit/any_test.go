package fit

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// listed yields rows of a list.
type listed struct{ rows []trace.Row }

func (l *listed) Next() (*trace.Row, error) {
	if len(l.rows) == 0 {
		return nil, io.EOF
	}
	r := &l.rows[0]
	l.rows = l.rows[1:]
	return r, nil
}

// Whatever rows there are, the fit ends, its model can be written, read and
// sampled, and its report is JSON.
func TestAnyLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 80).Draw(t, "n")
		step := rapid.SampledFrom([]int64{0, 1, 1e3, 1e6, 1e9, 60e9, 86400e9}).Draw(t, "step")
		timed := rapid.SampledFrom([]string{"all", "none", "some"}).Draw(t, "timed")
		absolute := rapid.Bool().Draw(t, "absolute")
		rows := make([]trace.Row, n)
		at := int64(0)
		for i := range rows {
			r := &rows[i]
			at += step * rapid.Int64Range(-1, 5).Draw(t, "gap")
			r.Format, r.At = "any", at
			r.Timed = timed == "all" || timed == "some" && rapid.Bool().Draw(t, "has")
			r.Absolute = absolute
			r.Input = rapid.Int64Range(0, 3000).Draw(t, "input")
			r.Output = rapid.SampledFrom([]int64{0, 1, 7, 200, 1 << 40}).Draw(t, "output")
			r.Reasoning = rapid.Int64Range(0, 300).Draw(t, "reasoning")
			r.Images = rapid.Int64Range(0, 3).Draw(t, "images")
			r.Failed = rapid.Bool().Draw(t, "failed")
			r.Limit = rapid.SampledFrom([]int64{0, 0, 1, 500}).Draw(t, "limit")
			r.Delta = rapid.Bool().Draw(t, "delta")
			r.Tenant = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "tenant")
			r.Session = rapid.SampledFrom([]string{"", "", "s", "t"}).Draw(t, "session")
			r.ID, r.Parent = rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "id"), rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "parent")
			r.Duration = time.Duration(rapid.Int64Range(0, 3e9).Draw(t, "took"))
			if rapid.Bool().Draw(t, "blocks") {
				r.BlockTokens = 16
				r.Blocks = rapid.SliceOfN(rapid.Uint64Range(0, 9), 0, 8).Draw(t, "ids")
			}
			if rapid.IntRange(0, 4).Draw(t, "texts") == 0 {
				r.Turns = []trace.Turn{{Messages: []trace.Message{{Role: "user", Text: "hello"}}, Answer: "hi"}, {Input: 3, Think: time.Second}}
			}
		}
		m, report, err := Fit(t.Context(), &listed{rows}, Options{By: rapid.SampledFrom([]By{ByAny, ByTenant, BySession, ByModel, ByNone}).Draw(t, "by"),
			Turns:     rapid.SampledFrom([]trace.Turns{"", "", trace.DeltaTurns, trace.CumulativeTurns, IndependentTurns}).Draw(t, "turns"),
			Tokenizer: rapid.SampledFrom([]count.Tokenizer{nil, words{}}).Draw(t, "tokenizer")})
		if err != nil {
			if !strings.Contains(err.Error(), "too few rows") {
				t.Fatal(err)
			}
			return
		}
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			t.Fatal(err)
		}
		back, err := traffic.Read("traffic.yaml", &file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := back.Sampler(traffic.SampleOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(report); err != nil {
			t.Fatal(err)
		}
		if text := report.Text(); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "%!") {
			t.Fatal(text)
		}
	})
}
