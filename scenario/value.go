package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/verify"
)

type kind uint8

// The kinds of values. A flag's value is flagText: it takes whatever form its
// parser reads, while a file's text must not stand where a number is due.
const (
	nullValue kind = iota
	textValue
	flagText
	intValue
	floatValue
	boolValue
	listValue
	mapValue
)

var kindWords = [...]string{nullValue: "nothing", textValue: "text", flagText: "text", intValue: "a whole number",
	floatValue: "a number", boolValue: "true or false", listValue: "a list", mapValue: "a mapping"}

func (k kind) String() string { return kindWords[k] }

// value is what a file or a flag says, with its place.
type value struct {
	kind    kind
	text    string // scalars, as written
	items   []value
	entries []entry
	pos     Pos
	quoted  bool // a file's text in quotes: its first byte is one column on
}

type entry struct {
	key   string
	pos   Pos
	value value
}

// got describes the value for an error.
func (v value) got() string {
	switch v.kind {
	case textValue, flagText:
		return strconv.Quote(clip(v.text))
	case intValue, floatValue, boolValue:
		return clip(v.text)
	case nullValue, listValue, mapValue:
	}
	return v.kind.String()
}

// clip bounds what of a user's text an error repeats.
func clip(s string) string {
	const limit = 60
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}

func (v value) errorf(format string, args ...any) *Error {
	return &Error{v.pos, fmt.Sprintf(format, args...)}
}

// expected is the error of a value that is not what its key takes.
func (v value) expected(what string) *Error {
	return v.errorf("expected %s, got %s", what, v.got())
}

// syntax places an error of a parser of expressions: in a file by its column,
// for a flag by naming it.
func (v value) syntax(err error) *Error {
	var s *stat.SyntaxError
	var p *verify.ParseError
	column, message := 0, ""
	switch {
	case errors.As(err, &s):
		column, message = s.Column, s.Message
	case errors.As(err, &p):
		column, message = p.Column, p.Message
	default:
		return v.errorf("%v", err)
	}
	if v.pos.Flag != "" {
		return v.errorf("column %d of %q: %s", column, clip(v.text), message)
	}
	e := v.errorf("%s", message)
	if e.Pos.Col += column - 1; v.quoted {
		e.Pos.Col++
	}
	return e
}

// list returns the items of a list, or the value itself as the only one.
func (v value) list() []value {
	if v.kind == listValue {
		return v.items
	}
	return []value{v}
}

// appendJSON writes the value as JSON, mappings in their order.
func (v value) appendJSON(b []byte) ([]byte, error) {
	var err error
	switch v.kind {
	case nullValue:
		return append(b, "null"...), nil
	case boolValue:
		return append(b, v.text...), nil
	case intValue, floatValue:
		if !json.Valid([]byte(v.text)) {
			return nil, v.errorf("expected a decimal number, got %s", v.got())
		}
		return append(b, v.text...), nil
	case textValue, flagText:
		s, err := json.Marshal(v.text)
		return append(b, s...), err
	case listValue:
		b = append(b, '[')
		for i, x := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = x.appendJSON(b); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case mapValue:
	}
	b = append(b, '{')
	for i, e := range v.entries {
		if i > 0 {
			b = append(b, ',')
		}
		k, err := json.Marshal(e.key)
		if err != nil {
			return nil, err
		}
		b = append(append(b, k...), ':')
		if b, err = e.value.appendJSON(b); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}
