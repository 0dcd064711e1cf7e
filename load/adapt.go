package load

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// Adapt is a rule by which a closed loop answers to latency. With every end of
// an attempt the users who may have a session under way are counted anew:
//
//	allowed = min(N, max(Floor, ⌊N · 2^(−max(0, p − Above) / Step)⌋))
//
// N is the stage's number of users, on a ramp its larger end. p is the
// Percentile, nearest rank, of the latencies of the attempts that ended in the
// last Window; what failed counts as infinite, what was given up as the time it
// had taken. A user who is
// not allowed waits without being due, so that the wait is no latency.
type Adapt struct {
	// Metric is the latency: one of [AdaptMetrics].
	Metric     string
	Percentile float64 // a share in (0, 1]
	Step       time.Duration
	Above      time.Duration // latency that halves nothing
	Window     time.Duration
	Floor      int64
}

// AdaptMetrics are the latencies that a loop can answer to: those with one
// value an attempt.
func AdaptMetrics() []string { return []string{"e2e", "ttft", "tpot"} }

// The defaults of what an expression leaves out.
const (
	adaptWindow = 10 * time.Second
	adaptFloor  = 1
)

// ParseAdapt reads METRIC.pNN/STEP with options behind commas:
//
//	e2e.p95/50ms
//	ttft.p90/100ms,above=200ms,window=5s,floor=2
//
// Errors are *stat.SyntaxError and name the column.
func ParseAdapt(s string) (*Adapt, error) {
	p := parser{input: s}
	a := &Adapt{Window: adaptWindow, Floor: adaptFloor}
	head, options, more := strings.Cut(s, ",")
	figure, step, ok := strings.Cut(head, "/")
	if !ok {
		return nil, p.fail(len(figure), "expected METRIC.pNN/STEP such as e2e.p95/50ms, found %q", head)
	}
	metric, rank, ok := strings.Cut(figure, ".p")
	if !slices.Contains(AdaptMetrics(), metric) {
		return nil, p.fail(0, "expected one of %s, found %q", strings.Join(AdaptMetrics(), ", "), metric)
	}
	a.Metric = metric
	const ranks = "a percentile above p0, up to p100, such as p95"
	percent, err := p.number(len(metric)+2, rank, ranks)
	if !ok || err != nil || percent <= 0 || percent > 100 {
		return nil, p.fail(len(metric), "expected %s, found %q", ranks, figure[len(metric):])
	}
	a.Percentile = math.Round(percent*1e9) / 1e11 // 99.9 is 0.999
	if a.Step, err = p.duration(len(figure)+1, step, false); err != nil {
		return nil, err
	}
	if !more {
		return a, nil
	}
	return a, p.adaptOptions(a, len(head)+1, options)
}

func (p parser) adaptOptions(a *Adapt, at int, options string) error {
	return p.options(at, options, map[string]func(at int, text string) error{
		"above":  func(at int, text string) (err error) { a.Above, err = p.duration(at, text, true); return err },
		"window": func(at int, text string) (err error) { a.Window, err = p.duration(at, text, false); return err },
		"floor": func(at int, text string) (err error) {
			if a.Floor, err = strconv.ParseInt(text, 10, 64); err != nil || a.Floor < 1 || a.Floor > maxUsers {
				return p.fail(at, "expected a whole number of users of at least 1, found %q", text)
			}
			return nil
		},
	})
}

// options reads NAME=VALUE,… with each name once at most.
func (p parser) options(at int, s string, known map[string]func(at int, text string) error) error {
	for item := range strings.SplitSeq(s, ",") {
		name, text, _ := strings.Cut(item, "=")
		read, ok := known[name]
		if !ok {
			return p.fail(at, "expected NAME=VALUE with one of the names %s, each once, found %q", strings.Join(sortedKeys(known), ", "), item)
		}
		if err := read(at+len(name)+1, text); err != nil {
			return err
		}
		delete(known, name)
		at += len(item) + 1
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// duration reads a duration; zero only where allowed.
func (p parser) duration(at int, s string, zero bool) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d == 0 && !zero {
		return 0, p.fail(at, "expected a duration above 0 such as 50ms, found %q", s)
	}
	return d, nil
}

// String is the form that ParseAdapt reads.
func (a *Adapt) String() string {
	s := fmt.Sprintf("%s.p%s/%v", a.Metric, strconv.FormatFloat(math.Round(a.Percentile*1e11)/1e9, 'g', -1, 64), a.Step)
	if a.Above > 0 {
		s += fmt.Sprintf(",above=%v", a.Above)
	}
	if a.Window != adaptWindow {
		s += fmt.Sprintf(",window=%v", a.Window)
	}
	if a.Floor != adaptFloor {
		s += fmt.Sprintf(",floor=%d", a.Floor)
	}
	return s
}

func (a *Adapt) check() error {
	switch {
	case !slices.Contains(AdaptMetrics(), a.Metric):
		return fmt.Errorf("adapt: expected one of %s, found %q", strings.Join(AdaptMetrics(), ", "), a.Metric)
	case !(a.Percentile > 0 && a.Percentile <= 1):
		return fmt.Errorf("adapt: expected a percentile as a share above 0 and at most 1, found %v", a.Percentile)
	case a.Step <= 0 || a.Window <= 0 || a.Above < 0 || a.Floor < 1:
		return fmt.Errorf("adapt: expected a step, a window and a floor above 0")
	}
	return nil
}

// Level is how many users a rule allows at a moment.
type Level struct {
	Allowed, Of int64
	// Latency is the percentile, in ns, that made it so; +Inf where too many failed.
	Latency float64
}

// Adaptive is a source whose users answer to latency.
type Adaptive interface {
	Source
	// Observe tells of an attempt that ended at a moment, with its latency in
	// ns: +Inf where it failed. It returns how many users are
	// allowed from then on, and whether that is news.
	Observe(at int64, latency float64) (Level, bool)
}

// adaptation is a rule at work.
type adaptation struct {
	Adapt
	recent recent
	factor float64 // of N
	last   Level
}

func newAdaptation(a *Adapt) *adaptation {
	if a == nil {
		return nil
	}
	return &adaptation{Adapt: *a, factor: 1}
}

// observe takes a latency and returns the percentile of the window.
func (a *adaptation) observe(at int64, latency float64) float64 {
	a.recent.add(at, latency)
	a.recent.forget(at - int64(a.Window))
	p := stat.Quantile(a.recent.ascending, a.Percentile)
	a.factor = halved((p - float64(a.Above)) / float64(a.Step))
	return p
}

// allowed is how many of n users may have a session under way.
func (a *adaptation) allowed(n int64) int64 {
	return min(n, max(a.Floor, int64(float64(n)*a.factor)))
}

// halved is 2^(−x), and 1 for an x below 0, from square roots alone: every
// machine rounds those alike.
func halved(x float64) float64 {
	if !(x > 0) {
		return 1
	}
	whole, part := math.Modf(min(x, 1100))
	f, root := math.Ldexp(1, -int(whole)), 0.5
	for part > 0 {
		root = math.Sqrt(root)
		if part *= 2; part >= 1 {
			f *= root
			part--
		}
	}
	return f
}

// recent is the latencies of a moving window, in order of time and of size.
type recent struct {
	at        []int64
	value     []float64 // of the same places
	ascending []float64
}

func (r *recent) add(at int64, value float64) {
	r.at, r.value = append(r.at, at), append(r.value, value)
	i, _ := slices.BinarySearch(r.ascending, value)
	r.ascending = slices.Insert(r.ascending, i, value)
}

// forget drops what ended at or before a moment.
func (r *recent) forget(until int64) {
	n := 0
	for n < len(r.at)-1 && r.at[n] <= until {
		i, _ := slices.BinarySearch(r.ascending, r.value[n])
		r.ascending = slices.Delete(r.ascending, i, i+1)
		n++
	}
	r.at, r.value = r.at[n:], r.value[n:]
}
