package trace

import (
	"bufio"
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
}

func (e *elements) place() (string, int64) { return unitEntry, e.entry }

var errCut = errors.New("is cut short")

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
			return e.value(c)
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
			return e.value(c)
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
	for {
		c, err := e.r.ReadByte()
		if err != nil || c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != ',' {
			return c, err
		}
	}
}

// member reads a key of an object and, unless its value is an array to read by
// entries, the value.
func (e *elements) member(c byte) error {
	if c != '"' {
		// No key: what follows is passed over as a value, which the next
		// brackets end.
		_, err := e.value(c)
		return passable(err)
	}
	key, err := e.value(c)
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
	v, err := e.value(c)
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

// value reads to the end of the value that begins with c. One that is too long
// is read to its end and refused.
func (e *elements) value(c byte) ([]byte, error) {
	e.piece = e.piece[:0]
	depth, inString, long := 0, false, false
	before, last := byte(0), byte(0) // the byte before, and the last that is no space
	inObject := uint64(0)            // a bit for each bracket that is open, the innermost lowest
	for {
		if c == '{' && before == '\n' && depth > 0 && !inString && last != ':' && (inObject&1 == 1 || last != '[' && last != ',') {
			// A line begins a new object where none can be.
			return nil, errors.Join(e.r.UnreadByte(), e.resume())
		}
		if len(e.piece) < maxLine {
			e.piece = append(e.piece, c)
		} else {
			long = true
		}
		switch {
		case inString && c == '\\':
			next, err := e.r.ReadByte()
			if err != nil {
				return nil, e.cut(err)
			}
			if len(e.piece) < maxLine {
				e.piece = append(e.piece, next)
			}
		case inString && c == '\n':
			// A string does not go over lines: the entry was cut off here.
			return nil, e.resume()
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			inObject <<= 1
			if c == '{' {
				inObject |= 1
			}
		case c == '}' || c == ']':
			depth--
			inObject >>= 1
		}
		if !inString && depth <= 0 && (c == '}' || c == ']' || c == '"') {
			break
		}
		next, err := e.r.ReadByte()
		if errors.Is(err, io.EOF) && depth == 0 && !inString {
			break
		}
		if err != nil {
			return nil, e.cut(err)
		}
		if depth == 0 && !inString && (next == ',' || next == '}' || next == ']' || next == ':' || next == '\n') {
			_ = e.r.UnreadByte()
			break
		}
		if before = c; !inString && c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			last = c
		}
		c = next
	}
	if long {
		return nil, tooLong()
	}
	return e.piece, nil
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
		return &badPiece{errCut}
	}
	return fmt.Errorf("the array does not end: %w in entry %d", errCut, e.entry)
}
