package jsonstream

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxToken bounds one string or number: a hostile file does not make us hold
// more than that, and the texts of answers that tools keep are far shorter.
const maxToken = 64 << 20

// maxDepth bounds how deep values lie within each other.
const maxDepth = 64

// Error says where in a file something is not as it should be.
type Error struct {
	File   string
	Offset int64  // bytes from the file's start
	Path   string // JSON pointer of the value
	Err    error
}

// Error names the file, the byte, the path and what is wrong.
func (e *Error) Error() string {
	at := fmt.Sprintf("%s: byte %d", e.File, e.Offset)
	if e.Path != "" {
		at += " (" + shorten(e.Path) + ")"
	}
	return at + ": " + e.Err.Error()
}

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// shorten keeps the two ends of a long path: its names are the file's.
func shorten(path string) string {
	const most = 120
	if len(path) <= most {
		return path
	}
	return strings.ToValidUTF8(path[:most/2], "") + "..." + strings.ToValidUTF8(path[len(path)-most/2:], "")
}

// Reader walks the JSON values of one file, one after another.
type Reader struct {
	name  string
	d     *jsontext.Decoder
	limit *limiter
}

// New returns a reader of r, which errors call name.
func New(name string, r io.Reader) *Reader {
	l := &limiter{r: &lenient{r: r}}
	return &Reader{name: name, limit: l, d: jsontext.NewDecoder(l,
		jsontext.AllowDuplicateNames(true), // else all names are kept in memory
		jsontext.AllowInvalidUTF8(true))}   // lone surrogates, as Python writes them
}

var errLong = fmt.Errorf("a value longer than %d MiB", maxToken>>20)

// limiter fails when the decoder reads on and on without coming to the end of
// a token.
type limiter struct {
	r              io.Reader
	read, consumed int64
}

func (l *limiter) Read(p []byte) (int, error) {
	if l.read-l.consumed > maxToken {
		return 0, errLong
	}
	n, err := l.r.Read(p)
	l.read += int64(n)
	return n, err
}

func (r *Reader) token() (jsontext.Token, error) {
	r.limit.consumed = r.d.InputOffset()
	t, err := r.d.ReadToken()
	if err != nil {
		return t, r.broken(err)
	}
	if r.d.StackDepth() > maxDepth {
		return t, r.Errorf("values lie more than %d deep", maxDepth)
	}
	return t, nil
}

// broken turns the decoder's error into one of ours.
func (r *Reader) broken(err error) error {
	var s *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return r.Errorf("the file ends in the middle of a value: it was cut short")
	case errors.As(err, &s):
		return &Error{r.name, s.ByteOffset, string(s.JSONPointer), fmt.Errorf("not JSON: %w", s.Err)}
	}
	return r.Errorf("%w", err)
}

// Errorf returns an error at the value read last.
func (r *Reader) Errorf(format string, args ...any) error {
	return &Error{r.name, r.d.InputOffset(), string(r.d.StackPointer()), fmt.Errorf(format, args...)}
}

// Offset returns how many bytes have been read.
func (r *Reader) Offset() int64 { return r.d.InputOffset() }

// Kind returns the first byte of the next value: { [ " 0 t f n, or 0 where
// there is none.
func (r *Reader) Kind() byte {
	r.limit.consumed = r.d.InputOffset()
	k := byte(r.d.PeekKind())
	if k == '}' || k == ']' {
		return 0
	}
	return k
}

// More tells whether there is another value: in the file, where none is open.
func (r *Reader) More() (bool, error) {
	r.limit.consumed = r.d.InputOffset()
	if r.d.PeekKind() != 0 {
		return true, nil
	}
	if _, err := r.d.ReadToken(); errors.Is(err, io.EOF) {
		return false, nil
	} else if err != nil {
		return false, r.broken(err)
	}
	return true, nil
}

var words = map[byte]string{'{': "an object", '[': "an array", '"': "a text", '0': "a number", 't': "true", 'f': "false", 'n': "null", 0: "nothing"}

// open reads the beginning of an object or array; false: it is null.
func (r *Reader) open(want byte) (bool, error) {
	switch k := r.Kind(); k {
	case want:
		_, err := r.token()
		return err == nil, err
	case 'n':
		_, err := r.token()
		return false, err
	default:
		return false, r.mismatch(words[want], k)
	}
}

func (r *Reader) mismatch(want string, k byte) error {
	if k == 0 {
		if _, err := r.token(); err != nil { // what the decoder says is better
			return err
		}
	}
	return &Error{r.name, r.d.InputOffset(), r.next(), fmt.Errorf("expected %s, got %s", want, words[k])}
}

// next is the path of the value to be read next.
func (r *Reader) next() string {
	p := r.d.StackPointer()
	if kind, n := r.d.StackIndex(r.d.StackDepth()); kind == '[' {
		if n > 0 {
			p = p.Parent()
		}
		return string(p) + "/" + strconv.FormatInt(n, 10)
	}
	return string(p)
}

// Object walks the next value, an object: field is called for each name and
// reads its value, or does not, and it is skipped. Null has no fields.
func (r *Reader) Object(field func(name string) error) error {
	if ok, err := r.open('{'); !ok {
		return err
	}
	depth := r.d.StackDepth()
	for {
		t, err := r.token()
		if err != nil {
			return err
		}
		if t.Kind() == '}' {
			return nil
		}
		before := r.d.InputOffset()
		if err := field(t.String()); err != nil {
			return err
		}
		if r.d.InputOffset() == before {
			if err := r.Skip(); err != nil {
				return err
			}
		}
		if r.d.StackDepth() != depth {
			return r.Errorf("expected the end of a value")
		}
	}
}

// Array walks the next value, an array, in the same way. Null has no elements.
func (r *Reader) Array(element func(i int) error) error {
	if ok, err := r.open('['); !ok {
		return err
	}
	for i := 0; ; i++ {
		if r.Kind() == 0 {
			t, err := r.token()
			if err != nil || t.Kind() == ']' {
				return err
			}
			return r.Errorf("expected the end of an array")
		}
		before := r.d.InputOffset()
		if err := element(i); err != nil {
			return err
		}
		if r.d.InputOffset() == before {
			if err := r.Skip(); err != nil {
				return err
			}
		}
	}
}

// Skip passes over the next value.
func (r *Reader) Skip() error {
	depth := r.d.StackDepth()
	for {
		if _, err := r.token(); err != nil {
			return err
		}
		if r.d.StackDepth() <= depth {
			return nil
		}
	}
}

// Place returns the line and the column, in bytes from 1, of an offset in a
// file, reading it up to there; false: it is shorter.
func Place(r io.Reader, offset int64) (line, column int, ok bool) {
	line, column = 1, 1
	buf := make([]byte, 64<<10)
	for offset > 0 {
		n, err := r.Read(buf[:min(offset, int64(len(buf)))])
		offset -= int64(n)
		for _, c := range buf[:n] {
			column++
			if c == '\n' {
				line, column = line+1, 1
			}
		}
		if err != nil {
			return line, column, offset == 0
		}
	}
	return line, column, true
}
