package report

import "time"

// Schema is the version of summary.json; a change that could break a reader
// raises its number.
const Schema = "tokamak.summary/1"

// Summary is summary.json.
type Summary struct {
	Schema   string            `json:"schema"`
	Run      Run               `json:"run"`
	Requests Requests          `json:"requests"`
	Metrics  map[string]Metric `json:"metrics"` // all due requests
	Steady   *Steady           `json:"steady"`  // nil where no steady window was found
	SLO      []SLO             `json:"slo"`
	Client   Client            `json:"client"`
	Verdict  Verdict           `json:"verdict"`
}

// Run says what ran.
type Run struct {
	Name     string            `json:"name"`
	ID       string            `json:"id"`
	Dir      string            `json:"dir,omitempty"` // empty where nothing was written
	Version  string            `json:"version"`       // of tokamak
	Targets  []string          `json:"targets"`       // base URLs, redacted
	API      string            `json:"api"`
	Model    string            `json:"model"`
	Load     string            `json:"load"`     // in words: open loop, 8 requests/s poisson, 20s
	Workload string            `json:"workload"` // in words: input 256, output 128 tokens
	Seed     uint64            `json:"seed"`
	Start    time.Time         `json:"start"`
	Duration Number            `json:"duration_ms"` // from the first due to the end of the drain
	Virtual  bool              `json:"virtual"`
	Ended    string            `json:"ended"`             // done, interrupted, aborted, recovered
	Reason   string            `json:"reason,omitempty"`  // why it was aborted
	Adapted  []string          `json:"adapted,omitempty"` // fields that the server refused: "ignore_eos dropped"
	Notices  []string          `json:"notices,omitempty"` // sentences the reader must see
	Tags     map[string]string `json:"tags,omitempty"`
	// Stamps says how chunks were stamped, shares of the chunks by source:
	// kernel, user, virtual.
	Stamps map[string]float64 `json:"stamps,omitempty"`
}

// Requests counts requests, not attempts.
type Requests struct {
	Due       int64            `json:"due"`
	Sent      int64            `json:"sent"`
	OK        int64            `json:"ok"`
	Failed    int64            `json:"failed"`
	Cut       int64            `json:"cut"`
	Unsent    int64            `json:"unsent"`
	ByOutcome map[string]int64 `json:"by_outcome"`
	// ByClass counts failures by error class: timeout_first_token, http_500.
	ByClass  map[string]int64 `json:"by_error_class,omitempty"`
	Attempts int64            `json:"attempts"`
}

// Metric is a distribution (Count, Mean and the rest) or a single value
// (Value): what doesn't apply or is missing is null.
type Metric struct {
	Unit  string  `json:"unit"` // ms, tokens, requests/s, …; empty: none
	Count *int64  `json:"count,omitempty"`
	Mean  *Number `json:"mean,omitempty"`
	SD    *Number `json:"sd,omitempty"`
	P50   *Number `json:"p50,omitempty"`
	P90   *Number `json:"p90,omitempty"`
	P95   *Number `json:"p95,omitempty"`
	P99   *Number `json:"p99,omitempty"`
	P999  *Number `json:"p999,omitempty"`
	Max   *Number `json:"max,omitempty"`
	Value *Number `json:"value,omitempty"`
}

// Steady is the block of the steady window.
type Steady struct {
	From     Number            `json:"from_ms"`
	To       Number            `json:"to_ms"`
	Rule     string            `json:"rule"`
	Requests Requests          `json:"requests"`
	Metrics  map[string]Metric `json:"metrics"`
}

// SLO is one objective judged.
type SLO struct {
	Expr     string   `json:"expr"`
	Value    *Number  `json:"value"` // null: unmeasured
	Verdict  string   `json:"verdict"`
	Evidence Evidence `json:"evidence"`
}

// Evidence says what an objective's verdict rests on.
type Evidence struct {
	N          int64   `json:"n"`
	NEffective *Number `json:"n_effective"`
	Over       int64   `json:"over"`
	// Needed is how many more requests, all under the limit, a pass takes;
	// null where none would do.
	Needed *int64 `json:"needed"`
	Reason string `json:"reason,omitempty"`
}

// Client is what the client says about itself.
type Client struct {
	Valid   bool     `json:"valid"`
	Reasons []string `json:"reasons,omitempty"` // why not, and what to change
	// Metrics is the validity of each metric that is not valid: degraded or invalid.
	Metrics map[string]string `json:"metrics,omitempty"`
	LagP99  *Number           `json:"schedule_lag_p99_ms"`
	LagMax  *Number           `json:"schedule_lag_max_ms"`
	CPU     *Number           `json:"cpu_cores"` // own CPU seconds a second
	MaxRSS  *int64            `json:"max_rss_bytes"`
	GCPause *Number           `json:"gc_pause_max_ms"`
}

// Verdict is the run's one answer.
type Verdict struct {
	Verdict string `json:"verdict"` // pass, fail, inconclusive, unmeasured, invalid
	Exit    int    `json:"exit"`
	Reason  string `json:"reason"` // one sentence
}
