package wiretest

import (
	"strings"

	"github.com/tokamak-bench/tokamak/wire"
)

// headFaults are those of the status line and the header fields.
func headFaults() []Fault {
	return []Fault{
		{Name: "header_without_end", Cause: wire.BadHead, serve: func(p *peer) bool {
			p.raw("HTTP/1.1 200 OK\r\n")
			for line := "X-Filler: " + strings.Repeat("x", 1000) + "\r\n"; !p.over(); {
				p.raw(line)
			}
			return false
		}},
		{Name: "huge_header", Cause: wire.BadHead, serve: func(p *peer) bool {
			p.head(200, "X-Filler: "+strings.Repeat("x", 8<<20))
			return false
		}},
		{Name: "no_http", Cause: wire.BadHead, serve: sends("SSH-2.0-OpenSSH_9.2\r\n")},
		{Name: "bad_status_line", Cause: wire.BadHead, serve: sends("HTTP/1.1 abc\r\n\r\n")},
		{Name: "bad_header_field", Cause: wire.BadHead, serve: sends("HTTP/1.1 200 OK\r\nno colon here\r\n\r\n")},
		{Name: "two_lengths", Cause: wire.BadHead, serve: sends("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")},
		{Name: "informational", Status: 200, serve: func(p *peer) bool {
			p.raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
			return healthy(p)
		}},
		{Name: "http10_without_length", Status: 200, serve: func(p *peer) bool {
			p.raw("HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
			p.raw(events(p.objects()))
			return false
		}},
		{Name: "until_close", Status: 200, serve: func(p *peer) bool {
			p.head(200, "Content-Type: text/event-stream", "Connection: close")
			p.raw(events(p.objects()))
			return false
		}},
	}
}

// sends returns a server that answers with s and closes.
func sends(s string) func(*peer) bool {
	return func(p *peer) bool { p.raw(s); return false }
}
