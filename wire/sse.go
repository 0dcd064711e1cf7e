package wire

import "bytes"

// EventData returns the event name and the data of a raw SSE event: data lines
// joined by LF. The data aliases event where there is one data line. ok is
// false for an event without data (comments, keep-alives).
func EventData(event []byte) (name, data []byte, ok bool) {
	joined := false
	for len(event) > 0 {
		var line []byte
		line, event = cutLine(event)
		field, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
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
	i := bytes.IndexAny(b, "\r\n")
	if i < 0 {
		return b, nil
	}
	if b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n' {
		return b[:i], b[i+2:]
	}
	return b[:i], b[i+1:]
}

// Framer finds the ends of events in a growing buffer. Its zero value frames
// Whole bodies; it keeps state between calls, so bytes may come in any pieces.
type Framer struct {
	Framing Framing
	pos     int  // bytes of the buffer looked at
	blank   bool // at the start of a line
	cr      bool // the last byte was a CR
}

// NewFramer returns a framer for f.
func NewFramer(f Framing) Framer { return Framer{Framing: f, blank: true} }

// Next returns the end of the next whole event of buf, which begins at the end
// of the one before, or -1 when more bytes are needed. After the caller moves
// the rest of the buffer to its front it calls Moved.
func (f *Framer) Next(buf []byte) int {
	if f.Framing == Whole {
		return -1
	}
	for f.pos < len(buf) {
		if !f.blank && !f.cr {
			i := bytes.IndexAny(buf[f.pos:], "\r\n")
			if i < 0 {
				f.pos = len(buf)
				return -1
			}
			f.pos += i
		}
		c := buf[f.pos]
		f.pos++
		switch {
		case c == '\n' && f.cr:
			f.cr = false // second half of a CRLF already counted
		case c == '\n' || c == '\r':
			end := f.blank || f.Framing == NDJSON
			f.blank, f.cr = true, c == '\r'
			if end {
				if f.cr && f.pos < len(buf) && buf[f.pos] == '\n' {
					f.pos++
					f.cr = false
				}
				return f.pos
			}
		default:
			f.blank, f.cr = false, false
		}
	}
	return -1
}

// Moved tells that n bytes were dropped from the front of the buffer.
func (f *Framer) Moved(n int) { f.pos -= n }
