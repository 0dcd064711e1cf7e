package trace

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// A last line that was cut off is counted and shown, but alone ends no reading,
// however short the file and whatever share is allowed; other bad lines do, and
// their share leaves it out.
func TestTornLineIsNotHeldAgainst(t *testing.T) {
	const head = "input_tokens,output_tokens\n"
	const docker = `{"log":"{\"prompt\":\"p\"}\n","stream":"stdout","time":"t"}` + "\n"
	for name, c := range map[string]struct {
		text    string
		rows    int
		skipped int64
		reason  string // of the last bad line
		end     string
	}{
		"lines":          {`{"prompt":"a"}` + "\n" + `{"prompt":"b`, 1, 1, "data:2: the last line does not end: it was cut off", "EOF"},
		"table":          {head + "5,6\n7", 1, 1, "data:3: the last line does not end: it was cut off", "EOF"},
		"prefixed":       {`app {"prompt":"a"}` + "\nap", 1, 1, "data:2: the last line does not end: it was cut off", "EOF"},
		"runtime":        {`2026-01-01T00:00:00Z stdout F {"prompt":"a"}` + "\n2026-01-01T00:0", 1, 1, "data:2: the last line does not end: it was cut off", "EOF"},
		"runtime, part":  {`2026-01-01T00:00:00Z stdout F {"prompt":"a"}` + "\n" + `2026-01-01T00:00:00Z stdout P {"prom` + "\n", 1, 1, "data:3: the line of several parts is cut short by the end", "EOF"},
		"docker":         {docker + docker[:20], 1, 1, "data:2: the last line does not end: it was cut off", "EOF"},
		"docker, whole":  {docker + `{"log":7,"stream":"stdout","time":"t"}`, 1, 1, "data:2: log is of the wrong type", "data: 1 of 2 lines cannot be used"},
		"several lines":  {"{\n" + `"prompt":"a"` + "\n}\n{\n" + `"prompt":`, 1, 1, "data: entry 2: is cut short by the end of the content", "EOF"},
		"whole, no form": {`{"prompt":"a"}` + "\n" + `{"prompt":5}`, 1, 1, "data:2: ", "data: 1 of 2 lines cannot be used"},
		"ended":          {`{"prompt":"a"}` + "\n" + `{"prompt":"b` + "\n", 1, 1, "data:2: column 12: not JSON", "data: 1 of 2 lines cannot be used"},
		"another":        {`{"prompt":"a"}` + "\n{x\n" + `{"prompt":"b`, 1, 2, "data:3: the last line does not end", "data: 1 of 2 lines cannot be used, more than "},
		"nothing else":   {`{"prompt":"b`, 0, 0, "", "data has no line that can be used; the first: data:1: "},
	} {
		for _, share := range []float64{0, -1} {
			r, err := Open("data", content(c.text), Options{MaxBad: share})
			rows := 0
			for err == nil {
				if _, err = r.Next(); err == nil {
					rows++
				}
			}
			var n int64
			var bad []*LineError
			if r != nil {
				n, bad = r.Skipped()
			}
			if rows != c.rows || n != c.skipped || errors.Is(err, io.EOF) != (c.end == "EOF") || !strings.HasPrefix(err.Error(), c.end) ||
				n > 0 && !strings.HasPrefix(bad[n-1].Error(), c.reason) {
				t.Errorf("%s: %d rows, %d skipped %v, %v", name, rows, n, bad, err)
			}
		}
	}
}
