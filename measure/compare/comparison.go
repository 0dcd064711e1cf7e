package compare

import (
	"math"

	"github.com/tokamak-bench/tokamak/measure"
)

// Schema is the version of comparison.json.
const Schema = "tokamak.comparison/1"

// Word is the answer for one figure.
type Word string

// The words.
const (
	Same       Word = "same"        // shown to differ by less than the margin
	Better     Word = "better"      // shown to differ, for the better
	Worse      Word = "worse"       // shown to differ, for the worse
	CannotTell Word = "cannot tell" // too little evidence for any of these
)

// Method is how a contrast was worked out.
type Method string

// The methods.
const (
	Pairs  Method = "pairs"  // Student's t on the differences of same-seed pairs
	Runs   Method = "runs"   // Welch's t on runs that are no pairs
	Blocks Method = "blocks" // one run a side: circular block bootstrap over time
)

// Comparison is comparison.json: a baseline and what was held against it.
type Comparison struct {
	Schema string `json:"schema"`
	// Margin and TailMargin (of p99, p99.9 and the maximum) are how far, in %,
	// figures may be apart and count as the same.
	Margin     float64 `json:"margin_pct"`
	TailMargin float64 `json:"tail_margin_pct"`
	// Alpha is the risk of calling any primary figure different that is not.
	Alpha     float64    `json:"alpha"`
	Primary   []string   `json:"primary"`
	Window    Window     `json:"window"`
	Baseline  Party      `json:"baseline"`
	Contrasts []Contrast `json:"contrasts"`
	// Unlike names in what the runs are not alike, where they were compared
	// anyway.
	Unlike []string `json:"unlike,omitempty"`
	// Noise says which noise between runs was counted in; empty: none.
	Noise string `json:"noise,omitempty"`
	// Dir is the directory of the runs, where one holds them all.
	Dir   string   `json:"dir,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// Party is one of those compared.
type Party struct {
	Name    string   `json:"name"`
	Targets []string `json:"targets"`
	Model   string   `json:"model"`
	Runs    []string `json:"runs"`
	Seeds   []uint64 `json:"seeds"`
	Due     int      `json:"due"` // requests, all runs together
	OK      int      `json:"ok"`
}

// Contrast is one party against the baseline.
type Contrast struct {
	Party   Party     `json:"party"`
	Method  Method    `json:"method"`
	Pairs   int       `json:"pairs"` // same-seed pairs, or runs of the smaller side
	Figures []Figured `json:"figures"`
	// Word sums the primary figures up: worse if any is, else better if any
	// is, else same if all are.
	Word   Word   `json:"word"`
	Reason string `json:"reason"`
}

// Figured is what is known of one figure's difference: other against baseline.
type Figured struct {
	Figure  string `json:"figure"`
	Unit    string `json:"unit"`
	Primary bool   `json:"primary"`
	// Baseline and Other are means over the runs, geometric where Relative.
	Baseline measure.Value `json:"baseline"`
	Other    measure.Value `json:"other"`
	// Relative says that the change is in % of the baseline, else it is in Unit
	// (percentage points for shares).
	Relative bool          `json:"relative"`
	Change   measure.Value `json:"change"`
	Low      measure.Value `json:"low"`  // 95 % interval of Change
	High     measure.Value `json:"high"` // its other end
	// Effect is the difference over its spread: of one pair, or of one run.
	Effect measure.Value `json:"effect"`
	// P is of "no difference", by itself; Adjusted within its family (Holm).
	P        measure.Value `json:"p"`
	Adjusted measure.Value `json:"p_adjusted"`
	// PSame is of "they differ by at least the margin": two one-sided tests.
	PSame  measure.Value `json:"p_same"`
	Margin measure.Value `json:"margin"` // as Change
	// Detectable is the smallest change found nine times of ten by a
	// comparison like this one; as Change.
	Detectable measure.Value `json:"detectable"`
	// NeededPairs is how many pairs find a change of the margin's size nine times
	// of ten; NeededRequests the same by the length of one run a side; null: unknown,
	// or no number would do.
	NeededPairs    *int   `json:"needed_pairs"`
	NeededRequests *int   `json:"needed_requests"`
	Word           Word   `json:"word"`
	Reason         string `json:"reason,omitempty"`
	// Invalid says that the client, not the target, made the figure.
	Invalid bool `json:"invalid,omitempty"`

	figure             Figure
	relative, absolute *estimate
}

// Find returns what is known of a figure.
func (c *Contrast) Find(f Figure) *Figured {
	for i := range c.Figures {
		if c.Figures[i].figure == f {
			return &c.Figures[i]
		}
	}
	return nil
}

// Test returns the p-values of "the change is at most x", small where it is
// more, and of "it is at least x", small where it is less. x is in % of the
// baseline if relative, else in the figure's unit. ok is false where nothing
// can be said.
func (d *Figured) Test(x float64, relative bool) (more, less float64, ok bool) {
	e := d.absolute
	if relative {
		e = d.relative
		x = logRatio(x)
	}
	if e == nil {
		return 0, 0, false
	}
	return e.above(x), e.below(x), true
}

// Interval returns the change and its two-sided interval, in % or in the
// figure's unit.
func (d *Figured) Interval(confidence float64, relative bool) (change, low, high float64, ok bool) {
	e, s := d.absolute, scale{relative}
	if relative {
		e = d.relative
	}
	if e == nil {
		return 0, 0, 0, false
	}
	low, high = e.interval(confidence)
	return s.change(e.mean), s.change(low), s.change(high), true
}

// PairsFor returns about how many pairs tell on which side of x the change
// lies, at one-sided level alpha, if it is what was seen; 0: not known, or
// too many.
func (d *Figured) PairsFor(x float64, relative bool, alpha float64) int {
	e := d.absolute
	if relative {
		e, x = d.relative, logRatio(x)
	}
	if e == nil || e.sd == 0 || d.NeededPairs == nil {
		return 0
	}
	return needed(e.sd, math.Abs(e.mean-x), 2*alpha)
}
