package trace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
)

// Log collectors wrap each line of a program: container runtimes in an object
// with its text or behind moment, stream and tag; syslog and kubectl behind a
// prefix. The lines are read as if they stood alone.

const (
	// maxPrefix bounds what stands in front of an object on its line.
	maxPrefix = 512
	// These are the tags of a container runtime: a part of a line, its
	// end or whole.
	tagPart, tagFull = "P", "F"
)

// errWrapping is part of the error of a line that is not wrapped as the first is.
var errWrapping = errors.New(", as in the first line")

// wrapped tells by the first line how lines are wrapped, nil where they are
// not.
func (r *Reader) wrapped(lines *lineReader) pieces {
	head := bytes.TrimLeft(r.head(), " \t\r")
	switch {
	case runtimeLine(head):
		return &runtimeLines{lines: lines}
	case isDocker(head) && r.options.Mapping == nil:
		return &dockerLines{lines: lines}
	case prefixOf(head) > 0:
		return &prefixedLines{lines: lines}
	}
	return nil
}

// prefixOf is how long the text is that stands in front of an object on a
// line; 0 where there is none.
func prefixOf(line []byte) int {
	at := bytes.Index(line[:min(len(line), maxPrefix)], []byte(`{"`))
	if spaced := bytes.Index(line[:min(len(line), maxPrefix)], []byte(`{ "`)); at < 0 || spaced >= 0 && spaced < at {
		at = spaced
	}
	if at < 1 {
		return 0
	}
	prefix := line[:at]
	switch {
	case prefix[0] == '{' || prefix[0] == '"':
		return 0
	case prefix[0] == '[' && bytes.IndexByte(prefix, ']') < 0:
		return 0 // an array
	case prefix[0] != '<' && bytes.IndexByte(prefix, '"') >= 0:
		return 0 // a field of a text that goes on
	}
	return at
}

// prefixedLines are lines of objects behind a prefix.
type prefixedLines struct{ lines *lineReader }

func (p *prefixedLines) place() (string, int64) { return p.lines.place() }
func (p *prefixedLines) unended() int64         { return p.lines.torn }

func (p *prefixedLines) next() ([]byte, error) {
	line, err := p.lines.next()
	if err != nil {
		return nil, err
	}
	at := prefixOf(line)
	if at == 0 && line[0] != '{' {
		return nil, &badPiece{fmt.Errorf("expected an object behind a prefix%w", errWrapping)}
	}
	return line[at:], nil
}

// runtimeLine recognises a line of a container runtime:
// 2026-01-01T00:00:00.1Z stdout F text.
func runtimeLine(line []byte) bool {
	_, _, _, ok := runtimeParts(line)
	return ok
}

func runtimeParts(line []byte) (stream, tag string, text []byte, ok bool) {
	at, rest, _ := bytes.Cut(line, []byte(" "))
	name, rest, _ := bytes.Cut(rest, []byte(" "))
	mark, text, _ := bytes.Cut(rest, []byte(" "))
	stream, tag = string(name), string(mark[:min(1, len(mark))])
	if stream != "stdout" && stream != "stderr" || tag != tagPart && tag != tagFull {
		return "", "", nil, false
	}
	_, _, ok = civil(at)
	return stream, tag, text, ok
}

// runtimeLines are lines of a container runtime, which cuts long ones into
// parts.
type runtimeLines struct {
	lines *lineReader
	parts joined
}

func (c *runtimeLines) place() (string, int64) { return c.lines.place() }
func (c *runtimeLines) unended() int64         { return c.lines.torn }

func (c *runtimeLines) next() ([]byte, error) {
	for {
		line, err := c.lines.next()
		if err != nil {
			return nil, c.parts.end(err)
		}
		stream, tag, text, ok := runtimeParts(line)
		if !ok {
			return nil, &badPiece{fmt.Errorf("expected moment, stream and tag of a container runtime%w", errWrapping)}
		}
		piece, whole, err := c.parts.add(stream, text, tag == tagFull)
		if err != nil || whole && !blank(piece) {
			return piece, err
		}
	}
}

// isDocker recognises the first line of Docker's json-file log.
func isDocker(line []byte) bool {
	var p objectParser
	o, err := p.object(line)
	return err == nil && o.has("log", "stream") && o.hasAny("time", "attrs", "timestamp") && o.text("log") != ""
}

// dockerLines are the texts of Docker's json-file log, where a text that goes
// on does not end in the end of a line.
type dockerLines struct {
	lines *lineReader
	p     objectParser
	parts joined
}

func (d *dockerLines) place() (string, int64) { return d.lines.place() }
func (d *dockerLines) unended() int64         { return d.lines.torn }

func (d *dockerLines) next() ([]byte, error) {
	for {
		line, err := d.lines.next()
		if err != nil {
			return nil, d.parts.end(err)
		}
		o, err := d.p.object(line)
		if err != nil {
			return nil, &badPiece{err}
		}
		v := o.v.Get("log")
		if v == nil {
			return nil, &badPiece{errors.New("expected log, as in the first line")}
		}
		text, err := v.StringBytes()
		if err != nil {
			return nil, &badPiece{fmt.Errorf("log is of the wrong type: expected a text, found %s", kind(v))}
		}
		piece, whole, err := d.parts.add(o.text("stream"), text, bytes.HasSuffix(text, []byte("\n")))
		if err != nil || whole && !blank(piece) {
			return piece, err
		}
	}
}

// joined puts the parts of lines together, a line of each stream at a time.
type joined struct {
	out, err, piece []byte
	long            bool // the line of one of them is too long
	seen            int64
	most            int64 // bytes in which a line must end; 0: maxEndless
}

func (j *joined) add(stream string, text []byte, last bool) (piece []byte, whole bool, _ error) {
	part := &j.out
	if stream == "stderr" {
		part = &j.err
	}
	if len(*part) == 0 && last {
		return trimEnd(text), true, nil
	}
	if j.seen += int64(len(text)) + 1; j.seen > cmp.Or(j.most, maxEndless) {
		return nil, false, endless(unitLine, cmp.Or(j.most, maxEndless))
	}
	if j.long = j.long || len(*part)+len(text) > maxLine; !j.long {
		*part = append(*part, text...)
	}
	if !last {
		return nil, false, nil
	}
	j.seen = 0
	if j.long {
		*part, j.long = (*part)[:0], false
		return nil, false, tooLong()
	}
	j.piece = append(j.piece[:0], *part...)
	*part = (*part)[:0]
	return trimEnd(j.piece), true, nil
}

// end is the error of a content that ends in the midst of a line.
func (j *joined) end(err error) error {
	if len(j.out)+len(j.err) > 0 {
		j.out, j.err = nil, nil
		return &badPiece{fmt.Errorf("the line of several parts %w", errNoRest)}
	}
	return err
}
