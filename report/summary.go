package report

import (
	"time"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/verify"
)

// Schema is the version of summary.json; a change that could break a reader
// raises its number.
const Schema = "tokamak.summary/1"

// Summary is summary.json.
type Summary struct {
	Schema   string                    `json:"schema"`
	Run      Run                       `json:"run"`
	Requests Requests                  `json:"requests"`
	Metrics  map[string]measure.Metric `json:"metrics"` // all due requests
	Steady   measure.Steady            `json:"steady"`
	Evidence measure.Evidence          `json:"evidence"` // how far Metrics can be trusted
	Cache    measure.Cache             `json:"cache"`
	SLO      []verify.SLO              `json:"slo"`
	Client   Client                    `json:"client"`
	Verdict  Verdict                   `json:"verdict"`
}

// Run says what ran.
type Run struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Dir      string            `json:"dir,omitempty"` // empty where nothing was written
	Version  string            `json:"version"`       // of tokamak
	Targets  []string          `json:"targets"`       // base URLs, redacted
	API      string            `json:"api"`
	Model    string            `json:"model"`
	Load     string            `json:"load"`     // in words: open loop, 8 requests/s poisson, 20s
	Workload string            `json:"workload"` // in words: 256 tokens in, 128 out
	Seed     uint64            `json:"seed"`
	Start    time.Time         `json:"start"`
	Duration measure.Value     `json:"duration_ms"` // from the first due to the end of the drain
	Virtual  bool              `json:"virtual"`
	Ended    Ended             `json:"ended"`
	Reason   string            `json:"reason,omitempty"`  // why it was aborted
	Adapted  []string          `json:"adapted,omitempty"` // "ignore_eos dropped", one a field the server refused
	Notices  []string          `json:"notices,omitempty"` // sentences the reader must see
	Tags     map[string]string `json:"tags,omitempty"`
	// Stamps are the shares of chunks by where their stamps are from: kernel,
	// user, virtual.
	Stamps map[string]float64 `json:"stamps,omitempty"`
	// Users is how a closed loop answered to latency; nil where it does not.
	Users *Users `json:"users,omitempty"`
	// Timeouts are the deadlines in force, in ms, by the error class that
	// names the one that struck.
	Timeouts map[string]float64 `json:"timeouts_ms,omitempty"`
}

// Users is how many users a loop that answers to latency allowed to be under
// way, over the load.
type Users struct {
	Rule  string        `json:"rule"`
	Of    int64         `json:"of"` // users of the last stage
	Least int64         `json:"allowed_least"`
	Mean  measure.Value `json:"allowed_mean"` // over time
	Last  int64         `json:"allowed_last"`
	// AtFloor is the share of the time at the rule's floor.
	AtFloor measure.Value `json:"floor_share"`
}

// Ended says how a run came to its end.
type Ended string

// The ends of a run.
const (
	Done        Ended = "done"
	Interrupted Ended = "interrupted" // by the user
	Aborted     Ended = "aborted"     // by a rule of the scenario; Reason says which
	Recovered   Ended = "recovered"   // killed, and finished by recover
)

// Requests counts requests, and every sending of one.
type Requests struct {
	measure.Requests
	Attempts measure.Attempts `json:"attempts"`
}

// Client is what the client says about itself.
type Client struct {
	// Verdict is the worst of the metrics': valid, degraded or invalid.
	Verdict  measure.Trust               `json:"verdict"`
	Validity map[string]measure.Validity `json:"validity"`
	// Advice says what to change where something is not valid.
	Advice  []string      `json:"advice,omitempty"`
	LagP99  measure.Value `json:"schedule_lag_p99_ms"`
	LagMax  measure.Value `json:"schedule_lag_max_ms"`
	CPU     measure.Value `json:"cpu_cores"` // own CPU seconds a second
	MaxRSS  measure.Value `json:"max_rss_bytes"`
	GCPause measure.Value `json:"gc_pause_max_ms"`
}

// Verdict is the run's one answer.
type Verdict struct {
	Verdict verify.Verdict `json:"verdict"`
	Exit    int            `json:"exit"`
	Reason  string         `json:"reason"` // one sentence
}
