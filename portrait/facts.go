package portrait

import (
	"time"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/workload/fit"
)

// Schema is what the facts' JSON begins with.
const Schema = "tokamak.portrait/1"

// Facts are the figures of a page by name; docs/metrics.md defines each. What
// the log does not say is null.
type Facts struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Format string `json:"format"`
	// Sampled says that the requests were drawn from a model.
	Sampled bool `json:"sampled"`

	Rows     int64 `json:"rows"`
	Requests int64 `json:"requests"`
	// Failed is null where no row says how it went; FailedOf rows do.
	Failed   *int64   `json:"failed"`
	FailedOf int64    `json:"failed_of"`
	Skipped  int64    `json:"skipped"`
	Ignored  int64    `json:"ignored"`
	Reasons  []string `json:"skipped_first,omitempty"`

	Begin *time.Time    `json:"begin"`
	Span  measure.Value `json:"span_s"`

	// Arrivals are the requests that have a moment; Planned of them are later
	// turns whose moments follow from think times.
	Arrivals int64 `json:"arrivals"`
	Planned  int64 `json:"arrivals_planned"`

	// Pauses are long times without a request, in order.
	Pauses []fit.Pause `json:"pauses"`

	MeanRate     measure.Value `json:"mean_rate"`
	PeakRate     measure.Value `json:"peak_rate"`
	PeakAt       measure.Value `json:"peak_at_s"`
	CV           measure.Value `json:"interarrival_cv"`
	SameMoment   measure.Value `json:"same_moment"`
	Dispersion1  measure.Value `json:"dispersion_1s"`
	Dispersion10 measure.Value `json:"dispersion_10s"`
	Dispersion60 measure.Value `json:"dispersion_60s"`

	Input  Lengths `json:"input_tokens"`
	Output Lengths `json:"output_tokens"`
	// OutputLimits are the most tokens that rows let their answers have, which
	// are no lengths; nil where none says one.
	OutputLimits *fit.Limits `json:"output_limits"`
	// NewInput is of what prompts add to their conversations.
	NewInput Lengths `json:"new_input_tokens"`

	// Each share with the requests that it is of.
	SharedPrefix   measure.Value `json:"shared_prefix"`
	SharedPrefixOf int64         `json:"shared_prefix_of"`
	Cached         measure.Value `json:"cached"`
	Reasoning      measure.Value `json:"reasoning_share"`
	ReasoningOf    int64         `json:"reasoning_of"`

	Sessions     *int64        `json:"sessions"`
	MeanTurns    measure.Value `json:"turns_mean"`
	MaxTurns     measure.Value `json:"turns_max"`
	Tenants      *int64        `json:"tenants"`
	TenantsOf    int64         `json:"tenants_of"`
	BusiestShare measure.Value `json:"tenant_share_max"`

	Notes []string `json:"notes"`

	cut    string // how much of a model's time the sample is of, where not of all
	coarse string // what to say beside a figure of gaps of a coarse clock
}

// Lengths are the order statistics of token counts.
type Lengths struct {
	Count int64         `json:"count"` // how many requests said theirs
	Sum   int64         `json:"sum"`
	Mean  measure.Value `json:"mean"`
	SD    measure.Value `json:"sd"`
	P50   measure.Value `json:"p50"`
	P90   measure.Value `json:"p90"`
	P95   measure.Value `json:"p95"`
	P99   measure.Value `json:"p99"`
	Max   measure.Value `json:"max"`
}
