package wiretest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"

	"github.com/tokamak-bench/tokamak/wire"
)

// bodyFaults are those of chunked coding, content coding and content type.
func bodyFaults() []Fault {
	return []Fault{
		{Name: "bad_chunk_size", Status: 200, Cause: wire.BadBody, serve: func(p *peer) bool { p.begin(); p.raw("zz\r\n"); return held(p) }},
		{Name: "huge_chunk_size", Status: 200, Cause: wire.BadBody, serve: func(p *peer) bool {
			p.begin()
			p.raw("fffffffffffffffffffff\r\n")
			return held(p)
		}},
		{Name: "bad_chunk_end", Status: 200, Cause: wire.BadBody, serve: func(p *peer) bool { p.begin(); p.raw("3\r\nabcdef\r\n"); return held(p) }},
		{Name: "gzip_labelled", Status: 200, Cause: wire.BadEncoding, serve: func(p *peer) bool {
			p.whole(200, "text/event-stream", zipped(events(p.objects())), "Content-Encoding: gzip")
			return true
		}},
		{Name: "gzip_unlabelled", Status: 200, Outcome: "stream_broken", ErrorClass: "bad_json", Violations: []string{"bad_json"}, serve: func(p *peer) bool {
			p.whole(200, "text/event-stream", zipped(events(p.objects())))
			return true
		}},
		{Name: "identity_encoding", Status: 200, serve: func(p *peer) bool {
			p.whole(200, "text/event-stream", events(p.objects()), "Content-Encoding: identity")
			return true
		}},
		{Name: "line_50mib", Status: 200, Cause: wire.TooLong, serve: func(p *peer) bool {
			p.streamHead()
			p.chunk("data: ")
			part := chunked(strings.Repeat("x", 1<<20))
			for i := 0; i < 50 && !p.over(); i++ {
				p.raw(part)
			}
			p.chunk("\n\n")
			return false
		}},
		{Name: "big_event", Status: 200, serve: func(p *peer) bool {
			p.streamHead()
			all := p.objects()
			all[1] = p.delta(strings.Repeat("word ", 200_000))
			for _, o := range all {
				p.event(o)
			}
			p.lastChunk()
			return true
		}},
		{Name: "json_for_stream", Status: 200, Notes: []string{"not_streamed"}, serve: func(p *peer) bool {
			p.whole(200, "application/json", p.full())
			return true
		}},
		{Name: "html_for_stream", Status: 200, Outcome: "stream_broken", ErrorClass: "bad_framing", Violations: []string{"bad_framing"}, Notes: []string{"wrong_content_type"}, serve: func(p *peer) bool {
			p.whole(200, "text/html", "<!doctype html>\n<title>Welcome</title>\n\n<p>It works!</p>\n")
			return true
		}},
		{Name: "empty_body", Status: 200, Outcome: "stream_broken", ErrorClass: "empty_body", Violations: []string{"empty_body"}, serve: func(p *peer) bool {
			p.whole(200, "text/event-stream", "")
			return true
		}},
		{Name: "one_write", Status: 200, Coalesced: true, serve: func(p *peer) bool {
			var text strings.Builder
			text.WriteString(headText(200, streamFields...))
			for _, o := range p.objects() {
				text.WriteString(chunked("data: " + o + "\n\n"))
			}
			p.raw(text.String() + "0\r\n\r\n")
			return true
		}},
		{Name: "one_chunk", Status: 200, Coalesced: true, serve: func(p *peer) bool {
			p.raw(headText(200, streamFields...) + chunked(events(p.objects())) + "0\r\n\r\n")
			return true
		}},
		{Name: "every_byte", Status: 200, serve: func(p *peer) bool {
			text := events(p.objects())
			p.streamHead()
			for i := range len(text) {
				p.raw(chunked(text[i : i+1]))
			}
			p.lastChunk()
			return true
		}},
		{Name: "chunk_extensions_and_trailer", Status: 200, serve: func(p *peer) bool {
			text := events(p.objects())
			p.raw(headText(200, streamFields...) + fmt.Sprintf("%x;name=value\r\n%s\r\n0\r\nX-Trailer: yes\r\n\r\n", len(text), text))
			return true
		}},
	}
}

func zipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}
