package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/stat"
)

// NoiseSchema is the version of a noise file.
const NoiseSchema = "tokamak.noise/1"

// Noise is how much the figures of repeated runs of the same thing differ
// between runs: the noise floor under every comparison of single runs.
type Noise struct {
	Schema string `json:"schema"`
	Runs   int    `json:"runs"`
	// Seeds is how many different seeds they had. With one, the same requests
	// were sent each time and the noise is the target's alone.
	Seeds   int      `json:"seeds"`
	Names   []string `json:"names"`
	Targets []string `json:"targets"`
	Model   string   `json:"model"`
	Window  Window   `json:"window"`
	// Unlike names in what the runs are not the same thing, where they were
	// measured together anyway.
	Unlike []string `json:"unlike,omitempty"`
	// Settings are those that the noise belongs to, by their path.
	Settings map[string]string     `json:"settings"`
	Figures  map[string]NoiseLevel `json:"figures"` // by name: ttft.p99
}

// NoiseLevel is the noise of one figure.
type NoiseLevel struct {
	Unit string `json:"unit"`
	Runs int    `json:"runs"` // that have the figure
	// Mean over the runs, in Unit; geometric where Relative.
	Mean float64 `json:"mean"`
	Low  float64 `json:"min"`
	High float64 `json:"max"`
	// Relative says that SD is of the natural logarithm, else in Unit.
	Relative bool    `json:"relative"`
	SD       float64 `json:"sd"`
	// Floor is how far two single runs may be apart by noise alone, 95 % of the
	// time: in %, or in Unit where not Relative.
	Floor float64 `json:"floor"`
}

// leastNoise is how many runs a noise floor takes.
const leastNoise = 3

// MeasureNoise works the noise out from repeated runs of the same thing. Runs
// that are not alike are a [*NotAlike], unless anyway.
func MeasureNoise(s Side, anyway bool) (*Noise, error) {
	if len(s.Runs) < leastNoise {
		return nil, fmt.Errorf("a noise floor takes at least %d runs of the same thing, got %d", leastNoise, len(s.Runs))
	}
	unlike := append(otherTargets(&s), differences([]Side{s})...)
	if len(unlike) > 0 && !anyway {
		return nil, &NotAlike{unlike}
	}
	first := &s.Runs[0]
	n := &Noise{Schema: NoiseSchema, Runs: len(s.Runs), Seeds: distinct(s.seeds()), Model: first.Model, Window: first.Window, Unlike: unlike,
		Settings: settings(first), Figures: map[string]NoiseLevel{}}
	for i := range s.Runs {
		n.Names = append(n.Names, s.Runs[i].Name)
		for _, t := range targetsOf(&s.Runs[i]) {
			if !slices.Contains(n.Targets, t) {
				n.Targets = append(n.Targets, t)
			}
		}
	}
	o := Options{Primary: DefaultPrimary()}
	all, _ := o.figures()
	for _, f := range all {
		if level, ok := noiseOf(&s, f); ok {
			n.Figures[f.String()] = level
		}
	}
	return n, nil
}

// otherTargets says which runs did not speak to the first one's target: what
// differs between targets is no noise.
func otherTargets(s *Side) []string {
	var all []string
	first := &s.Runs[0]
	a := strings.Join(targetsOf(first), " ")
	for i := range s.Runs {
		r := &s.Runs[i]
		if b := strings.Join(targetsOf(r), " "); a != b && len(all) < mostNamed {
			all = append(all, fmt.Sprintf("target: %s in %s, %s in %s", or(a), first.Name, or(b), r.Name))
		}
	}
	return all
}

func targetsOf(r *Run) []string {
	var names []string
	for _, t := range r.Manifest.Targets {
		names = append(names, t.Name)
	}
	return names
}

// distinct counts the different values of an ascending list.
func distinct(seeds []uint64) int {
	n := 0
	for i, s := range seeds {
		if i == 0 || s != seeds[i-1] {
			n++
		}
	}
	return n
}

func noiseOf(s *Side, f Figure) (NoiseLevel, bool) {
	var values []float64
	for i := range s.Runs {
		// What the client made is no noise of the target's.
		if x, ok := f.of(&s.Runs[i]); ok && f.trust(s.Runs[i].Validity[f.Metric]) != measure.Invalid {
			values = append(values, x)
		}
	}
	if len(values) < leastNoise || !finite(values) {
		return NoiseLevel{}, false
	}
	sc := scaleOf(f, s.unit(f), values)
	mean, sd, n := moments(values, sc.to)
	level := NoiseLevel{Unit: s.unit(f), Runs: len(values), Mean: sc.from(mean), Relative: sc.relative, SD: sd, Low: math.Inf(1), High: math.Inf(-1)}
	for _, x := range values {
		level.Low, level.High = min(level.Low, x), max(level.High, x)
	}
	reach := stat.StudentQuantile(n-1, 0.975) * math.Sqrt2 * sd
	level.Floor = sc.change(reach)
	return level, true
}

// ReadNoise reads a noise file of a name.
func ReadNoise(name string, b []byte) (*Noise, error) {
	var n Noise
	if err := record.Decode(name, b, &n); err != nil {
		return nil, fmt.Errorf("%w (a noise file, as --noise-floor writes it)", err)
	}
	if n.Schema != NoiseSchema {
		return nil, fmt.Errorf("%s: expected a noise file of the schema %s, got %q", name, NoiseSchema, n.Schema)
	}
	for figure, l := range n.Figures {
		if l.Runs < 2 || !(l.SD >= 0) || math.IsInf(l.SD, 0) {
			return nil, fmt.Errorf("%s: noise of %s: expected at least 2 runs and a spread of 0 or more", name, figure)
		}
	}
	if len(n.Figures) == 0 {
		return nil, fmt.Errorf("%s: expected a noise file with figures, got none", name)
	}
	return &n, nil
}

// foreign says in what the noise belongs to something else than a run.
func (n *Noise) foreign(r *Run) []string {
	var all []string
	say := func(what, x, y string) {
		if x != y {
			all = append(all, fmt.Sprintf("%s: %s in the noise file, %s in %s", what, or(x), or(y), r.Name))
		}
	}
	say("noise window", string(n.Window), string(r.Window))
	say("noise model", n.Model, r.Model)
	mine := settings(r)
	for _, k := range keysOf(n.Settings, mine) {
		say("noise "+k, n.Settings[k], mine[k])
	}
	return all
}

// Order returns the names of the figures in the order of a comparison, others
// last.
func (n *Noise) Order() []string {
	var names []string
	for _, f := range reported() {
		if _, ok := n.Figures[f.String()]; ok {
			names = append(names, f.String())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.Figures)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
