package interop

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/record"
)

// Failed is the outcome of a request of which its tool says that it failed,
// and not how.
const Failed record.Outcome = "failed"

// sink takes the rows of a file. Moments are ns of the tool's own clock. A row
// is read at once and may be used again.
type sink interface {
	row(a *record.Attempt) error
}

// Bounds of what is read: a file may be hostile.
const (
	maxRequests = 20_000_000
	maxGaps     = 1 << 20 // of one request
)

// farthest is how many ns two moments of one run may lie apart: a year.
const farthest = int64(366 * 24 * 3600 * 1e9)

// moments lists the moments of a row.
func moments(m *record.Moments) []*record.Int {
	return []*record.Int{&m.Intended, &m.Dispatched, &m.ConnStart, &m.ConnReady, &m.WriteStart, &m.Sent,
		&m.FirstByte, &m.FirstChunk, &m.FirstToken, &m.FirstAnswer, &m.LastToken, &m.Ended}
}

// begin is the first moment of a row.
func begin(a *record.Attempt) (int64, bool) {
	first := int64(math.MaxInt64)
	for _, m := range moments(&a.Moments) {
		first = min(first, m.Or(first))
	}
	return first, first != math.MaxInt64
}

// shift moves a row by −epoch.
func shift(a *record.Attempt, epoch int64) {
	for _, m := range moments(&a.Moments) {
		if v, ok := m.Get(); ok {
			*m = record.Some(v - epoch)
		}
	}
	for i := range a.Chunks.At {
		a.Chunks.At[i] -= epoch
	}
}

// settle makes a row consistent: what cannot be true becomes null and is
// counted as a doubt, and what follows from the rest is filled in.
func settle(a *record.Attempt, s *Source) error {
	start, ok := a.WriteStart.Get()
	if !ok {
		start, ok = begin(a)
	}
	if !ok {
		return fmt.Errorf("request %d has no moment at all", a.RequestID)
	}
	for _, m := range moments(&a.Moments) {
		if v, ok := m.Get(); ok && (v-start > farthest || start-v > farthest) {
			return fmt.Errorf("request %d: %s between two of its moments", a.RequestID, "more than a year")
		}
	}
	settleChunks(a, s)
	for _, m := range [...]*record.Int{&a.FirstByte, &a.FirstChunk, &a.FirstToken, &a.FirstAnswer, &a.LastToken} {
		if v, ok := m.Get(); ok && v < start {
			*m = record.Int{}
			s.doubt("some responses came before their request was sent: those moments were left out")
		}
	}
	if first, ok := a.FirstToken.Get(); ok && a.LastToken.Or(first) < first {
		a.LastToken = record.Int{}
		s.doubt("some responses ended before they began: those ends were left out")
	}
	if a.Intended.Or(start) > start {
		a.Intended = record.Some(start)
		s.doubt("some requests were sent before their intended time: the moment of sending stands for it")
	}
	a.StampSource = record.SourceUser
	if a.Chunks.Len() == 0 && !a.FirstToken.Valid() {
		a.StampSource = ""
	}
	return nil
}

// settleChunks fills the lists that run beside the arrivals. Kind 0 is unknown.
func settleChunks(a *record.Attempt, s *Source) {
	n := len(a.Chunks.At)
	c := &a.Chunks
	for i := 1; i < n; i++ {
		if c.At[i] < c.At[i-1] {
			s.doubt("some arrivals of a response go back in time: those responses have no chunks")
			*c, n = record.Chunks{}, 0
		}
	}
	if len(c.Kind) != n {
		c.Kind = make([]record.ChunkKind, n)
	}
	c.Choice, c.Flags = make([]int32, n), make([]uint8, n)
	if n == 0 {
		return
	}
	if !a.FirstToken.Valid() {
		a.FirstToken = record.Some(c.At[0])
	}
	if !a.LastToken.Valid() {
		a.LastToken = record.Some(c.At[n-1])
	}
	if out, ok := a.OutputUsage.Get(); c.Tokens == nil && ok && (out == int64(n) || out == int64(n)+1 || out == int64(n)-1) {
		c.Tokens = make([]int32, n)
		for i := range c.Tokens {
			c.Tokens[i] = 1
		}
		a.TokenSource = "one_each"
	}
}

// statusCode is a status that a text names as one.
var statusCode = regexp.MustCompile(`(?i)(?:^|http(?:/[0-9.]+)?(?: error)?|status(?:[ _]?code)?|\bcode|(?:client|server) error)['":= ]*([45][0-9]{2})\b`)

// failure reads from a tool's error text what became of a request. What the
// text does not say stays unsaid: the outcome is Failed.
func failure(a *record.Attempt, text string) {
	a.ErrorText = errorLine(text)
	a.Outcome, a.ErrorClass = Failed, "failed"
	low := strings.ToLower(text)
	if code, ok := statusOf(text); ok {
		a.HTTPStatus, a.ErrorClass = record.Some(code), "http_"+strconv.FormatInt(code, 10)
		a.Outcome = record.HTTPError
		if code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable {
			a.Outcome = record.Rejected
		}
		return
	}
	switch {
	case containsAny(low, "timeout", "timed out"):
		a.Outcome, a.ErrorClass = record.Timeout, "timeout"
	case containsAny(low, "connection refused", "cannot connect", "connect call failed", "connecterror", "clientconnector"):
		a.Outcome, a.ErrorClass = record.TransportError, "refused"
	case containsAny(low, "connection reset", "server disconnected", "serverdisconnected", "connection closed"):
		a.Outcome, a.ErrorClass = record.TransportError, "reset"
	}
}

// statusOf finds an HTTP status in an error text: its number, or the reason
// phrase alone.
func statusOf(text string) (int64, bool) {
	if m := statusCode.FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		return n, err == nil && http.StatusText(int(n)) != ""
	}
	for code := int64(400); code < 600; code++ {
		if phrase := http.StatusText(int(code)); phrase != "" && strings.EqualFold(strings.TrimSpace(text), phrase) {
			return code, true
		}
	}
	return 0, false
}

func containsAny(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// mostError is how much of a tool's error text is kept.
const mostError = 200

// errorLine is the line of an error text that says most: of a traceback the last.
func errorLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	line := strings.TrimSpace(lines[0])
	if strings.HasPrefix(line, "Traceback") {
		line = strings.TrimSpace(lines[len(lines)-1])
	}
	line = openai.HideCredentials(record.Scrub(line, nil)) // before a cut takes from a secret what it is known by
	if len(line) > mostError {
		line = strings.ToValidUTF8(line[:mostError], "")
	}
	return line
}
