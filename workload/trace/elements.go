package trace

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
)

// elements reads the entries of a JSON array one by one, or those of an array
// that is a value of an object, or whole objects that go over several lines.
// It looks at brackets and strings alone: what stands in an entry is for the
// decoder to judge, so that a bad one does not lose those behind it.
type elements struct {
	r     *bufio.Reader
	keys  []string // of arrays whose entries are read; none: whole objects
	entry int64
	piece []byte
	// context are the other values of the object that the array belongs to, as
	// a JSON object without its closing bracket, as far as they came before.
	context []byte
	fresh   bool // the next entry is the first of its array
	depth   int  // 0: between objects, 1: in an object, 2: in an array of entries
	array   bool
	found   bool // the object has an array of entries
	done    bool
	most    int64 // bytes in which an entry must end; 0: maxEndless
}

func (e *elements) place() (string, int64) { return unitEntry, e.entry }

var errCut = errors.New("is cut short")

// errNoRest is of an entry, or a line of several parts, that the end of the
// content cuts short.
var errNoRest = fmt.Errorf("%w by the end of the content", errCut)

// next returns the next entry.
func (e *elements) next() ([]byte, error) {
	for {
		if e.done {
			return nil, io.EOF
		}
		c, err := e.skip()
		if errors.Is(err, io.EOF) {
			return e.atEnd()
		}
		if err != nil {
			return nil, err
		}
		switch {
		case e.depth == 2 && c == ']':
			e.depth--
			if e.array {
				e.depth = 0
			}
		case e.depth == 2:
			e.entry++
			return e.value()
		case e.depth == 1 && c == '}':
			e.depth = 0
			if !e.found {
				e.entry++
				return nil, &badPiece{fmt.Errorf("expected an object with a list %s", strings.Join(e.keys, " or "))}
			}
		case e.depth == 1:
			if err := e.member(c); err != nil {
				return nil, err
			}
		case c == '[':
			e.depth, e.array = 2, true
		case c == '{' && len(e.keys) > 0:
			e.depth, e.array, e.found = 1, false, false
			e.context = append(e.context[:0], '{')
		default:
			e.entry++
			return e.value()
		}
	}
}

// atEnd ends the reading: in the midst of something is an error.
func (e *elements) atEnd() ([]byte, error) {
	e.done = true
	if e.depth == 0 {
		return nil, io.EOF
	}
	return nil, fmt.Errorf("the array does not end: %w after entry %d", errCut, e.entry)
}

// skip returns the first byte that is neither space nor comma.
func (e *elements) skip() (byte, error) {
	most := cmp.Or(e.most, maxEndless)
	for range most {
		c, err := e.r.ReadByte()
		if err != nil || c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != ',' {
			return c, err
		}
	}
	return 0, endless("space behind the entry", most)
}

// member reads a key of an object and, unless its value is an array to read by
// entries, the value.
func (e *elements) member(c byte) error {
	if c != '"' {
		// No key: what follows is passed over as a value, which the next
		// brackets end.
		_, err := e.value()
		return passable(err)
	}
	key, err := e.value()
	if err != nil {
		return passable(err)
	}
	name := string(key)
	if c, err = e.skip(); err != nil {
		return err
	}
	if c != ':' {
		return e.r.UnreadByte()
	}
	if c, err = e.skip(); err != nil {
		return err
	}
	for _, k := range e.keys {
		if c == '[' && name == `"`+k+`"` {
			e.depth, e.fresh, e.found = 2, true, true
			return nil
		}
	}
	v, err := e.value()
	if err == nil && len(e.context)+len(v) < 64<<10 {
		if len(e.context) > 1 {
			e.context = append(e.context, ',')
		}
		e.context = append(append(append(e.context, name...), ':'), v...)
	}
	return passable(err)
}

func passable(err error) error {
	var bad *badPiece
	if errors.As(err, &bad) {
		return nil
	}
	return err
}

// value reads to the end of the value that begins with the byte read last. One that is too long
// is read to its end and refused.
func (e *elements) value() ([]byte, error) {
	if err := e.r.UnreadByte(); err != nil {
		return nil, err
	}
	e.piece = e.piece[:0]
	var s scan
	long, seen, most := false, int64(0), cmp.Or(e.most, maxEndless)
	for {
		if _, err := e.r.Peek(1); err != nil {
			if errors.Is(err, io.EOF) && s.depth == 0 && !s.inString && s.any {
				break
			}
			return nil, e.cut(err)
		}
		window, _ := e.r.Peek(e.r.Buffered())
		n, found := s.over(window)
		if long = long || len(e.piece)+n > maxLine; !long {
			e.piece = append(e.piece, window[:n]...)
		}
		if _, err := e.r.Discard(n); err != nil {
			return nil, err
		}
		if seen += int64(n); seen > most {
			return nil, endless(unitEntry, most)
		}
		if found == valueCut {
			return nil, e.resume()
		}
		if found == valueEnd {
			break
		}
	}
	if long {
		return nil, tooLong()
	}
	return e.piece, nil
}

// scan looks for the end of a JSON value.
type scan struct {
	depth             int
	inString, escaped bool
	any               bool   // something was seen
	before, last      byte   // the byte before, and the last that is no space
	inObject          uint64 // a bit for each bracket that is open, the innermost lowest
}

type scanned int

const (
	valueGoesOn scanned = iota
	valueEnd            // the value ends here
	valueCut            // it was cut off here
)

// over goes on over more bytes and returns how many belong to the value.
func (s *scan) over(b []byte) (n int, found scanned) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		if s.inString {
			switch {
			case s.escaped:
				s.escaped = false
			case c == '\\':
				s.escaped = true
			case c == '\n':
				// A string does not go over lines: the entry was cut off here.
				return i + 1, valueCut
			case c == '"':
				s.inString, s.before, s.last = false, c, c
				if s.depth <= 0 {
					return i + 1, valueEnd
				}
			}
			continue
		}
		if s.depth == 0 && s.any && (c == ',' || c == '}' || c == ']' || c == ':' || c == '\n') {
			return i, valueEnd
		}
		if c == '{' && s.before == '\n' && s.depth > 0 && s.last != ':' && (s.inObject&1 == 1 || s.last != '[' && s.last != ',') {
			return i, valueCut // a line begins a new object where none can be
		}
		s.any = true
		s.bracket(c)
		if s.depth <= 0 && (c == '}' || c == ']') {
			return i + 1, valueEnd
		}
		if s.before = c; c > ' ' {
			s.last = c
		}
	}
	return len(b), valueGoesOn
}

// bracket follows brackets and the beginning of strings.
func (s *scan) bracket(c byte) {
	switch c {
	case '"':
		s.inString = true
	case '{':
		s.depth++
		s.inObject = s.inObject<<1 | 1
	case '[':
		s.depth++
		s.inObject <<= 1
	case '}', ']':
		s.depth--
		s.inObject >>= 1
	}
}

// resume goes on behind an entry that was cut off at the end of a line.
func (e *elements) resume() error {
	if e.depth == 1 || e.depth == 2 && !e.array {
		e.depth = 0
	}
	return &badPiece{errCut}
}

// cut is the error of a source that ends in the midst of a value.
func (e *elements) cut(err error) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	e.done = true
	if e.depth == 0 {
		return &badPiece{errNoRest}
	}
	return fmt.Errorf("the array does not end: %w in entry %d", errCut, e.entry)
}
