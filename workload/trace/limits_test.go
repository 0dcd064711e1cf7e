package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// What cannot be opened says why, and which word would help.
func TestOpenErrors(t *testing.T) {
	for _, c := range []struct{ text, format, want string }{
		{"", "", "data: is empty"},
		{" \n\t\n", "", "data: is empty"},
		{"TIMESTAMP,ContextTokens,GeneratedTokens,ContextTokens\n1,2,3,4\n", "", "data:1: expected each column once, found the name of column 4 before it too"},
		{"some words\n", "", "data:1: expected JSON lines, a JSON array, or a CSV header"},
		{`{"a":1,"b c":2,"d":3}`, "", "data: is of no known format: found objects with a, d; say which it is (--dataset-format: tokamak,"},
		{`{"requests":[{"t":0,"in":1,"out":1}],"conversations":[]}`, "", "data: may be any of sharegpt, weka: say which (--dataset-format)"},
		{`{"prompt":"p"}`, "azure", "data: is not azure: expected CSV with a header line, found JSON lines or a JSON array"},
		{"a,b\n1,2\n", "azure", "data:1: is not azure: its columns are others"},
		{"a,b\n1,2\n", "mooncake", "data: is not mooncake: expected JSON lines or a JSON array, found CSV"},
		{`{"prompt":"p"}`, "azzure", `data: unknown format "azzure": expected one of tokamak`},
		{`{"session_id":"r","turns":[{"forks":["c"]}]}`, "", "data: looks like aiperf-dag, which is not read: sessions that fork"},
		{`{"session_id":"r","turns":[{"forks":["c"]}]}`, "aiperf-dag", "data: format aiperf-dag is not read: sessions that fork"},
		{"PAR1....", "", "data: is Parquet, which is not read"},
		{"BZh91AY", "", "data: is packed in a way that is not read: expected it plain, gzip or zstd"},
		{"\xff\xfea\x00", "", "data: is UTF-16: expected UTF-8"},
		{"\x1f\x8b\x08\x00broken", "", "data:1: gzip: the packed content breaks off"},
		{"{x}\n[y\n", "", "data has no line that can be used; the first: data:1: column 2: not JSON"},
	} {
		_, err := Open("data", content(c.text), Options{Format: c.format})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q as %q: want %q, got %v", c.text, c.format, c.want, err)
		}
	}
	if _, err := Open("data", content("{}"), Options{Format: "azure", Mapping: &Mapping{}}); err == nil || !strings.Contains(err.Error(), "exclude each other") {
		t.Error(err)
	}
	broken := errors.New("broken")
	if _, err := Open("data", func() (io.ReadCloser, error) { return nil, broken }, Options{}); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// A prompt beside its answer is no request body: the answer must not be sent.
func TestAnswersAreNoBodies(t *testing.T) {
	rows, r := all(t, `{"model":"m","prompt":"question","completion":"answer"}`, Options{})
	if r.Format() != own || rows[0].Body != nil || rows[0].Turns[0].Messages[0].Text != "question" {
		t.Errorf("%s: %s", r.Format(), dump(rows))
	}
}

// A source that breaks is an error, behind the rows that came before.
func TestBrokenSource(t *testing.T) {
	broken := errors.New("the disk is gone")
	r, err := Open("data", func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(`{"prompt":"a"}`+"\n"+`{"prompt":"b`), failing{broken})), nil
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if row, err := r.Next(); err != nil || row.Turns[0].Messages[0].Text != "a" {
		t.Fatal(row, err)
	}
	if _, err := r.Next(); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "data:2: ") {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// The share of bad lines is judged after 1,000 lines and at the end, not in
// between, and reading stops there.
func TestShareOfBadLines(t *testing.T) {
	lines := func(n, every int) string {
		var b strings.Builder
		for i := range n {
			if i%every == every-1 {
				b.WriteString("{\n")
			} else {
				b.WriteString("{\"prompt\":\"p\"}\n")
			}
		}
		return b.String()
	}
	count := func(text string, share float64) (rows int, err error) {
		r, err := Open("data", content(text), Options{MaxBad: share})
		for err == nil {
			if _, err = r.Next(); err == nil {
				rows++
			}
		}
		return rows, err
	}
	for _, c := range []struct {
		n, every int
		share    float64
		rows     int
		bad      bool
	}{
		{5000, 10, 0, 900, true},     // known after 1,000
		{5000, 10, 0.1, 4500, false}, // as many as allowed
		{900, 10, 0, 810, true},      // known at the end
		{5000, 200, 0, 4975, false},  // half of what is allowed
		{5000, 5000, -1, 4999, true}, // not one is allowed
		{5000, 6000, -1, 5000, false},
	} {
		rows, err := count(lines(c.n, c.every), c.share)
		var bad *BadShareError
		if errors.As(err, &bad) != c.bad || !c.bad && !errors.Is(err, io.EOF) || rows != c.rows {
			t.Errorf("%+v: %d rows, %v", c, rows, err)
		}
	}
}

// Without block ids a shorter second turn is new text; a longer one may be
// either, and is asked about.
func TestTurnsWithoutBlocks(t *testing.T) {
	const row = `{"timestamp":%d,"session_id":"a","input_length":%d,"output_length":5}` + "\n"
	rows, _ := all(t, fmt.Sprintf(row+row+row, 0, 100, 1, 50, 2, 300), Options{})
	if !rows[1].Delta || !rows[2].Delta || rows[2].Turn != 2 {
		t.Error(dump(rows))
	}
	if r, err := Open("data", content(fmt.Sprintf(row+row, 0, 100, 1, 100)), Options{}); err != nil {
		t.Fatal(err)
	} else if _, err = r.Next(); err != nil {
		t.Fatal(err)
	} else if _, err = r.Next(); err == nil { // as long as before: either, too
		t.Error("a row of the same length is taken for one of the two")
	}
	longer := fmt.Sprintf(row+row, 0, 100, 1, 150)
	r, err := Open("data", content(longer), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err == nil || !strings.HasPrefix(err.Error(), "data:2: the second row of a session may hold its new text or the whole prompt: say which") {
		t.Error(err)
	}
	for _, kind := range []Turns{DeltaTurns, CumulativeTurns} {
		if rows, _ := all(t, longer, Options{Turns: kind}); rows[1].Delta != (kind == DeltaTurns) {
			t.Errorf("%s: %s", kind, dump(rows))
		}
	}
}

// A line without end, or an object on one line that is longer than what is
// read ahead, does not lose what is around it.
func TestLongPieces(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`{"id":"a","requests":[`)
	for i := range 20_000 {
		fmt.Fprintf(&b, `{"t":%d,"in":100,"out":1,"hash_ids":[%d,2]},`, i, i)
	}
	b.Truncate(b.Len() - 1)
	b.WriteString("]}\n" + `{"id":"b","requests":[{"t":0,"in":1,"out":1}]}` + "\n")
	rows, r := all(t, b.String(), Options{})
	if len(rows) != 20_001 || rows[19_999].Turn != 19_999 || rows[19_999].Session != "a" || rows[20_000].Session != "b" {
		t.Errorf("%s: %d rows", r.Format(), len(rows))
	}
	long := `{"prompt":"` + strings.Repeat("x", maxLine) + `"}`
	for _, text := range []string{`{"prompt":"a"}` + "\n" + long + "\n" + `{"prompt":"b"}`, `[{"prompt":"a"},` + long + `,{"prompt":"b"}]`} {
		rows, r := all(t, text, Options{MaxBad: 1})
		if n, first := r.Skipped(); len(rows) != 2 || n != 1 || first[0].Line != 2 || !strings.HasSuffix(first[0].Error(), "is longer than 16 MiB") {
			t.Errorf("%d rows, %v", len(rows), first)
		}
	}
}

// again yields the same bytes for ever.
type again string

func (a again) Read(b []byte) (int, error) {
	for n := 0; n < len(b); {
		n += copy(b[n:], a)
	}
	return len(b), nil
}

// What never ends is an error that says after how much, and a line that is
// only very long is a bad line.
func TestEndless(t *testing.T) {
	r, err := Open("data", func() (io.ReadCloser, error) { return io.NopCloser(again(strings.Repeat("y", 64<<10))), nil }, Options{})
	if err == nil || r != nil || err.Error() != "data:1: the line does not end within 1 GiB: expected lines, or entries of a JSON array, of at most 16 MiB" {
		t.Error(err)
	}
	const most = 1 << 20
	rest := func(text string, endless again) *bufio.Reader {
		return bufio.NewReaderSize(io.MultiReader(strings.NewReader(text), endless), 4096)
	}
	for name, p := range map[string]pieces{
		"line":   &lineReader{r: rest("{}\n", "a"), most: most},
		"entry":  &elements{r: rest("[{},", `{"a":"b",`), most: most},
		"text":   &elements{r: rest(`[{},"`, "b"), most: most},
		"space":  &elements{r: rest("[{},", " "), most: most},
		"parts":  &runtimeLines{lines: &lineReader{r: rest("2026-01-01T00:00:00Z stdout F {}\n", "2026-01-01T00:00:00Z stdout P b\n")}, parts: joined{most: most}},
		"record": &recordReader{lines: lineReader{r: rest("1 aaaaaaaa 5\n"+separator+"\n1 aaaaaaaa 6\n", "b\n")}, most: most},
	} {
		if _, err := p.next(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var bad *badPiece
		if _, err := p.next(); err == nil || errors.As(err, &bad) || !strings.Contains(err.Error(), "does not end within 1048576 bytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
	l := &lineReader{r: rest("{}\n", again("\n")), most: most}
	if _, err := l.next(); err != nil {
		t.Error(err)
	}
	if _, err := l.next(); err == nil || err.Error() != "nothing but empty lines follow, 1048576 of them" {
		t.Error(err)
	}
	long := io.MultiReader(strings.NewReader(`{"prompt":"a"}`+"\n"), io.LimitReader(again(strings.Repeat("x", 64<<10)), 100<<20), strings.NewReader("\n"+`{"prompt":"b"}`+"\n"))
	r, err = Open("data", func() (io.ReadCloser, error) { return io.NopCloser(long), nil }, Options{MaxBad: 1})
	rows := 0
	for err == nil {
		if _, err = r.Next(); err == nil {
			rows++
		}
	}
	if n, first := r.Skipped(); rows != 2 || n != 1 || first[0].Error() != "data:2: is longer than 16 MiB" || !errors.Is(err, io.EOF) {
		t.Errorf("%d rows, %v, %v", rows, first, err)
	}
}

// Lines that cannot be used do not pile up while the format is looked for.
func TestPendingIsBounded(t *testing.T) {
	read := 0
	_, err := Open("data", func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader("{\"\n"), counting{again(strings.Repeat("y\n", 4096)), &read})), nil
	}, Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "data has no line that can be used; the first: data:1: ") {
		t.Error(err)
	}
	if read > 4<<20 {
		t.Errorf("%d bytes were read", read)
	}
}

type counting struct {
	io.Reader
	n *int
}

func (c counting) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	*c.n += n
	return n, err
}
