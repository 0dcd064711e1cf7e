package face

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"syscall"
)

// line is the direct way to a connection that net/http serves, past its buffers.
// It may be used by a handler that has flushed the head of a response: from
// then on net/http holds nothing back, and writes again only when the handler
// returns or writes by itself.
type line struct {
	raw  syscall.RawConn
	conn net.Conn
	// w is the response writer of the request under way, as net/http made it: a
	// handler that got another one must not go past that.
	w       http.ResponseWriter
	chunked bool // the body is in chunked coding

	try func(fd uintptr) bool // one attempt to write b
	b   []byte
	n   int
	err error
}

type lineKey struct{}

// Attach lets the emitter write to the connections of a server.
func (e *Emitter) Attach(server *http.Server) {
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if l := newLine(c); l != nil {
			return context.WithValue(ctx, lineKey{}, l)
		}
		return ctx
	}
	next := server.Handler
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l, ok := r.Context().Value(lineKey{}).(*line); ok {
			l.w, l.chunked = w, r.ProtoAtLeast(1, 1)
		}
		next.ServeHTTP(w, r)
	})
}

func newLine(c net.Conn) *line {
	s, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	l := &line{raw: raw, conn: c}
	l.try = l.once
	return l
}

// lineTo returns the direct line to the client behind w; nil: there is none.
func lineTo(ctx context.Context, w http.ResponseWriter) *line {
	l, ok := ctx.Value(lineKey{}).(*line)
	if !ok || l.w != w {
		return nil
	}
	return l
}

// room is what a chunk needs before its bytes.
const room = 10

// frame makes a chunk of b, whose first room bytes are free.
func (l *line) frame(b []byte) []byte {
	if !l.chunked {
		return b[room:]
	}
	size := strconv.AppendInt(make([]byte, 0, room), int64(len(b)-room), 16)
	start := room - 2 - len(size)
	copy(b[start:], size)
	copy(b[room-2:], "\r\n")
	return append(b, "\r\n"...)[start:]
}

// write writes as much of b as the connection takes at once.
func (l *line) write(b []byte) (n int, err error) {
	l.b, l.n, l.err = b, 0, nil
	err = l.raw.Write(l.try)
	l.b = nil
	if err == nil {
		err = l.err
	}
	return l.n, err
}
