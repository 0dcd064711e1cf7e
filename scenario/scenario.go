package scenario

import (
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/verify"
	"github.com/tokamak-bench/tokamak/workload"
)

// Scenario is a run as resolved: defaults applied, everything typed.
type Scenario struct {
	Name     string
	Target   Target
	Workload Workload
	Load     Load
	SLO      []verify.Objective // where nothing was asked, verify.Default
	Out      Out
	Seed     uint64
	// InconclusiveOK turns exit 5 into 0.
	InconclusiveOK bool
	// Notices are sentences for the user about what was resolved, such as a
	// default load.
	Notices []string
	// File is the scenario file's name as given; empty where flags alone
	// described the run.
	File string

	// places say where each setting was given, by its id, and by its id and
	// the number of its class for those of classes.
	places map[string]Pos
}

// Wrong places an error of what a setting names, which shows only once it is
// opened: at the setting of a class where it has it, else at the workload's.
func (s *Scenario) Wrong(id string, class int, err error) error {
	pos, ok := s.places[classPlace(id, class)]
	if !ok {
		pos = s.places[id]
	}
	return Errors{{pos, err.Error()}}
}

// Given tells whether a setting was given, by its id, such as workload.text.
func (s *Scenario) Given(id string) bool {
	_, ok := s.places[id]
	return ok
}

func classPlace(id string, class int) string { return id + "/" + strconv.Itoa(class) }

// Target says whom to speak to and how.
type Target struct {
	// URLs are the base URLs as given, user info included: at least one, all
	// http or https, or a single sim one. Never print them; see [Redacted].
	URLs []*url.URL
	// Against is the base URL that is held against URLs in a run with two
	// targets; nil: there is one.
	Against *url.URL
	// UnixSocket, where set, is dialled instead of the URL's host.
	UnixSocket string

	API    string // openai-chat, openai-completions
	Model  string // empty: the only one the target has
	Stream bool
	Header []Header
	Auth   Auth
	TLS    TLS
	Proxy  Proxy
	// Connections is how connections are kept.
	Connections Connections
	HTTP2       bool
	Timeouts    Timeouts
	Retries     int
	// RetryOn names the failures that are sent again; see retryWords.
	RetryOn []string
	// Backoff is the pause before a failed request is sent again.
	Backoff   load.Backoff
	WaitReady time.Duration // 0: do not wait
	Virtual   bool          // sim only: virtual time, no sockets
	GPUs      int           // 0: not said
}

// Sim tells whether the target is the built-in simulated engine.
func (t *Target) Sim() bool { return len(t.URLs) == 1 && t.URLs[0].Scheme == "sim" }

// Header is a field to add to each request.
type Header struct {
	Name  string
	Value Secret
	Env   string // name of the environment variable it came from; else empty
}

// TLS names PEM files; empty ones were not given.
type TLS struct {
	CA, Cert, Key string
	Insecure      bool
}

// Connections is how connections are kept.
type Connections struct {
	Fresh   bool // a new one for each request
	MaxIdle int  // at most so many kept idle; 0: no cap
}

// Timeouts are the deadlines of a request; none is zero but FirstByte and
// FirstToken of an answer that isn't streamed, which Total alone bounds.
type Timeouts struct {
	Connect, FirstByte, FirstToken, Stall, Total time.Duration
}

// OutputMode says how an asked answer length is enforced.
type OutputMode string

// The output modes.
const (
	Exact OutputMode = "exact" // ignore_eos and min_tokens where the server takes them
	Cap   OutputMode = "cap"   // max_tokens only
)

// Workload says what is sent.
type Workload struct {
	// Config is complete for workload.New but for what only the run knows:
	// its Salt, its MaxSessions, and the tokenizer of a dataset. A synthetic
	// workload has at least one class.
	Config      workload.Config
	OutputMode  OutputMode
	Temperature *float64 // nil: the server decides
	// Reasoning is the field that switches the model's reasoning; nil: none is sent.
	Reasoning *openai.Switch
	Tokenizer string // builtin, tiktoken:NAME, server, estimate, or a file
	// ChatTemplate is auto, none, or a file.
	ChatTemplate string
	Body         json.RawMessage
}

// Dataset returns the name of the dataset, - for standard input, or "" for a
// synthetic workload.
func (w *Workload) Dataset() string {
	if w.Config.Dataset == nil {
		return ""
	}
	return w.Config.Dataset.Name
}

// LoadKind says what decides the moments.
type LoadKind string

// The kinds of load.
const (
	OpenLoop   LoadKind = "open"    // a rate
	ClosedLoop LoadKind = "closed"  // users
	Staged     LoadKind = "stages"  // levels of either
	OwnTiming  LoadKind = "dataset" // the dataset's own moments
	// ModelTiming is the traffic model's own moments, which the plan's Stream
	// yields.
	ModelTiming LoadKind = "traffic"
)

// Load says when it is sent.
type Load struct {
	Kind LoadKind
	// Plan is complete for load.New but for Schedule where Kind is OwnTiming.
	// There its stages, if any, are what to do where the dataset has no
	// moments: without stages (Speed was asked for) that is an error of
	// configuration. With every other Kind a dataset's moments are not used.
	// Where nothing but the dataset's end bounds the plan, MaxRequests is
	// Unbounded.
	Plan load.Plan
	// Duration and Requests are as asked, without the warm-up; 0: no such
	// bound.
	Duration time.Duration
	Requests int64
	// WarmupTime or WarmupRequests are what the steady window leaves out at
	// its start; 0: that is found.
	WarmupTime     time.Duration
	WarmupRequests int64
	Drain          time.Duration
	// ReadRate is how many tokens of an answer a user reads a second before
	// going on; 0: reading takes no time.
	ReadRate    float64
	MaxInFlight int64 // 0: no cap
	Abort       []AbortRule
	// Pairs is how many pairs of blocks a run with two targets has; 0: there is one.
	Pairs int
	// StopWhenDecided ends the load as soon as every objective on a percentile
	// is decided; there is then at least one, and none of the steady window.
	StopWhenDecided bool
	MaxTotalTokens  int64 // 0: no cap
}

// AbortRule ends a run early: exactly one of its fields besides Text is set.
type AbortRule struct {
	Text      string            // as the user wrote it
	Errors    int64             // so many requests failed
	Gone      bool              // the target refuses connections
	Objective *verify.Objective // holds for what has ended so far
}

// Unbounded is the number of requests of a plan that only its dataset's end
// bounds.
const Unbounded = 1 << 40

// Out says what is kept and where.
type Out struct {
	Dir         string // the run directory; empty: runs/TIME-NAME
	None        bool   // write nothing
	Tags        []Tag
	SaveOutputs bool
}

// Tag is a label of the manifest.
type Tag struct{ Key, Value string }
