package wiretest

import (
	"slices"
	"strings"
)

// streamFaults are those of the API inside a stream that is whole as HTTP.
func streamFaults() []Fault {
	broken := func(name string, violation string, text func(*peer) string) Fault {
		return Fault{Name: name, Status: 200, Outcome: "stream_broken", ErrorClass: violation, Violations: []string{violation}, serve: streams(text)}
	}
	fine := func(name, note string, text func(*peer) string) Fault {
		f := Fault{Name: name, Status: 200, serve: streams(text)}
		if note != "" {
			f.Notes = []string{note}
		}
		return f
	}
	failed := streams(func(p *peer) string {
		return events(p.objects()[:2]) + events([]string{`{"error":{"message":"CUDA out of memory","type":"server_error","code":500}}`, "[DONE]"})
	})
	return []Fault{
		broken("invalid_utf8", "bad_utf8", func(p *peer) string {
			return strings.Replace(events(p.objects()), `"word"`, "\"w\xff\xc3\"", 1)
		}),
		broken("broken_json", "bad_json", func(p *peer) string {
			return strings.Replace(events(p.objects()), `"word"`, `"word`, 1)
		}),
		broken("missing_terminator", "no_terminator", func(p *peer) string { return events(p.without("[DONE]")) }),
		broken("missing_finish_reason", "no_finish_reason", func(p *peer) string { return events(p.without(p.finish("length"))) }),
		{Name: "error_in_stream", Status: 200, Outcome: "stream_error", ErrorClass: "error_event", serve: failed},
		fine("usage_absent", "usage_missing", func(p *peer) string { p.includeUsage = false; return events(p.objects()) }),
		fine("usage_wrong", "over_max_tokens", func(p *peer) string {
			p.includeUsage = false
			all := p.objects()
			return events(slices.Insert(all, len(all)-1, p.usage(p.promptTokens, 10*p.tokens+100)))
		}),
		fine("max_tokens_ignored", "over_max_tokens", func(p *peer) string { p.tokens += 100; return events(p.objects()) }),
		fine("empty_answer", "empty_answer", func(p *peer) string {
			return events([]string{p.role(), p.finish("stop"), "[DONE]"})
		}),
		fine("crlf_lines", "", func(p *peer) string { return strings.ReplaceAll(events(p.objects()), "\n", "\r\n") }),
		fine("cr_lines", "", func(p *peer) string { return strings.ReplaceAll(events(p.objects()), "\n", "\r") }),
		fine("byte_order_mark", "", func(p *peer) string { return "\ufeff" + events(p.objects()) }),
		fine("comments", "", func(p *peer) string {
			return ": hello\n\n" + strings.ReplaceAll(events(p.objects()), "\n\n", "\n\n: keep-alive\n\n")
		}),
		fine("named_events", "", func(p *peer) string {
			return strings.ReplaceAll(events(p.objects()), "data: ", "event: message\nid: 7\nretry: 1000\ndata: ")
		}),
		fine("no_space_after_colon", "", func(p *peer) string { return strings.ReplaceAll(events(p.objects()), "data: ", "data:") }),
		fine("multi_line_data", "", func(p *peer) string {
			return strings.ReplaceAll(events(p.objects()), `,"object"`, ",\ndata: \"object\"")
		}),
		{Name: "split_character", Status: 200, serve: func(p *peer) bool {
			text := strings.Replace(events(p.objects()), `"word"`, `"wörd 東京 🗼"`, 1)
			p.streamHead()
			for i := 0; i < len(text); {
				n := 1
				for ; i+n < len(text) && text[i+n]&0x80 == 0; n++ { // ends before or within every character that is not ASCII
				}
				p.chunk(text[i : i+n])
				i += n
			}
			p.lastChunk()
			return true
		}},
	}
}

// streams returns a server that sends text event by event.
func streams(text func(*peer) string) func(*peer) bool {
	return func(p *peer) bool {
		body := text(p)
		p.streamHead()
		for body != "" {
			event, rest, found := strings.Cut(body, "\n\n")
			if found {
				event += "\n\n"
			}
			p.chunk(event)
			body = rest
		}
		p.lastChunk()
		return true
	}
}

// without is a good answer with one object left out.
func (p *peer) without(object string) []string {
	all := p.objects()
	i := slices.Index(all, object)
	return slices.Delete(all, i, i+1)
}
