package dialect

import (
	"cmp"
	"slices"

	"github.com/tokamak-bench/tokamak/record"
)

// Kind says what an event of a stream held, as one bit.
type Kind uint8

// The kinds. The first four are content.
const (
	Text Kind = 1 << iota
	Reasoning
	Tool
	Refusal
	Role  // opens a choice: a role, no content
	Empty // content that is an empty text, no role
	Bare  // neither: a finish reason alone
)

// Content are the kinds that hold something for a reader.
const Content = Text | Reasoning | Tool | Refusal

// event is one event of a stream that names a choice.
type event struct {
	at     int64
	tokens int32 // -1: unknown
	choice int32
	kind   Kind
}

// request is one sending as a dialect looks at it.
type request struct {
	*head
	events []event
}

// ending says how a response ended as a client sees it that does not look into
// what the stream says.
type ending uint8

// The endings.
const (
	whole   ending = iota // closed as HTTP says it should be, whatever was in it
	garbled               // the same, with an event that is no JSON
	inBand                // the server's error object inside a 2xx
	severed               // the connection broke, or framing of the body was wrong, in the response
	refused               // a status that is not 2xx
	unheard               // not one byte came, or a deadline struck
	stopped               // we, or its user, gave it up
)

// status is tokamak's own verdict.
type status uint8

const (
	good   status = iota // outcome ok
	failed               // counts as over every limit
	gone                 // cut or cancelled: unknown
)

func statusOf(a *record.Attempt) status {
	switch a.Outcome {
	case record.OK:
		return good
	case record.Cut, record.Cancelled:
		return gone
	}
	return failed
}

// severing are the error classes of a response whose connection or framing
// broke under it: every HTTP library raises an error there.
var severing = []string{"reset_in_response", "bad_body", "too_long", "bad_encoding"}

// badJSON is the violation of an event that is no JSON.
const badJSON = "bad_json"

func endingOf(a *record.Attempt) ending {
	switch a.Outcome {
	case record.OK:
		return whole
	case record.StreamError:
		if slices.Contains(severing, a.ErrorClass) {
			return severed
		}
		return inBand
	case record.StreamBroken:
		switch {
		case slices.Contains(severing, a.ErrorClass):
			return severed
		case slices.Contains(a.Violations, badJSON):
			return garbled
		}
		return whole
	case record.Rejected, record.HTTPError:
		return refused
	case record.Cut, record.Cancelled, record.Abandoned:
		return stopped
	}
	return unheard
}

// kinds maps the kinds of chunks.
func kindOf(k record.ChunkKind) Kind {
	switch k {
	case record.ReasoningChunk:
		return Reasoning
	case record.ToolChunk:
		return Tool
	case record.RefusalChunk:
		return Refusal
	}
	return Text
}

// eventsOf appends the events of an attempt to buf in order of arrival.
func eventsOf(a *record.Attempt, buf []event) []event {
	c := &a.Chunks
	for i, at := range c.At {
		e := event{at: at, tokens: -1, kind: Text}
		if i < len(c.Tokens) {
			e.tokens = c.Tokens[i]
		}
		if i < len(c.Kind) {
			e.kind = kindOf(c.Kind[i])
		}
		if i < len(c.Choice) {
			e.choice = max(c.Choice[i], 0)
		}
		buf = append(buf, e)
	}
	if len(a.Blanks.At) == 0 {
		return openedBy(a, buf)
	}
	for i, at := range a.Blanks.At {
		kind := Bare
		if i < len(a.Blanks.Kind) {
			switch a.Blanks.Kind[i] {
			case record.RoleBlank:
				kind = Role
			case record.EmptyBlank:
				kind = Empty
			}
		}
		buf = append(buf, event{at: at, kind: kind})
	}
	slices.SortStableFunc(buf, func(x, y event) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.place(), y.place())) })
	return buf
}

// place orders events of one stamp as servers send them: a role, content, the
// finish.
func (e event) place() int {
	switch {
	case e.kind == Role:
		return 0
	case e.kind&Content != 0:
		return 1
	}
	return 2
}

// openedBy puts an opening event before the chunks of a row that does not keep
// its blank events, where one came by itself before the first content.
func openedBy(a *record.Attempt, buf []event) []event {
	first, ok := a.FirstChunk.Get()
	token, any := a.FirstToken.Get()
	if !ok || !any || first >= token {
		return buf
	}
	return slices.Insert(buf, 0, event{at: first, kind: Role})
}
