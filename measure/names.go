package measure

import "strings"

// Form says how a metric's values come about, and so what can be asked of it.
type Form uint8

// The forms.
const (
	Distribution Form = iota // one value a request
	Pooled                   // one value a gap between arrivals
	Rate                     // one value a run
)

// Kind describes a metric.
type Kind struct {
	Name string
	Unit string // ms, req/s, tok/s, tok, %
	Form Form
	// Latency tells that a failure counts as +inf: there is a form NAME_adj.
	Latency bool
	// Intended tells that it counts from the intended time, so that the
	// client's lateness is in it.
	Intended bool
	// Every tells that it is of every request sent, not of successes only.
	Every bool
	// Adjusted tells that this is that form.
	Adjusted bool
}

// Adj is what the name of a metric's form with failures as +inf ends in.
const Adj = "_adj"

var pooled = [...]string{"itl", "icl"}

// Kinds returns every metric that Metrics can yield, in the order of the documents.
func Kinds() []Kind {
	var out []Kind
	add := func(k Kind) {
		out = append(out, k)
		if k.Latency {
			k.Name, k.Adjusted = k.Name+Adj, true
			out = append(out, k)
		}
	}
	for _, d := range definitions {
		add(Kind{Name: d.name, Unit: d.unit, Latency: d.basis&latency != 0, Intended: d.basis&fromIntended != 0, Every: d.basis&anyOutcome != 0})
	}
	for _, name := range pooled {
		add(Kind{Name: name, Unit: "ms", Form: Pooled, Latency: true})
	}
	for _, r := range rates {
		add(Kind{Name: r.name, Unit: r.unit, Form: Rate})
		if r.perGPU {
			add(Kind{Name: r.name + perGPU, Unit: r.unit, Form: Rate})
		}
	}
	return out
}

const perGPU = "_per_gpu"

// Find returns the kind of the metric called name.
func Find(name string) (Kind, bool) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// base returns the name without _adj.
func base(name string) string { return strings.TrimSuffix(name, Adj) }
