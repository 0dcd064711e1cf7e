package wire

import "bytes"

// bom is the byte order mark that may stand before a stream's first field.
var bom = []byte("\ufeff")

// EventData returns the event name and the data of a raw SSE event as the HTML
// standard reads it: data lines joined by LF, the last event field's value. The
// data aliases event where there is one data line, and nothing is allocated
// then. ok is false for an event without a data field (comments, keep-alives).
func EventData(event []byte) (name, data []byte, ok bool) {
	joined := false
	event = bytes.TrimPrefix(event, bom)
	for len(event) > 0 {
		var line []byte
		line, event = cutLine(event)
		field, value, _ := bytes.Cut(line, []byte{':'})
		if len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
		switch string(field) {
		case "event":
			name = value
		case "data":
			switch {
			case !ok:
				data, ok = value, true
			case !joined:
				data, joined = append(append(bytes.Clone(data), '\n'), value...), true
			default:
				data = append(append(data, '\n'), value...)
			}
		}
	}
	return name, data, ok
}

// cutLine returns the first line without its end, which is LF, CRLF or CR.
func cutLine(b []byte) (line, rest []byte) {
	i := lineEnd(b)
	if i < 0 {
		return b, nil
	}
	if b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n' {
		return b[:i], b[i+2:]
	}
	return b[:i], b[i+1:]
}

// lineEnd returns the index of the first CR or LF, or -1. Two scans for one
// byte are many times faster than one for a set.
func lineEnd(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	if i >= 0 {
		b = b[:i]
	}
	if j := bytes.IndexByte(b, '\r'); j >= 0 {
		return j
	}
	return i
}
