package record

// Int is an integer that may be absent. Its zero value is absent, so that what
// nobody filled in is null and never zero.
type Int struct {
	v  int64
	ok bool
}

// Some returns the present integer v.
func Some(v int64) Int { return Int{v, true} }

// Get returns the value and whether there is one.
func (i Int) Get() (int64, bool) { return i.v, i.ok }

// Or returns the value, or other where there is none.
func (i Int) Or(other int64) int64 {
	if i.ok {
		return i.v
	}
	return other
}

// Valid tells whether there is a value.
func (i Int) Valid() bool { return i.ok }

// Outcome says how an attempt ended.
type Outcome string

// The outcomes; design and documents define each in one line.
const (
	OK             Outcome = "ok"              // whole by its API; may have notes
	Rejected       Outcome = "rejected"        // 429 or 503
	HTTPError      Outcome = "http_error"      // any other status that is not 2xx
	TransportError Outcome = "transport_error" // not one response byte, or an unreadable head
	Timeout        Outcome = "timeout"         // a deadline of ours struck; ErrorClass names it
	StreamError    Outcome = "stream_error"    // the server's own error object inside a 2xx
	StreamBroken   Outcome = "stream_broken"   // framing, encoding, terminator or finish reason wrong or missing
	Abandoned      Outcome = "abandoned"       // given up by its user, who waited no longer
	Cancelled      Outcome = "cancelled"       // cancelled in another tool's record
	Cut            Outcome = "cut"             // ended by us: drain, abort, crash
	Unsent         Outcome = "unsent"          // due but never sent
)

// CrashClass is the ErrorClass of a row with outcome Cut that stands for a
// request whose end was not recorded: the run's process died before it.
const CrashClass = "crash"

// ClientFailureClass is the ErrorClass of an attempt that the client itself
// could not make: no file descriptor, no port.
const ClientFailureClass = "client_failure"

// Source says where a time stamp is from.
type Source string

// The sources of stamps.
const (
	SourceKernel  Source = "kernel"  // SO_TIMESTAMPING software stamp
	SourceUser    Source = "user"    // clock read after the system call
	SourceVirtual Source = "virtual" // virtual time of the simulated engine
)

// Identity says which request of which run an attempt belongs to.
type Identity struct {
	RequestID int64  // number of the request in the run, from 0
	Attempt   int64  // 1 is the first sending
	Class     string // weighted kind of traffic
	Tenant    string
	SessionID string
	Turn      int64  // from 0
	Step      string // step of a pipeline; empty where there is none
	User      Int    // closed loop: which user
	Stage     int64  // stage of the load, from 0
	Target    string
	Worker    string
	ConnID    Int
	Protocol  string // http/1.1, h2, virtual
	TraceID   string
	ServerID  string // the server's own id of the response
	SourceID  string // id in the dataset or log it came from
}

// Moments are nanoseconds since the run's epoch; absent where not reached.
type Moments struct {
	Intended    Int // when it ought to leave
	Dispatched  Int // when the runner handed it to the target
	Held        Int // ns it waited for a slot under the asked cap of requests in flight; absent where it did not
	ConnStart   Int
	ConnReady   Int
	ConnReused  bool
	WriteStart  Int // user clock before the first write
	Sent        Int // last request byte left
	FirstByte   Int // first response byte
	FirstChunk  Int // first event that is no comment
	FirstToken  Int // first content chunk
	FirstAnswer Int // first content chunk that is no reasoning
	LastToken   Int // last content chunk
	UsageAt     Int // last event that holds a usage
	Ended       Int
	SentSource  Source
	StampSource Source
	ClockError  Int // ns by which the realtime offset may be off; absent for user stamps
}

// Chunk flags.
const (
	Coalesced uint8 = 1 << iota // met another chunk in one read: the stamp is that of the last of them
	Unstamped                   // the kernel gave no stamp: user clock
)

// ChunkKind says what a content chunk holds.
type ChunkKind uint8

// The kinds of content chunks.
const (
	TextChunk ChunkKind = iota + 1
	ReasoningChunk
	ToolChunk
	RefusalChunk
)

// Chunks are the content chunks of a response as parallel lists.
// Tokens is nil where nothing tells how many tokens each chunk holds.
type Chunks struct {
	At     []int64 // arrival, ns since the epoch
	Tokens []int32
	Bytes  []int32 // bytes of content
	Kind   []ChunkKind
	Choice []int32
	Flags  []uint8
}

// Len returns the number of chunks.
func (c *Chunks) Len() int { return len(c.At) }

// BlankKind says what an event without content opens or closes.
type BlankKind uint8

// The kinds of blank events.
const (
	RoleBlank  BlankKind = iota + 1 // it has a role
	EmptyBlank                      // its text is there and empty, and it has no role
	BareBlank                       // neither: a finish reason alone
)

// Blanks are the events of a response that name a choice and hold no content,
// as parallel lists. No metric of ours counts them; other tools' do.
type Blanks struct {
	At   []int64
	Kind []BlankKind
}

// Tokens are counts, each absent where its source is.
type Tokens struct {
	PromptAsked    Int
	PromptCounted  Int
	PromptUsage    Int
	PromptShared   Int // prompt tokens whose reuse was possible
	ToolsCounted   Int // of the definitions of tools as JSON text
	CachedUsage    Int
	OutputAsked    Int
	OutputCounted  Int
	OutputUsage    Int
	ReasoningUsage Int
	// ReasoningAsked are those that the workload wants of the answer; only
	// whether there are any can be asked of a server.
	ReasoningAsked Int
	PromptSource   string // what PromptCounted covers, and by whom: content, template, server
	TokenSource    string // where Chunks.Tokens is from: usage_delta, tokenizer, one_each, usage_by_bytes
}

// Media is what a request holds beside text, absent where there is none.
type Media struct {
	Images Int
	Sounds Int
	Videos Int
	Audio  Int // ns of sound, as far as it is known
	Asked  Int // images, sounds and videos that the dataset says there were
	Made   Int // of those sent: made up in place of the dataset's
	Linked Int // of those sent: URLs for the server to fetch
	Tools  Int // definitions of functions
	Bytes  Int // of images, sound and videos as files, without those that are URLs
}

// ServerTimes are durations in ns that the server itself reported.
type ServerTimes struct {
	Queue, Prefill, Decode Int
}

// Result says how the attempt ended.
type Result struct {
	Outcome      Outcome
	HTTPStatus   Int
	ErrorClass   string // short fixed word, e.g. first_token, stale_connection
	ErrorText    string // redacted, at most a line
	FinishReason string
	Violations   []string
	Notes        []string
	RetryAfter   Int      // ns
	RateLimit    []string // x-ratelimit-* fields as name=value
}

// Bytes counts what crossed the connection.
type Bytes struct {
	Request, Response int64
	OutputSHA256      string // hex; empty where there was no output
}

// Attempt is one sending of a request: one row of requests.arrows.
type Attempt struct {
	Identity
	Moments
	Chunks Chunks
	Blanks Blanks
	Tokens
	Media  Media
	Server ServerTimes
	Result
	Bytes
	Output []byte // text of the answer; kept only when asked for
}
