package fault

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// answer is a response on its way through the stages of the faults that struck
// its request.
type answer struct {
	w       http.ResponseWriter
	stages  []stage
	status  int
	framing framing
	hold    bool // nothing leaves before the end
	in, out []byte
	broken  error // why nothing more is taken
	abort   bool  // the connection is to be cut
	marked  bool  // the API ends streams with data: [DONE]
}

// framing is how a body is divided into events.
type framing uint8

const (
	undecided framing = iota
	wholeBody         // one JSON value
	eventStream
	jsonLines
)

// event is one event of a stream, or a whole body.
type event struct {
	before, data, after []byte // data is the JSON
}

// stage changes events one after the other.
type stage interface {
	// event takes one and returns what goes on in its place.
	event(e event) []event
	// end returns what is left after the last.
	end() []event
}

var errCut = errors.New("the answer ends here by a fault")

// newAnswer returns a writer with a stage for each hit that changes answers.
func newAnswer(s *Set, w http.ResponseWriter, path string, hits []Hit) *answer {
	a := &answer{w: w, status: http.StatusOK, marked: strings.HasPrefix(path, "/v1/") || path == "/generate"}
	for i := range hits {
		h := &hits[i]
		if h.Definition.Name == "buffered" {
			a.hold = true
			continue
		}
		if st := newStage(s, a, h); st != nil {
			a.stages = append(a.stages, st)
		}
	}
	return a
}

// Header returns the fields of the answer's head.
func (a *answer) Header() http.Header { return a.w.Header() }

// WriteHeader decides how the body is read; the head of a whole body waits for
// its length.
func (a *answer) WriteHeader(status int) {
	if a.framing != undecided {
		return
	}
	a.status = status
	kind := a.w.Header().Get("Content-Type")
	switch {
	case strings.HasPrefix(kind, "text/event-stream"):
		a.framing = eventStream
	case strings.HasPrefix(kind, "application/x-ndjson"):
		a.framing = jsonLines
	default:
		a.framing = wholeBody
		return
	}
	if !a.hold {
		a.w.WriteHeader(status)
	}
}

// Write takes bytes of the body; whole events go on.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.broken != nil {
		return 0, a.broken
	}
	a.in = append(a.in, b...)
	if a.framing != wholeBody {
		a.events()
	}
	if a.broken != nil {
		_ = a.send() // what is broken is said
		return 0, a.broken
	}
	return len(b), a.send()
}

// FlushError sends what is there.
func (a *answer) FlushError() error {
	if a.hold || a.framing == wholeBody {
		return nil
	}
	return http.NewResponseController(a.w).Flush()
}

// Flush is FlushError for callers that ask for an http.Flusher.
func (a *answer) Flush() { _ = a.FlushError() }

// events passes every whole event of what came through the stages.
func (a *answer) events() {
	mark := []byte("\n\n")
	if a.framing == jsonLines {
		mark = mark[:1]
	}
	for a.broken == nil {
		i := bytes.Index(a.in, mark)
		if i < 0 {
			return
		}
		a.pass(0, divide(bytes.Clone(a.in[:i+len(mark)]), len(mark)))
		a.in = a.in[i+len(mark):]
	}
}

// divide finds an event's data.
func divide(e []byte, mark int) event {
	end := len(e) - mark
	start := 0
	if i := bytes.LastIndex(e[:end], []byte("data:")); i >= 0 && mark == 2 {
		start = i + len("data:")
		if start < end && e[start] == ' ' {
			start++
		}
	}
	return event{before: e[:start], data: e[start:end], after: e[end:]}
}

// pass sends an event through the stages from number i on.
func (a *answer) pass(i int, e event) {
	if i == len(a.stages) {
		a.out = append(a.out, e.before...)
		a.out = append(a.out, e.data...)
		a.out = append(a.out, e.after...)
		return
	}
	for _, next := range a.stages[i].event(e) {
		a.pass(i+1, next)
	}
}

// send writes what has passed, unless it is held.
func (a *answer) send() error {
	if a.hold || len(a.out) == 0 || a.framing == wholeBody {
		return nil
	}
	_, err := a.w.Write(a.out)
	a.out = a.out[:0]
	return err
}

// end sends the rest after the face has returned.
func (a *answer) end() {
	if a.framing == undecided {
		a.WriteHeader(http.StatusOK)
	}
	if a.broken == nil {
		if a.framing == wholeBody {
			a.pass(0, event{data: a.in})
		} else if len(a.in) > 0 {
			a.pass(0, divide(append(a.in, "\n\n"...), 2))
		}
		for i, s := range a.stages {
			for _, e := range s.end() {
				a.pass(i+1, e)
			}
		}
	}
	switch {
	case a.framing == wholeBody:
		a.w.Header().Set("Content-Length", strconv.Itoa(len(a.out)))
		a.w.WriteHeader(a.status)
		_, _ = a.w.Write(a.out)
	case a.hold:
		a.w.WriteHeader(a.status)
		_, _ = a.w.Write(a.out)
	default:
		_ = a.send()
	}
	if a.abort {
		_ = http.NewResponseController(a.w).Flush()
		panic(http.ErrAbortHandler) // net/http's way to close the connection
	}
}
