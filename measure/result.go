package measure

import (
	"maps"
	"strings"

	"github.com/tokamak-bench/tokamak/record"
)

// Result is what a run amounts to.
type Result struct {
	Requests Requests          `json:"requests"`
	Attempts Attempts          `json:"attempts"`
	Metrics  map[string]Metric `json:"metrics"`
	// Steady is the block of the steady window; its Reason says why there is none.
	Steady Steady `json:"steady"`
	// Validity has an entry for each metric.
	Validity map[string]Validity `json:"validity"`
	// Evidence says how far the figures of Metrics can be trusted.
	Evidence Evidence `json:"evidence"`
	// Cache holds the server's cached tokens against the workload's intent.
	Cache Cache `json:"cache"`
}

// Requests counts requests, each by its last attempt. Cancelled ones stand in
// ByOutcome alone: due = ok + failed + cut + unsent + cancelled.
type Requests struct {
	Due       int            `json:"due"`
	Sent      int            `json:"sent"` // due, less the unsent
	OK        int            `json:"ok"`
	Failed    int            `json:"failed"`
	Cut       int            `json:"cut"`
	Unsent    int            `json:"unsent"`
	ByOutcome map[string]int `json:"by_outcome"`
}

// Attempts counts every sending of the run. What was never sent stands in
// ByOutcome alone.
type Attempts struct {
	Total        int            `json:"total"`
	ByOutcome    map[string]int `json:"by_outcome"`
	ByErrorClass map[string]int `json:"by_error_class"`
	// ByNote and ByViolation count attempts by the words that were said of
	// their responses; one attempt may have several.
	ByNote      map[string]int `json:"by_note"`
	ByViolation map[string]int `json:"by_violation"`
	// Examples has the first error text of each error class that has any.
	Examples map[string]string `json:"examples"`
}

// words counts what was said of attempts.
type words struct {
	classes, notes, violations map[string]int
	examples                   map[string]string
}

func newWords() words {
	return words{map[string]int{}, map[string]int{}, map[string]int{}, map[string]string{}}
}

func (w *words) add(t *record.Attempt) {
	for _, n := range t.Notes {
		w.notes[n]++
	}
	for _, v := range t.Violations {
		w.violations[v]++
	}
	if t.ErrorClass == "" || t.Outcome == record.OK {
		return
	}
	w.classes[t.ErrorClass]++
	if t.ErrorText != "" && w.examples[t.ErrorClass] == "" {
		w.examples[t.ErrorClass] = strings.Clone(t.ErrorText)
	}
}

// Attempts returns the counts of attempts.
func (a *Accumulator) Attempts() Attempts {
	t := Attempts{ByOutcome: map[string]int{}, ByErrorClass: maps.Clone(a.words.classes),
		ByNote: maps.Clone(a.words.notes), ByViolation: maps.Clone(a.words.violations), Examples: maps.Clone(a.words.examples)}
	for o, n := range a.attempts {
		t.ByOutcome[string(o)] += n
		if o != record.Unsent {
			t.Total += n
		}
	}
	return t
}

// View is a set of due requests in order of their intended time: all of a
// window.
type View struct {
	a        *Accumulator
	from, to int64
	rows     []*row
	counted  *tally // cached
	failed   *int   // cached
	audit    *client
	scratch  scratch
}

// Window returns the view's window in ns since the run's epoch.
func (v *View) Window() (from, to int64) { return v.from, v.to }

// Requests counts the view's requests.
func (v *View) Requests() Requests {
	n := Requests{Due: len(v.rows), ByOutcome: map[string]int{}}
	for _, r := range v.rows {
		o := v.a.outcomeOf(r)
		n.ByOutcome[string(o)]++
		switch o {
		case record.OK:
			n.OK++
		case record.Cut:
			n.Cut++
		case record.Unsent:
			n.Unsent++
		case record.Cancelled:
		default:
			n.Failed++
		}
	}
	n.Sent = n.Due - n.Unsent
	return n
}

// fate is what an outcome means to a figure.
type fate uint8

const (
	good    fate = iota // a success: has values
	over                // failed or never sent: over every limit
	stopped             // cut by us or cancelled by the workload: unknown
)

func (v *View) fate(r *row) fate { return v.a.fates[r.outcome] }

func fateOf(o record.Outcome) fate {
	switch o {
	case record.OK:
		return good
	case record.Cut, record.Cancelled:
		return stopped
	}
	return over
}
