package wiretest

import (
	"time"

	"github.com/tokamak-bench/tokamak/wire"
)

// connectionFaults are those of the connection itself.
func connectionFaults() []Fault {
	return []Fault{
		{Name: "healthy", Status: 200, serve: healthy},
		{Name: "close_before_response", Cause: wire.ResetEarly, serve: func(*peer) bool { return false }},
		{Name: "reset_before_response", Cause: wire.ResetEarly, serve: func(p *peer) bool { p.reset(); return false }},
		{Name: "reset_in_stream", Status: 200, Cause: wire.ResetLate, serve: func(p *peer) bool {
			p.begin()
			p.pause(20 * time.Millisecond) // an RST throws away what was not read yet
			p.reset()
			return false
		}},
		{Name: "close_in_stream", Status: 200, Cause: wire.ResetLate, serve: func(p *peer) bool { p.begin(); return false }},
		{Name: "close_in_head", Cause: wire.ResetLate, serve: sends("HTTP/1.1 200 OK\r\nContent-Type: text/ev")},
		{Name: "close_in_length", Status: 200, Cause: wire.ResetLate, serve: func(p *peer) bool {
			p.head(200, "Content-Type: text/event-stream", "Content-Length: 100000")
			p.raw(events(p.objects()[:2]))
			return false
		}},
		{Name: "stall_before_head", Cause: wire.TimeoutFirstByte, Limits: wire.Limits{FirstByte: soon}, serve: held},
		{Name: "stall_in_head", Cause: wire.TimeoutFirstToken, Limits: wire.Limits{FirstToken: soon}, serve: func(p *peer) bool {
			p.raw("HTTP/1.1 200 OK\r\nContent-Type: text/ev")
			return held(p)
		}},
		{Name: "stall_after_head", Status: 200, Cause: wire.TimeoutFirstToken, Limits: wire.Limits{FirstToken: soon}, serve: func(p *peer) bool {
			p.streamHead()
			return held(p)
		}},
		{Name: "stall_in_stream", Status: 200, Cause: wire.TimeoutStall, Limits: wire.Limits{Stall: soon}, serve: func(p *peer) bool {
			p.begin()
			return held(p)
		}},
		{Name: "stall_before_end", Status: 200, Cause: wire.TimeoutTotal, Limits: wire.Limits{Total: soon}, serve: func(p *peer) bool {
			p.streamHead()
			p.chunk(events(p.objects()))
			return held(p)
		}},
		{Name: "endless_stream", Status: 200, Cause: wire.TimeoutTotal, Limits: wire.Limits{Total: soon}, serve: func(p *peer) bool {
			p.begin()
			for !p.over() {
				p.event(p.delta(" word"))
				p.pause(time.Millisecond)
			}
			return false
		}},
		{Name: "endless_comments", Status: 200, Cause: wire.TimeoutFirstToken, Limits: wire.Limits{FirstToken: soon}, serve: func(p *peer) bool {
			p.streamHead()
			for !p.over() {
				p.chunk(": keep-alive\n\n")
				p.pause(time.Millisecond)
			}
			return false
		}},
		{Name: "slow_drip", Status: 200, serve: func(p *peer) bool {
			text := headText(200, streamFields...) + chunked(events(p.objects())) + "0\r\n\r\n"
			step := len(text)/100 + 1
			for i := 0; i < len(text) && !p.over(); i += step {
				p.raw(text[i:min(i+step, len(text))])
				p.pause(time.Millisecond)
			}
			return true
		}},
		{Name: "slow_accept", Status: 200, serve: func(p *peer) bool { p.pause(50 * time.Millisecond); return healthy(p) }},
		{Name: "closes_idle", Status: 200, serve: func(p *peer) bool { healthy(p); return false }},
		{Name: "speaks_unasked", Status: 200, serve: func(p *peer) bool {
			text := headText(200, streamFields...) + chunked(events(p.objects())) + "0\r\n\r\n"
			p.raw(text + text) // the second half answers nothing, and must not be taken for the next answer
			return true
		}},
		{Name: "closes_on_reuse", Cause: wire.StaleConnection, Warmups: 1, serve: func(p *peer) bool {
			return p.served == 0 && healthy(p)
		}},
	}
}

// begin sends the head and the first two objects of a stream.
func (p *peer) begin() {
	p.streamHead()
	for _, o := range p.objects()[:2] {
		p.event(o)
	}
}

func held(p *peer) bool { p.hold(); return false }
