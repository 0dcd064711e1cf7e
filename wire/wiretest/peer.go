package wiretest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// peer is the server's side of one connection.
type peer struct {
	net.Conn
	socket net.Conn // below TLS
	br     *bufio.Reader
	done   <-chan struct{} // the server stops
	served int             // requests answered on this connection before
	err    error           // first failed write

	// What the present request asks.
	path         string
	chat         bool
	stream       bool
	includeUsage bool
	tokens       int // content tokens asked
	promptTokens int
}

// asked is the part of a request body that the server heeds.
type asked struct {
	Stream        bool `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"`
	Messages            json.RawMessage `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
}

// read takes the next request; false where none comes.
func (p *peer) read() bool {
	r, err := http.ReadRequest(p.br)
	if err != nil {
		return false
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	var a asked
	if json.Unmarshal(body, &a) != nil {
		a.Stream = true
	}
	p.path, p.chat = r.URL.Path, !strings.HasSuffix(r.URL.Path, "/completions") || strings.HasSuffix(r.URL.Path, "/chat/completions")
	p.stream, p.includeUsage = a.Stream, a.StreamOptions.IncludeUsage
	p.tokens = max(a.MaxTokens, a.MaxCompletionTokens)
	if p.tokens == 0 {
		p.tokens = 4
	}
	p.promptTokens = len(strings.Fields(string(a.Messages) + string(a.Prompt)))
	return true
}

// raw writes s as it is, in one write.
func (p *peer) raw(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.Conn, s)
	}
}

func (p *peer) head(status int, fields ...string) {
	p.raw(headText(status, fields...))
}

func headText(status int, fields ...string) string {
	var s strings.Builder
	s.WriteString(fmt.Sprintf("HTTP/1.1 %d %s\r\n", status, http.StatusText(status)))
	for _, f := range fields {
		s.WriteString(f + "\r\n")
	}
	return s.String() + "\r\n"
}

// whole answers with one body of known length.
func (p *peer) whole(status int, contentType, body string, fields ...string) {
	fields = append([]string{"Content-Type: " + contentType, fmt.Sprintf("Content-Length: %d", len(body))}, fields...)
	p.raw(headText(status, fields...) + body)
}

var streamFields = []string{"Content-Type: text/event-stream; charset=utf-8", "Transfer-Encoding: chunked"}

func (p *peer) streamHead() { p.head(200, streamFields...) }

func chunked(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// chunk writes one chunk in one write; event one chunk that is one event.
func (p *peer) chunk(s string)    { p.raw(chunked(s)) }
func (p *peer) event(data string) { p.chunk("data: " + data + "\n\n") }
func (p *peer) lastChunk()        { p.raw("0\r\n\r\n") }

// hold keeps the connection open and silent until the client leaves.
func (p *peer) hold() { _, _ = io.Copy(io.Discard, p.br) }

// pause waits as a slow server does.
func (p *peer) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.done:
	}
}

// over tells that the client is gone or the server stops.
func (p *peer) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return p.err != nil
	}
}

// reset ends the connection with an RST.
func (p *peer) reset() {
	if tcp, ok := p.socket.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = p.socket.Close()
}
