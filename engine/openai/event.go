package openai

import (
	"bytes"

	"github.com/tokamak-bench/tokamak/wire"
)

// form says what an event of a body looks like.
type form uint8

const (
	formEvent   form = iota // server-sent event, or only comments
	formOdd                 // the same with lines that are no field
	formUnended             // the same without a blank line at its end
	formOther               // no server-sent event at all
)

// eventData returns the data of an event, nil if it has none, and its name.
func eventData(b []byte) (data, name []byte, f form) {
	// The usual event is one data line and a blank one.
	if len(b) > 8 && string(b[:5]) == "data:" {
		rest := b[5:]
		if i := bytes.IndexByte(rest, '\n'); i > 0 {
			end := rest[i:]
			if len(end) == 2 && end[1] == '\n' || len(end) == 3 && end[1] == '\r' && end[2] == '\n' {
				rest = trimEnd(rest[:i])
				if len(rest) > 0 && rest[0] == ' ' {
					rest = rest[1:]
				}
				if len(rest) > 0 && bytes.IndexByte(rest, '\r') < 0 {
					return rest, nil, formEvent
				}
			}
		}
	}
	known, odd := 0, 0
	for rest := b; len(rest) > 0; {
		line := rest
		if i := bytes.IndexAny(rest, "\r\n"); i >= 0 {
			line, rest = rest[:i], rest[i+1:]
		} else {
			rest = nil
		}
		switch {
		case len(line) == 0:
		case isField(line):
			known++
		default:
			odd++
		}
	}
	switch {
	case odd > 0 && known == 0:
		return nil, nil, formOther
	case odd > 0:
		f = formOdd
	case !bytes.HasSuffix(b, []byte("\n\n")) && !bytes.HasSuffix(b, []byte("\n\r\n")) && !bytes.HasSuffix(b, []byte("\r\r")) && !bytes.HasSuffix(b, []byte("\n\r")):
		f = formUnended
	}
	name, data, ok := wire.EventData(b)
	if !ok || len(data) == 0 {
		data = nil
	}
	return data, name, f
}

func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

// isField tells whether a line is a field that event streams know, or a comment.
func isField(line []byte) bool {
	name, _, _ := bytes.Cut(line, []byte{':'})
	switch string(name) {
	case "data", "event", "id", "retry", "":
		return true
	}
	return false
}

// IsToken tells whether a raw event may carry a token: whether a field that
// holds content is there and not empty. It neither allocates nor decodes.
func IsToken(event []byte) bool {
	for rest := event; ; {
		i := bytes.IndexByte(rest, ':')
		if i < 0 {
			return false
		}
		name, value := bytes.TrimRight(rest[:i], " "), rest[i+1:]
		if n := len(name) - 1; n > 0 && name[n] == '"' && holdsContent(name[:n]) && !isEmpty(value) {
			return true
		}
		rest = value
	}
}

// holdsContent tells whether text ends in the opening quote and name of a
// content field.
func holdsContent(b []byte) bool {
	q := bytes.LastIndexByte(b, '"')
	if q < 0 || q > 0 && b[q-1] == '\\' {
		return false
	}
	switch string(b[q+1:]) {
	case "content", "text", "reasoning_content", "reasoning", "refusal", "tool_calls", "arguments":
		return true
	}
	return false
}

// isEmpty tells whether a value begins as null, "", [] or an object, white
// space before it skipped.
func isEmpty(v []byte) bool {
	v = bytes.TrimLeft(v, " \t")
	if len(v) < 2 {
		return true
	}
	switch v[0] {
	case '"':
		return v[1] == '"'
	case '[':
		return v[1] == ']'
	}
	return true
}
