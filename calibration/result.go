package calibration

import (
	"slices"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// Schema is the version of the result's form.
const Schema = "tokamak.calibration/1"

// Result is what a calibration found. Times are milliseconds unless the name
// says otherwise; a figure that could not be had is null.
type Result struct {
	Schema  string    `json:"schema"`
	Machine Machine   `json:"machine"`
	At      time.Time `json:"at"`
	Seconds float64   `json:"seconds"` // that it took
	// Others is how many CPUs the machine's other processes used meanwhile: of
	// an idle machine next to none. Null where the system does not tell.
	Others *float64 `json:"others_cpus"`
	// ScheduleLag is how late requests left.
	ScheduleLag Spread `json:"schedule_lag_ms"`
	// StampNoise is by how much events' stamps were later than the server's own of their sending.
	StampNoise Spread `json:"stamp_noise_ms"`
	// ReadDelay is from the kernel's stamp to the read: upper edges of buckets that double. Null without kernel stamps.
	ReadDelay *Spread `json:"read_delay_ms"`
	// Costs are by number of streams, ascending.
	Costs []Cost `json:"costs"`
	// Carried is what the saturating trial came to.
	Carried Carried `json:"carried"`
	// StreamBytes is the memory that an open stream takes. Null where the system does not tell.
	StreamBytes *float64 `json:"stream_bytes"`
}

// Spread is the distribution of one quantity.
type Spread struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// spread makes a Spread of nanoseconds, in ms; it sorts them.
func spread(ns []int64) Spread {
	if len(ns) == 0 {
		return Spread{}
	}
	slices.Sort(ns)
	ms := func(q float64) float64 { return float64(stat.Quantile(ns, q)) / 1e6 }
	return Spread{Count: len(ns), P50: ms(0.5), P99: ms(0.99), Max: ms(1)}
}

// Cost is what reading cost at one number of streams.
type Cost struct {
	Streams      int      `json:"streams"`
	EventsPerS   float64  `json:"events_per_s"`     // read while it was measured
	CPUPerEvent  *float64 `json:"cpu_us_per_event"` // of the whole process, user and system; null where the system does not tell
	ByCPU        *float64 `json:"by_cpu_per_s"`     // events/s that all its CPU time would pay for at that cost
	CoalescedPct float64  `json:"coalesced_percent"`
}

// Carried is the outcome of raising the rate until reading no longer keeps up.
type Carried struct {
	Streams    int     `json:"streams"`
	EventsPerS float64 `json:"events_per_s"` // the most that was read in time; 0: not even the lowest
	// Refused is the lowest rate at which it was not; 0: none, the trial ended first.
	Refused float64 `json:"refused_events_per_s"`
	// Limit is who gave up there: the client, or the server, which shares the machine.
	Limit string `json:"limit,omitempty"`
}

// WarnShare is the share of the carried events/s above which a plan is warned of.
const WarnShare = 0.6

// Plan is what a run is about to ask of the client.
type Plan struct {
	EventsPerS float64 // at its peak
	// Assumed says what EventsPerS takes for granted; empty: nothing.
	Assumed string
}

// othersMost is how many CPUs others may use before the figures are those of a
// busy machine.
const othersMost = 0.25

// bigPlan is from how many events/s on a plan is worth a calibration: a
// tenth of what two slow CPUs carry.
const bigPlan = 10_000
