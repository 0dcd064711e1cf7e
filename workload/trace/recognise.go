package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ErrServeGen says that a content is ServeGen's windows of clients or their
// lengths: a model of traffic, which has no rows.
var ErrServeGen = errors.New("is a model of clients (ServeGen), not a log of requests: learn a traffic model from it")

const (
	// mostUnknown is how many objects are looked at for one of a known format.
	mostUnknown = 20
	// mostPending bounds what is kept meanwhile, and pendingSize is about what a
	// piece takes beside its bytes.
	mostPending = 32 << 20
	pendingSize = 256
)

// recognise finds out what the content is and begins to read it.
func (r *Reader) recognise() error {
	f, err := r.asked()
	if err != nil {
		return err
	}
	c, lines, err := r.source.first()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: is empty", r.name)
	}
	if err != nil {
		return &LineError{r.name, unitLine, lines + 1, err}
	}
	if err := r.foreign(); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	lr := &lineReader{r: r.source.Reader, line: lines}
	if p := r.wrapped(lr); p != nil && (f == nil || f.shape == objects) {
		r.pieces = p
		return r.begin(f)
	}
	if (f == nil || f.shape == objects) && c != '{' && r.banner() {
		r.pieces = lr
		return r.begin(f)
	}
	found := r.shape(c)
	if f != nil && f.shape != found {
		return fmt.Errorf("%s: is not %s: expected %v, found %v", r.name, f.name, f.shape, found)
	}
	switch found {
	case table:
		return r.openTable(f, lr)
	case records:
		return r.openRecords(f, lines)
	}
	r.openObjects(c, lines, f)
	return r.begin(f)
}

// begin uses the format asked for, or finds it by the objects.
func (r *Reader) begin(f *format) error {
	if f != nil {
		r.use(f)
		return nil
	}
	return r.byObjects()
}

// asked returns the format that was asked for, nil where it is to be
// recognised.
func (r *Reader) asked() (*format, error) {
	switch {
	case r.options.Mapping != nil && r.options.Format != "":
		return nil, fmt.Errorf("%s: format %s and a mapping exclude each other", r.name, r.options.Format)
	case r.options.Mapping != nil:
		return r.options.Mapping.format(), nil
	case r.options.Format == "":
		return nil, nil
	}
	f, ok := formatNamed(r.options.Format)
	switch {
	case !ok:
		return nil, fmt.Errorf("%s: unknown format %q: expected one of %s", r.name, r.options.Format, strings.Join(formatNames(), ", "))
	case f.refused != "":
		return nil, fmt.Errorf("%s: format %s is not read: %s", r.name, f.name, f.refused)
	case f.model:
		return nil, fmt.Errorf("%s: %w", r.name, ErrServeGen)
	}
	return &f, nil
}

// shape tells by the first line what the content looks like.
func (r *Reader) shape(c byte) shape {
	if c == '{' || c == '[' {
		return objects
	}
	if line := r.head(); recordHead(line) {
		return records
	}
	return table
}

// head is the first line, as far as it is there without waiting.
func (r *Reader) head() []byte {
	b, _ := r.source.Peek(r.source.Buffered())
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return line
}

// openObjects decides how objects are told apart: one a line, as the entries
// of an array, or each over several lines.
func (r *Reader) openObjects(c byte, lines int64, f *format) {
	var keys []string
	if f != nil {
		keys = f.array
	} else {
		for _, f := range formats() {
			keys = append(keys, f.array...)
		}
	}
	pretty := r.pretty()
	switch {
	case c == '{' && !pretty && !r.endless(keys):
		r.pieces = &lineReader{r: r.source.Reader, line: lines}
	case c == '{' && !r.nested(keys):
		r.pieces = &elements{r: r.source.Reader}
	default:
		r.pieces = &elements{r: r.source.Reader, keys: keys}
	}
}

// pretty tells whether the first object goes on in the second line: the first
// ends where an object does not, and the second begins with no other object.
func (r *Reader) pretty() bool {
	b, _ := r.source.Peek(r.source.Buffered())
	line, next, more := bytes.Cut(b, []byte("\n"))
	line = bytes.TrimRight(line, " \t\r")
	if !more || len(line) == 0 || len(next) > 0 && next[0] == '{' {
		return false
	}
	return bytes.IndexByte([]byte("{[,:"), line[len(line)-1]) >= 0
}

// endless tells whether the first line goes on beyond what was read ahead and
// holds a list of its own.
func (r *Reader) endless(keys []string) bool {
	n := len(r.head())
	return n >= 16<<10 && n == r.source.Buffered() && r.nested(keys)
}

// nested tells whether the first object has a list whose entries are read.
func (r *Reader) nested(keys []string) bool {
	b, _ := r.source.Peek(r.source.Buffered())
	depth, inString, start := 0, false, 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"' && inString:
			inString = false
			if depth == 1 && slices.Contains(keys, string(b[start:i])) && bytes.HasPrefix(bytes.TrimLeft(b[i+1:], ": \t\r\n"), []byte("[")) {
				return true
			}
		case c == '"':
			inString, start = true, i+1
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return false
			}
		}
	}
	return false
}

func (r *Reader) use(f *format) {
	r.format, r.decoder = f, f.open(&r.options)
	if e, ok := r.pieces.(*elements); ok {
		if c, ok := r.decoder.(interface{ within(*elements) }); ok {
			c.within(e)
		}
	}
}

// byObjects looks at objects until one is of a known format. What was read is
// kept for the decoder.
func (r *Reader) byObjects() error {
	var p objectParser
	unknown, size, seen := 0, 0, ""
	for {
		piece, err := r.pieces.next()
		if errors.Is(err, io.EOF) {
			break
		}
		unit, line := r.pieces.place()
		var bad *badPiece
		if err != nil && !errors.As(err, &bad) {
			return &LineError{r.name, unit, line, err}
		}
		r.pending = append(r.pending, pending{bytes.Clone(piece), err, unit, line})
		if size += len(piece) + pendingSize; size > mostPending {
			break
		}
		if err != nil {
			continue
		}
		o, err := p.object(piece)
		if err != nil {
			continue
		}
		if f, err := r.of(o); f != nil || err != nil {
			return err
		}
		if seen == "" {
			seen = o.keys()
		}
		if unknown++; unknown == mostUnknown {
			break
		}
	}
	if unknown > 0 {
		return fmt.Errorf("%s: is of no known format: found objects with %s; say which it is (--dataset-format: %s), or what its fields are (--dataset-map)",
			r.name, seen, strings.Join(formatNames(), ", "))
	}
	return r.unusable()
}

// of uses the one format that an object is of.
func (r *Reader) of(o object) (*format, error) {
	var of []format
	for _, f := range formats() {
		if f.object != nil && f.object(o) {
			of = append(of, f)
		}
	}
	switch {
	case len(of) == 0:
		return nil, nil
	case len(of) > 1:
		var names []string
		for _, f := range of {
			names = append(names, f.name)
		}
		return nil, fmt.Errorf("%s: may be any of %s: say which (--dataset-format)", r.name, strings.Join(names, ", "))
	case of[0].refused != "":
		return nil, fmt.Errorf("%s: looks like %s, which is not read: %s", r.name, of[0].name, of[0].refused)
	case of[0].model:
		return nil, fmt.Errorf("%s: %w", r.name, ErrServeGen)
	}
	r.use(&of[0])
	return &of[0], nil
}

// unusable says why none of the pieces read so far is an object.
func (r *Reader) unusable() error {
	var p objectParser
	for _, k := range r.pending {
		err := k.err
		if err == nil {
			_, err = p.object(k.piece)
		}
		if err != nil {
			return fmt.Errorf("%s has no line that can be used; the first: %w", r.name, &LineError{r.name, k.unit, k.line, err})
		}
	}
	return fmt.Errorf("%s has no rows", r.name)
}
