package http1

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Field is one header field.
type Field struct{ Name, Value string }

// Head is a response's status line and header.
type Head struct {
	Minor  int // of the version: HTTP/1.Minor
	Status int
	Header []Field
}

// MaxHead is the longest head in bytes, interim (1xx) heads and trailers
// counted apart.
const MaxHead = 256 << 10

// Errors of the head; those of the body are in [ErrBody]'s tree.
var (
	ErrHead     = errors.New("malformed response head")
	ErrHeadLong = errors.New("response head over the limit")
	ErrBody     = errors.New("malformed chunked coding")
)

type state uint8

const (
	inHead state = iota
	inLength
	inChunks
	untilClose
	done
)

// Parser reads responses. Reset begins one; Next is given bytes until Done.
type Parser struct {
	state     state
	noBody    bool // the answer to HEAD
	keepAlive bool
	chunks    chunked
	left      int64  // of a body with a length
	head      []byte // what came of a head
	parsed    Head
}

// Reset makes the parser ready for the response to a request of the given method.
func (p *Parser) Reset(method string) {
	*p = Parser{noBody: method == "HEAD"}
}

// Head returns the final head, or nil while it is not complete.
func (p *Parser) Head() *Head {
	if p.state == inHead {
		return nil
	}
	return &p.parsed
}

// Done tells whether the response is complete.
func (p *Parser) Done() bool { return p.state == done }

// Started tells whether any byte of the response came.
func (p *Parser) Started() bool { return p.state != inHead || len(p.head) > 0 }

// KeepAlive tells, when the response is done, whether the connection can carry another.
func (p *Parser) KeepAlive() bool { return p.state == done && p.keepAlive }

// Length returns the bytes of body still to come where the head said how many, else -1.
func (p *Parser) Length() int64 {
	switch p.state {
	case inLength:
		return p.left
	case done:
		return 0
	}
	return -1
}

// Next takes bytes from the front of b: it returns how many it used and the
// piece of body among them, which aliases b and may be empty. Call it until b
// is used up or Done. It always makes progress: used is 0 only with an error,
// an empty b, or after Done. At the end of the head it returns before the
// body, so that the caller can look at Head first.
func (p *Parser) Next(b []byte) (used int, body []byte, err error) {
	switch p.state {
	case inHead:
		used, err = p.readHead(b)
		return used, nil, err
	case inLength:
		n := int(min(int64(len(b)), p.left))
		if p.left -= int64(n); p.left == 0 {
			p.state = done
		}
		return n, b[:n], nil
	case inChunks:
		used, body, err = p.chunks.next(b)
		if p.chunks.state == chunkDone {
			p.state = done
		}
		return used, body, err
	case untilClose:
		return len(b), b, nil
	}
	return 0, nil, nil
}

// Close tells that the connection ended: nil where that is how the body ends,
// or the response was already done; else io.ErrUnexpectedEOF.
func (p *Parser) Close() error {
	switch p.state {
	case untilClose:
		p.state = done
		return nil
	case done:
		return nil
	}
	return io.ErrUnexpectedEOF
}

// readHead gathers a head up to its empty line.
func (p *Parser) readHead(b []byte) (used int, err error) {
	had := len(p.head)
	if err := startsRight(p.head, b); err != nil {
		return 0, err
	}
	if end := headEnd(b, 0); had == 0 && end >= 0 && end <= MaxHead {
		return end, p.takeHead(b[:end]) // the usual case: all at once
	}
	room := MaxHead - had
	take := b[:min(len(b), room)]
	p.head = append(p.head, take...)
	end := headEnd(p.head, had)
	if end < 0 {
		if len(b) >= room {
			return 0, ErrHeadLong
		}
		return len(b), nil
	}
	err = p.takeHead(p.head[:end])
	p.head = nil
	return end - had, err
}

// startsRight tells early of what is no HTTP/1: such a server may never end
// its head.
func startsRight(head, b []byte) error {
	const start = "HTTP/1."
	for i := len(head); i < len(start) && i-len(head) < len(b); i++ {
		if b[i-len(head)] != start[i] {
			return fmt.Errorf("%w: it begins %.20q", ErrHead, append(head, b...))
		}
	}
	return nil
}

// takeHead parses a whole head. An interim one is dropped.
func (p *Parser) takeHead(b []byte) error {
	head, err := parseHead(b)
	if err != nil || head.Status >= 100 && head.Status < 200 && head.Status != 101 {
		return err
	}
	p.parsed = head
	return p.beginBody()
}

// headEnd returns the length of the head in b, its empty line included, or -1.
// The first seen bytes were looked at before.
func headEnd(b []byte, seen int) int {
	i := max(seen-3, 0)
	for {
		nl := bytes.IndexByte(b[i:], '\n')
		if nl < 0 {
			return -1
		}
		i += nl + 1
		switch {
		case i < len(b) && b[i] == '\n':
			return i + 1
		case i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n':
			return i + 2
		}
	}
}

// beginBody decides how the body ends (RFC 9112, section 6.3).
func (p *Parser) beginBody() error {
	h := &p.parsed
	chunked, length, err := h.framing()
	if err != nil {
		return err
	}
	p.keepAlive = h.keepAlive()
	switch {
	case h.Status == 101:
		return ErrHead // nothing that we ask for switches protocols
	case p.noBody || h.Status == 204 || h.Status == 304 || !chunked && length == 0:
		p.state = done
	case chunked:
		p.state = inChunks
	case length > 0:
		p.state, p.left = inLength, length
	default:
		p.state, p.keepAlive = untilClose, false
	}
	return nil
}
