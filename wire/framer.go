package wire

import "bytes"

// Framer finds the ends of events in a growing buffer. Its zero value frames
// Whole bodies; it keeps state between calls, so bytes may come in any pieces.
//
// An SSE event ends with its blank line, where lines end with LF, CRLF or CR.
// An event that ends with CR is complete at once: an LF that follows belongs
// to the front of the next one, as do blank lines that end no event.
type Framer struct {
	Framing Framing
	pos     int  // bytes of the buffer looked at
	blank   bool // at the start of a line
	cr      bool // the last byte was a CR
	some    bool // the event has more than line ends
}

// NewFramer returns a framer for f.
func NewFramer(f Framing) Framer { return Framer{Framing: f, blank: true} }

// Next returns the end of the next whole event of buf, which begins at the end
// of the one before, or -1 when more bytes are needed. After the caller moves
// the rest of the buffer to its front it calls Moved.
func (f *Framer) Next(buf []byte) int {
	switch f.Framing {
	case SSE:
		return f.nextSSE(buf)
	case NDJSON:
		return f.nextLine(buf)
	}
	f.some = len(buf) > 0
	return -1
}

func (f *Framer) nextSSE(buf []byte) int {
	for f.pos < len(buf) {
		if !f.blank {
			i := lineEnd(buf[f.pos:])
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
			end := f.blank && f.some
			f.blank, f.cr = true, c == '\r'
			if end {
				f.some = false
				f.skipLF(buf)
				return f.pos
			}
		default:
			f.blank, f.cr, f.some = false, false, true
		}
	}
	return -1
}

// skipLF takes the second half of a CRLF into the event where it is here.
func (f *Framer) skipLF(buf []byte) {
	if f.cr && f.pos < len(buf) && buf[f.pos] == '\n' {
		f.pos++
		f.cr = false
	}
}

// nextLine ends events with LF; empty lines end none.
func (f *Framer) nextLine(buf []byte) int {
	for f.pos < len(buf) {
		rest := buf[f.pos:]
		i := bytes.IndexByte(rest, '\n')
		if i >= 0 {
			rest = rest[:i]
		}
		f.some = f.some || len(bytes.TrimRight(rest, "\r")) > 0
		if i < 0 {
			f.pos = len(buf)
			return -1
		}
		f.pos += i + 1
		if f.some {
			f.some = false
			return f.pos
		}
	}
	return -1
}

// Partial tells whether what follows the last event's end holds more than line
// ends: at the end of a body that is an event which the server did not end.
func (f *Framer) Partial() bool { return f.some }

// Moved tells that n bytes were dropped from the front of the buffer.
func (f *Framer) Moved(n int) { f.pos -= n }
