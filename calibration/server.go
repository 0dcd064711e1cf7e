package calibration

import (
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
)

// sentKey is the field of an event that says when the server sent it, in ns of
// the civil clock, always in 19 digits.
const sentKey = `"sent":`

const sentDigits = 19

// eventText is one event with room for its stamp: like a chat completion's.
const eventText = `data: {"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1700000000,"model":"paced",` +
	`"choices":[{"index":0,"delta":{"content":" token"},"finish_reason":null}],` + sentKey + "0000000000000000000}\n\n"

const endText = `data: {"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1700000000,"model":"paced",` +
	`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"

const headText = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"

// Serve is the paced server. It listens on a free port of the loopback,
// writes "ADDRESS\n" to out, and serves until ctx ends:
//
//	POST /stream?first=NS&gap=NS&events=N   events on an absolute schedule
//	POST /once                              an answer without a stream
//	GET /late                               how late events were sent since the last asking, see Spread
func Serve(ctx context.Context, out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p := newPacer()
	paced := make(chan struct{})
	go func() { defer close(paced); p.run() }()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /stream", p.stream)
	mux.HandleFunc("POST /once", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	mux.HandleFunc("GET /late", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(p.lateness()) })
	s := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	if _, err := fmt.Fprintln(out, l.Addr()); err != nil {
		return err
	}
	err = s.Serve(l)
	p.stop()
	<-paced
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// pacedStream is a connection that gets events.
type pacedStream struct {
	conn net.Conn
	next int64 // when the next is due
	gap  int64
	left int // events
	head bool
}

// pacer sends all streams' events from one goroutine, so that it takes little
// of the CPU time that is to be measured.
type pacer struct {
	clock   *clock.Real
	event   []byte // one chunk
	digits  int    // where the stamp begins in it
	end     []byte
	due     dueHeap
	mu      sync.Mutex
	added   []*pacedStream
	late    []int64
	stopped bool
}

func newPacer() *pacer {
	p := &pacer{clock: clock.NewReal()}
	p.event = fmt.Appendf(nil, "%x\r\n%s\r\n", len(eventText), eventText)
	p.digits = len(p.event) - len("0000000000000000000}\n\n\r\n")
	p.end = fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(endText), endText)
	return p
}

// stream takes the connection over and hands it to the pacer.
func (p *pacer) stream(w http.ResponseWriter, r *http.Request) {
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(r.URL.Query().Get(name), 10, 64)
		return n
	}
	s := &pacedStream{next: p.clock.Now() + number("first"), gap: max(number("gap"), 1), left: int(number("events"))}
	h, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	var err error
	if s.conn, _, err = h.Hijack(); err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		_ = s.conn.Close()
		return
	}
	p.added = append(p.added, s)
	p.clock.Wake()
}

func (p *pacer) stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.clock.Wake()
}

// lateness returns, and forgets, how late events were sent.
func (p *pacer) lateness() Spread {
	p.mu.Lock()
	late := p.late
	p.late = nil
	p.mu.Unlock()
	return spread(late)
}

func (p *pacer) run() {
	defer p.clock.Close()
	defer p.clock.Pin()()
	var late []int64
	for {
		p.mu.Lock()
		for _, s := range p.added {
			heap.Push(&p.due, s)
		}
		p.added = p.added[:0]
		p.late = append(p.late, late...)
		stopped := p.stopped
		p.mu.Unlock()
		late = late[:0]
		if stopped {
			for _, s := range p.due {
				_ = s.conn.Close()
			}
			return
		}
		now := p.clock.Now()
		for len(p.due) > 0 && p.due[0].next <= now {
			s := p.due[0]
			late = append(late, p.clock.Now()-s.next)
			if p.send(s) {
				s.next += s.gap
				heap.Fix(&p.due, 0)
			} else {
				heap.Pop(&p.due)
				_ = s.conn.Close()
			}
		}
		until := clock.Forever
		if len(p.due) > 0 {
			until = p.due[0].next
		}
		p.clock.Wait(until)
	}
}

// send sends the event that is due; false after the last, or where the client
// has gone.
func (p *pacer) send(s *pacedStream) bool {
	if !s.head {
		s.head = true
		if _, err := io.WriteString(s.conn, headText); err != nil {
			return false
		}
	}
	if s.left <= 0 {
		_, _ = s.conn.Write(p.end)
		return false
	}
	s.left--
	stamp(p.event[p.digits:], time.Now().UnixNano())
	_, err := s.conn.Write(p.event)
	return err == nil
}

// stamp writes a time in sentDigits digits.
func stamp(dst []byte, ns int64) {
	for i := sentDigits - 1; i >= 0; i-- {
		dst[i] = byte('0' + ns%10)
		ns /= 10
	}
}

// dueHeap has the stream that is due first at its front.
type dueHeap []*pacedStream

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].next < h[j].next }
func (h dueHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push appends a stream.
func (h *dueHeap) Push(x any) { *h = append(*h, x.(*pacedStream)) }

// Pop takes the last stream off.
func (h *dueHeap) Pop() any {
	old := *h
	s := old[len(old)-1]
	*h = old[:len(old)-1]
	return s
}
