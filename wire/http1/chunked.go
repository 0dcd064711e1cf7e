package http1

import "fmt"

type chunkState uint8

const (
	chunkSize    chunkState = iota // hex digits
	chunkSpace                     // white space after them
	chunkExt                       // an extension, ignored
	chunkSizeLF                    // the LF of that line
	chunkData                      // left bytes of data
	chunkDataCR                    // what follows the data
	chunkDataLF                    //
	trailerStart                   // at the start of a trailer line
	trailerLine                    // within it
	trailerEndLF                   // the LF of the empty line
	chunkDone
)

// maxChunkLine bounds a size line with its extension.
const maxChunkLine = 4096

// chunked takes the chunked coding off (RFC 9112, section 7.1).
type chunked struct {
	state chunkState
	seen  int   // bytes of the line, or of all trailers, so far
	left  int64 // data still to come; while in the size line: its value
	digit bool  // the size line has a digit
}

// next works like [Parser.Next]. It returns at the end of each piece of data.
func (c *chunked) next(b []byte) (used int, body []byte, err error) {
	for used < len(b) && c.state != chunkDone {
		if c.state == chunkData {
			n := int(min(int64(len(b)-used), c.left))
			body = b[used : used+n]
			if c.left -= int64(n); c.left == 0 {
				c.state = chunkDataCR
			}
			return used + n, body, nil
		}
		if err := c.step(b[used]); err != nil {
			return 0, nil, err
		}
		used++
	}
	return used, nil, nil
}

// step takes one byte that is no data.
func (c *chunked) step(x byte) error {
	switch c.state {
	case chunkSize, chunkSpace, chunkExt, chunkSizeLF:
		return c.sizeLine(x)
	case chunkDataCR:
		return c.expect(x, '\r', chunkDataLF)
	case chunkDataLF:
		c.left, c.seen, c.digit = 0, 0, false
		return c.expect(x, '\n', chunkSize)
	}
	return c.trailer(x)
}

func (c *chunked) expect(x, want byte, then chunkState) error {
	if x != want {
		return fmt.Errorf("%w: %q where %q was due", ErrBody, x, want)
	}
	c.state = then
	return nil
}

func (c *chunked) sizeLine(x byte) error {
	if c.seen++; c.seen > maxChunkLine {
		return fmt.Errorf("%w: size line over %d bytes", ErrBody, maxChunkLine)
	}
	if c.state == chunkSizeLF {
		c.seen = 0
		if c.left == 0 {
			return c.expect(x, '\n', trailerStart)
		}
		return c.expect(x, '\n', chunkData)
	}
	switch {
	case x == '\r':
		if !c.digit {
			return fmt.Errorf("%w: no size", ErrBody)
		}
		c.state = chunkSizeLF
		return nil
	case x == '\n':
		return fmt.Errorf("%w: bare LF after the size", ErrBody)
	case c.state == chunkExt:
		return nil
	case x == ';' && c.digit:
		c.state = chunkExt
		return nil
	case (x == ' ' || x == '\t') && c.digit:
		c.state = chunkSpace
		return nil
	}
	v := hex(x)
	if v < 0 || c.state == chunkSpace || c.left >= 1<<58 {
		return fmt.Errorf("%w: %q in the size", ErrBody, x)
	}
	c.digit = true
	c.left = c.left<<4 | int64(v)
	return nil
}

func hex(x byte) int {
	switch {
	case '0' <= x && x <= '9':
		return int(x - '0')
	case 'a' <= x && x <= 'f':
		return int(x-'a') + 10
	case 'A' <= x && x <= 'F':
		return int(x-'A') + 10
	}
	return -1
}

// trailer skips the trailer section.
func (c *chunked) trailer(x byte) error {
	if c.seen++; c.seen > MaxHead {
		return fmt.Errorf("%w: trailers over %d bytes", ErrBody, MaxHead)
	}
	switch c.state {
	case trailerStart:
		switch x {
		case '\r':
			c.state = trailerEndLF
		case '\n':
			c.state = chunkDone
		default:
			c.state = trailerLine
		}
	case trailerLine:
		if x == '\n' {
			c.state = trailerStart
		}
	case trailerEndLF:
		return c.expect(x, '\n', chunkDone)
	}
	return nil
}
