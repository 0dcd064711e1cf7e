package wire

import (
	"net/url"
	"time"

	"github.com/tokamak-bench/tokamak/wire/http1"
)

// Transport sends requests.
type Transport interface {
	// Start begins an exchange and returns at once. Its sink hears of it
	// until Ended, which is called exactly once for each Start.
	Start(x *Exchange)
	// Cancel ends an exchange early for the given cause; Ended still comes.
	// An exchange that has ended is left alone.
	Cancel(x *Exchange, cause Cause)
	// Close cuts what is under way and frees everything.
	Close()
}

// Framing says how a response body falls into events.
type Framing uint8

// The framings.
const (
	Whole  Framing = iota // the body is one event
	SSE                   // server-sent events, each ended by a blank line
	NDJSON                // one JSON value a line
)

// Request is one HTTP request, complete and ready to send.
type Request struct {
	Method string
	URL    *url.URL
	Header []Field // in order; Host, Content-Length and Connection are the transport's
	Body   []byte
	// Framing is what a 2xx response is expected to use; the response's own
	// Content-Type decides, and anything but 2xx is Whole.
	Framing Framing
	// IsToken tells cheaply whether an event may carry the first token. It is
	// called on the reader until it says yes: it must neither block nor
	// allocate. Nil means every event does.
	IsToken func(event []byte) bool
	Limits  Limits
}

// Field is one header field: Name and Value.
type Field = http1.Field

// Limits are the deadlines of an exchange; zero means none.
type Limits struct {
	Connect    time.Duration // dial and TLS
	FirstByte  time.Duration // last request byte to first response byte
	FirstToken time.Duration // last request byte to first token
	Stall      time.Duration // between two events, after the first token
	Total      time.Duration // start to end
}

// Cause says why an exchange ended.
type Cause uint8

// The causes. What begins with Timeout is a deadline of ours.
const (
	Completed         Cause = iota // the response ended as its framing says
	Refused                        // no connection: refused, unreachable, name not found
	TLSFailed                      // handshake or certificate
	ResetEarly                     // connection ended before the first response byte
	StaleConnection                // the same on a reused connection
	BadHead                        // status line or header fields unreadable, or too long
	ResetLate                      // connection ended within the response
	BadBody                        // chunked coding or content coding broken
	TooLong                        // an event or body over the transport's limit
	BadEncoding                    // a Content-Encoding that was not asked for and cannot be read
	TimeoutConnect                 // Limits.Connect
	TimeoutFirstByte               // Limits.FirstByte
	TimeoutFirstToken              // Limits.FirstToken
	TimeoutStall                   // Limits.Stall
	TimeoutTotal                   // Limits.Total
	Cut                            // Cancel by the run's end
	Cancelled                      // Cancel by the workload
	LocalFailure                   // the client itself: no file descriptor, no port
)

// Event flags.
const (
	Coalesced uint8 = 1 << iota // shares its read with other events, or the next one's first bytes: the stamp is the last one's
	Unstamped                   // the kernel gave no stamp: user clock
)

// Event is one event of a body: Data[Start:End] of its segment, raw, with its
// field names and line ends.
type Event struct {
	Start, End int32
	At         int64 // arrival of its last byte, ns since the run's epoch
	Flags      uint8
}

// Segment is a run of whole events in order. It belongs to the sink until it
// returns from [Sink.Segment].
type Segment struct {
	Data   []byte
	Events []Event
}

// Sink hears what happens to an exchange.
type Sink interface {
	// Segment brings the next events of the body.
	Segment(x *Exchange, s *Segment)
	// Ended is the last call: the exchange's results are complete.
	Ended(x *Exchange)
}

// StampSource says where an exchange's receive stamps are from.
type StampSource uint8

// The stamp sources.
const (
	UserStamps StampSource = iota
	KernelStamps
)

// Exchange is a request and what became of it. The transport fills the fields
// below Sink; they may be read from Ended on.
type Exchange struct {
	Request *Request
	Sink    Sink

	// Moments in ns since the run's epoch; NotReached where not reached.
	ConnStart, ConnReady int64
	WriteStart, Sent     int64
	FirstByte, End       int64
	SentKernel           bool
	Stamps               StampSource
	ClockError           int64 // ns by which kernel stamps may be off; 0 for user stamps
	ConnID               int64
	ConnReused           bool
	Protocol             string
	Status               int // 0 where no head came
	Header               []Field
	ContentFraming       Framing // what the body turned out to be
	Cause                Cause
	Err                  error // detail of Cause; nil when Completed
	BytesOut, BytesIn    int64
	BodyTruncatedAt      int64 // bytes of a Whole body after which the rest was not kept; 0: all kept
}

// NotReached marks a moment that never came.
const NotReached = int64(-1 << 63)

// Reset makes x ready for a Start with the given request.
func (x *Exchange) Reset(r *Request, s Sink) {
	*x = Exchange{Request: r, Sink: s,
		ConnStart: NotReached, ConnReady: NotReached, WriteStart: NotReached,
		Sent: NotReached, FirstByte: NotReached, End: NotReached}
}

// HeaderValue returns the first value of the named response field, ASCII
// case-insensitively.
func (x *Exchange) HeaderValue(name string) string {
	for _, f := range x.Header {
		if equalFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		x, y := a[i], b[i]
		if 'A' <= x && x <= 'Z' {
			x += 'a' - 'A'
		}
		if 'A' <= y && y <= 'Z' {
			y += 'a' - 'A'
		}
		if x != y {
			return false
		}
	}
	return true
}
