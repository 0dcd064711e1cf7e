package trace

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// checkRow fails where a row holds what its contract excludes.
func checkRow(t *testing.T, r *Row) {
	t.Helper()
	for _, n := range []int64{r.Input, r.Output, r.Reasoning, r.Cached, r.Images, r.Audios, r.Videos, r.Tools, r.Turn, int64(r.FirstToken), int64(r.Duration), int64(r.Status)} {
		if n < 0 {
			t.Fatalf("below 0: %+v", r)
		}
	}
	if r.Input > MaxTokens || r.Output > MaxTokens {
		t.Fatalf("too long: %+v", r)
	}
	if n := int64(len(r.Blocks)); n > 0 && (r.BlockTokens < 1 || (n-1)*r.BlockTokens >= r.Input) {
		t.Fatalf("%d blocks of %d for %d tokens", n, r.BlockTokens, r.Input)
	}
	if !r.Timed && (r.At != 0 || r.Absolute) {
		t.Fatalf("a moment without one: %+v", r)
	}
	if r.Body != nil && (!json.Valid(r.Body) || len(r.Turns) > 0) {
		t.Fatalf("body %q, %d turns", r.Body, len(r.Turns))
	}
	for _, turn := range r.Turns {
		if len(turn.Messages) == 0 || turn.Think < 0 || turn.Output < 0 {
			t.Fatalf("turn %+v", turn)
		}
	}
}

func FuzzReader(f *testing.F) {
	for i, path := range samples(f) {
		f.Add([]byte(read(f, path)), byte(0))
		f.Add([]byte(read(f, path)), byte(i))
	}
	f.Add([]byte("0,22.46,173.81,Weibull,0.0575,0.000573\n"), byte(0))
	f.Add([]byte(`{"attributes":[{"key":1,"value":2}],"spanId":{}}`), byte(0))
	f.Add([]byte("1 aaaaaaaaaaaa 5\nGET / HTTP/1.1\r\n\r\n\n"+separator+"\n"), byte(0))
	f.Add([]byte("{\"requests\":[{\"t\":0,\"in\":1,\"out\":1},\n{\"t\":1,\"in\":[{\"\n"), byte(0))
	for _, wrap := range wraps() {
		f.Add([]byte(wrap(0, `{"prompt":"p","output_tokens":5}`)+"\n"+wrap(1, `{"prompt":"q"}`)), byte(0))
	}
	f.Add(packed(f, "gzip", `{"prompt":"p"}`), byte(0))
	names := formatNames()
	f.Fuzz(func(t *testing.T, b []byte, as byte) {
		o := Options{MaxBad: 1}
		if as > 0 {
			o.Format = names[int(as)%len(names)]
		}
		r, err := Open("data", content(string(b)), o)
		if err != nil {
			return
		}
		rows := int64(0)
		for {
			row, err := r.Next()
			if err != nil {
				if n, first := r.Skipped(); errors.Is(err, io.EOF) && (rows == 0 || n > 0 && len(first) == 0) {
					t.Fatalf("%d rows, %d skipped, %d shown", rows, n, len(first))
				}
				break
			}
			rows++
			checkRow(t, row)
		}
		if _, err := r.Next(); err == nil {
			t.Fatal("a row after the end")
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzMapping(f *testing.F) {
	f.Add([]byte(mappingExample), []byte(`{"a":{"b":1}}`))
	f.Add([]byte("fields: {at: x, body: y}\nunits: {at: ms}\nwhere: {p: [1, true, null]}"), []byte(`{"x":1,"y":"{}","p":1}`))
	f.Fuzz(func(t *testing.T, text, line []byte) {
		m, err := ParseMapping("map.yaml", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "map.yaml:") {
				t.Fatal(err)
			}
			return
		}
		r, err := Open("data", content("{\"t\":1}\n"+string(line)), Options{Mapping: m, MaxBad: 1})
		if err != nil {
			return
		}
		for {
			row, err := r.Next()
			if err != nil {
				return
			}
			checkRow(t, row)
		}
	})
}
