package rivals

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// step writes bytes to a stream After microseconds from its request.
type step struct {
	After int
	Event bool // a content event, which the server logs
	Bytes string
}

// ending is what the server does with the connection after the last step.
type ending string

const (
	keep      ending = "keep"
	closing   ending = "close"
	resetting ending = "reset"
	holding   ending = "hold"
)

// plan is one way to answer a request.
type plan struct {
	Steps []step
	End   ending
	Whole bool // a success: the stream ends as the API says
	Units int  // tokens that its events carry
}

// script is what the server plays: the k-th request is answered by plan k
// modulo their number.
type script struct {
	Name  string
	Plans []plan
}

// dialect says how an API's chunks look.
type dialect struct {
	path              string
	object            string
	role              string // the first delta, none if empty
	content, thinking string // format of a choice with a text
	last              string // the choice that ends
}

var dialects = []dialect{
	{path: "/v1/chat/completions", object: "chat.completion.chunk",
		role:     `{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}`,
		content:  `{"index":0,"delta":{"content":%q},"finish_reason":null}`,
		thinking: `{"index":0,"delta":{"reasoning_content":%q},"finish_reason":null}`,
		last:     `{"index":0,"delta":{},"finish_reason":"length"}`},
	{path: "/v1/completions", object: "text_completion",
		content:  `{"index":0,"text":%q,"finish_reason":null}`,
		thinking: `{"index":0,"text":%q,"finish_reason":null}`,
		last:     `{"index":0,"text":"","finish_reason":"length"}`},
}

// writer builds the steps of a stream.
type writer struct {
	d     dialect
	steps []step
	units int
	plain bool // the body ends with the connection, without chunked coding
}

func (w *writer) event(choice, usage string) string {
	return fmt.Sprintf(`{"id":"cmpl-1","object":%q,"created":1700000000,"model":"truth","choices":[%s]%s}`, w.d.object, choice, usage)
}

// put adds an SSE event in a chunk of its own.
func (w *writer) put(after int, content bool, data string) {
	data = "data: " + data + "\n\n"
	if !w.plain {
		data = fmt.Sprintf("%x\r\n%s\r\n", len(data), data)
	}
	w.raw(after, content, data)
}

func (w *writer) raw(after int, content bool, bytes string) {
	if n := len(w.steps); n > 0 && !content && !w.steps[n-1].Event && w.steps[n-1].After == after {
		w.steps[n-1].Bytes += bytes
		return
	}
	w.steps = append(w.steps, step{After: after, Event: content, Bytes: bytes})
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// open writes the head and the role.
func (w *writer) open(after int) {
	head := streamHead
	if w.plain {
		head = strings.Replace(head, "Transfer-Encoding: chunked", "Connection: close", 1)
	}
	w.raw(after, false, head)
	if w.d.role != "" {
		w.put(after, false, w.event(w.d.role, ""))
	}
}

// say writes an event of n words.
func (w *writer) say(after, n int, format, word string) {
	var text strings.Builder
	for range n {
		fmt.Fprintf(&text, " %s%05d", word, w.units%1000)
		w.units++
	}
	w.put(after, true, w.event(fmt.Sprintf(format, text.String()), ""))
}

// finish ends a stream as its API says.
func (w *writer) finish(after int, done bool) {
	w.put(after, false, w.event(w.d.last, ""))
	w.put(after, false, w.event("", fmt.Sprintf(`,"usage":{"prompt_tokens":100,"completion_tokens":%d,"total_tokens":%d}`, w.units, 100+w.units)))
	if done {
		w.put(after, false, "[DONE]")
	}
	w.raw(after, false, "0\r\n\r\n")
}

// status answers with an error and no stream.
func (w *writer) status(after int, line, extra, body string) {
	w.raw(after, false, fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", line, extra, len(body), body))
}

const models = `{"object":"list","data":[{"id":"truth","object":"model","created":1700000000,"owned_by":"bench","max_model_len":131072}]}`

// write prints a script for the server; plans builds its plans for an API.
func write(to io.Writer, plans func(dialect) []plan) error {
	out := bufio.NewWriter(to)
	page := func(path, body string) {
		whole := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		fmt.Fprintf(out, "page %s %d\n%s\n", path, len(whole), whole)
	}
	page("/v1/models", models)
	page("/health", "{}")
	for _, d := range dialects {
		for _, p := range plans(d) {
			fmt.Fprintf(out, "plan %s\n", d.path)
			for _, s := range p.Steps {
				event := 0
				if s.Event {
					event = 1
				}
				fmt.Fprintf(out, "step %d %d %d\n%s\n", s.After, event, len(s.Bytes), s.Bytes)
			}
			fmt.Fprintf(out, "end %s\n", p.End)
		}
	}
	return out.Flush()
}
