package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// goReplay are GoReplay's files.
func goReplay() []format {
	return []format{
		{name: "goreplay", about: "GoReplay .gor: raw HTTP requests, with their responses where they were kept", shape: records,
			open: func(*Options) decoder { return &gor{} }},
		{name: "goreplay-kafka", about: "GoReplay's Kafka JSON: Req_URL, Req_Method, Req_Ts, Req_Body", shape: objects,
			object: func(o object) bool { return o.has("Req_URL", "Req_Ts") },
			open:   func(*Options) decoder { return &gorKafka{} }},
	}
}

// recordHead tells whether a line begins a record of GoReplay: type, id and
// moment in ns.
func recordHead(line []byte) bool {
	if len(line) < 12 || line[0] < '1' || line[0] > '3' || line[1] != ' ' {
		return false
	}
	i, hex := 2, 0
	for ; i < len(line) && line[i] != ' '; i++ {
		c := line[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
		hex++
	}
	return hex >= 8 && i < len(line)-1 && line[i+1] >= '0' && line[i+1] <= '9'
}

// separator stands between records, on a line of its own.
const separator = "\U0001F435\U0001F648\U0001F649"

func (r *Reader) openRecords(f *format, lines int64) error {
	if f == nil {
		named, _ := formatNamed("goreplay")
		f = &named
	}
	r.pieces = &recordReader{lines: lineReader{r: r.source.Reader, line: lines}}
	r.use(f)
	return nil
}

// recordReader reads records up to their separators.
type recordReader struct {
	lines  lineReader
	record int64
	piece  []byte
	most   int64 // bytes in which a record must end; 0: maxEndless
}

func (g *recordReader) place() (string, int64) { return unitRecord, g.record }

func (g *recordReader) next() ([]byte, error) {
	g.piece = g.piece[:0]
	long, seen, most := false, int64(0), cmp.Or(g.most, maxEndless)
	for {
		line, err := g.lines.raw()
		if seen += int64(len(line)); seen > most {
			return nil, endless(unitRecord, most)
		}
		switch {
		case errors.Is(err, io.EOF):
			if blank(g.piece) && !long {
				return nil, io.EOF
			}
			g.record++
			if long {
				return nil, tooLong()
			}
			return g.piece, nil
		case err != nil:
			var bad *badPiece
			if !errors.As(err, &bad) {
				return nil, err
			}
			long = true
			continue
		case string(trimEnd(line)) == separator:
			if blank(g.piece) && !long {
				continue
			}
			g.record++
			if long {
				return nil, tooLong()
			}
			return g.piece, nil
		}
		if long = long || len(g.piece)+len(line) > maxLine; !long {
			g.piece = append(g.piece, line...)
		}
	}
}

// gor reads raw HTTP requests. Responses are ignored: they come later, mixed
// with other requests, and rows are not held back for them.
type gor struct{ p objectParser }

func (d *gor) decode(piece []byte, out *batch) {
	head, raw, found := bytes.Cut(piece, []byte("\n"))
	head = trimEnd(head)
	words := bytes.Fields(head)
	if !found || !recordHead(head) || len(words) < 3 {
		out.fail(errors.New("expected a record to begin with type, id and moment"))
		return
	}
	if words[0][0] != '1' {
		out.ignored++
		return
	}
	at, exact, ok := decimal(words[2], nanos)
	if !ok || !exact || at < 0 {
		out.fail(errors.New("expected the moment of a record to be in ns"))
		return
	}
	q, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		out.fail(errors.New("expected an HTTP request"))
		return
	}
	if q.Method != http.MethodPost || !generates(q.URL.Path) {
		out.ignored++
		return
	}
	body, err := io.ReadAll(io.LimitReader(q.Body, maxLine))
	if err != nil && q.ContentLength > int64(len(body)) {
		out.fail(fmt.Errorf("the body is cut short: %d bytes of %d", len(body), q.ContentLength))
		return
	}
	r := out.row()
	r.ID, r.At, r.Timed, r.Absolute = string(words[1]), at, true, at >= year2000
	d.p.err = nil
	o := object{err: &d.p.err, scratch: &d.p.scratch}
	if o.rawBody(r, body); *o.err != nil {
		out.drop(*o.err)
	}
}

// gorKafka reads the same as JSON.
type gorKafka struct{ p objectParser }

func (d *gorKafka) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	path := o.text("Req_URL")
	if m := o.text("Req_Method"); m != "" && m != http.MethodPost || !generates(path) || o.text("Req_Type") != "" && o.text("Req_Type") != "1" {
		out.ignored++
		return
	}
	r := out.row()
	o.at(r, nanos, "Req_Ts")
	r.ID = o.text("Req_ID")
	if v := o.get("Req_Body"); v == nil {
		o.fail("expected Req_Body")
	} else {
		o.body(r, v)
	}
	if !r.Timed {
		o.fail("expected Req_Ts")
	}
	if *o.err != nil {
		out.drop(*o.err)
	}
}
