package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
)

// NotAlike says that runs are not comparable, and why.
type NotAlike struct {
	Differences []string // one sentence each
}

// Error returns one line for each difference.
func (e *NotAlike) Error() string {
	lines := make([]string, len(e.Differences))
	for i, d := range e.Differences {
		lines[i] = "not comparable: " + d
	}
	return strings.Join(lines, "\n")
}

// mayDiffer are the settings in which comparable runs may differ: whom they
// spoke to and with what right, where results went, and the seed, which is
// looked at by side.
var mayDiffer = []string{"name", "slo", "out", "probe", "target.url", "target.model", "target.header", "target.ca", "target.cert", "target.key", "target.insecure",
	"target.proxy", "target.no-proxy", "target.wait-ready", "target.auth-header", "target.api-key-env", "target.api-key-file",
	"target.auth-command", "target.virtual", "target.api", "target.gpus", "load.seed"}

// mostNamed bounds how many differences are named.
const mostNamed = 20

// differences names in what the runs of some sides differ that makes their
// figures incomparable.
func differences(sides []Side) []string {
	var all []string
	say := func(format string, args ...any) {
		if s := fmt.Sprintf(format, args...); !slices.Contains(all, s) && len(all) < mostNamed {
			all = append(all, s)
		}
	}
	first := &sides[0].Runs[0]
	base := settings(first)
	for i := range sides {
		for j := range sides[i].Runs {
			unlike(first, &sides[i].Runs[j], base, say)
		}
		if i > 0 && !slices.Equal(sides[0].seeds(), sides[i].seeds()) {
			seedsDiffer(&sides[0], &sides[i], say)
		}
	}
	return all
}

func seedsDiffer(a, b *Side, say func(string, ...any)) {
	x, y := slices.Compact(a.seeds()), slices.Compact(b.seeds())
	if slices.Equal(x, y) {
		return // the same requests, on one side more often
	}
	say("seed: %s in %s, %s in %s: other requests", list(x), a.Name, list(y), b.Name)
}

func list(seeds []uint64) string {
	const most = 8
	texts := make([]string, 0, most+1)
	for i, s := range seeds {
		if i == most {
			texts = append(texts, "…")
			break
		}
		texts = append(texts, fmt.Sprint(s))
	}
	return strings.Join(texts, " ")
}

// unlike says in what a run differs from the first.
func unlike(a, b *Run, base map[string]string, say func(string, ...any)) {
	if b.Unfinished != "" {
		say("end: %s was %s", b.Name, b.Unfinished)
	}
	if a == b {
		return
	}
	pair := func(what, x, y string) {
		if x != y {
			say("%s: %s in %s, %s in %s", what, or(x), a.Name, or(y), b.Name)
		}
	}
	pair("time", timeOf(a), timeOf(b))
	pair("dialect", own(a.Dialect), own(b.Dialect))
	pair("window", string(a.Window), string(b.Window))
	pair("API", a.API, b.API)
	pair("model", a.Model, b.Model)
	pair("tokens counted by", a.Manifest.Versions["tokenizer"], b.Manifest.Versions["tokenizer"])
	other := settings(b)
	for _, k := range keysOf(base, other) {
		pair(k, base[k], other[k])
	}
	if a.Manifest.Seed == b.Manifest.Seed {
		lengths(a, b, say)
	}
}

// alikeLengths is by how much mean token counts of the same requests may
// differ.
const alikeLengths = 0.01

// lengths compares what was really sent and answered.
func lengths(a, b *Run, say func(string, ...any)) {
	for _, name := range []string{"input_tokens", "output_tokens"} {
		x, okX := Figure{name, "mean"}.of(a)
		y, okY := Figure{name, "mean"}.of(b)
		if okX && okY && math.Abs(x-y) > alikeLengths*math.Max(x, y) {
			say("lengths: %s %s a request in %s, %s in %s", measure.Digits(x), strings.ReplaceAll(name, "_", " "), a.Name, measure.Digits(y), b.Name)
		}
	}
}

func timeOf(r *Run) string {
	if r.Manifest.Virtual {
		return "virtual"
	}
	return "real"
}

func own(dialect string) string {
	if dialect == "" {
		return "tokamak"
	}
	return dialect
}

func or(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// settings are the leaves of a run's resolved scenario by their path, those
// left out in which comparable runs may differ.
func settings(r *Run) map[string]string {
	out := map[string]string{}
	var root any
	if err := json.Unmarshal(r.Manifest.Scenario, &root); err != nil {
		return out // a run of a version that kept none, or another tool's
	}
	flatten("", root, out)
	return out
}

func flatten(path string, v any, out map[string]string) {
	if slices.Contains(mayDiffer, path) {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			at := k
			if path != "" {
				at = path + "." + k
			}
			flatten(at, x, out)
		}
	case []any:
		for i, x := range v {
			flatten(fmt.Sprintf("%s[%d]", path, i), x, out)
		}
	default:
		out[path] = fmt.Sprint(v)
	}
}
