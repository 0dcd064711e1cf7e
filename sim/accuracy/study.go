package accuracy

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim/hardware"
	"github.com/tokamak-bench/tokamak/stat"
)

// Folds is the number of parts that rows are held out in.
const Folds = 5

// minRows is the fewest rows that a set needs for a preset of its own.
const minRows = 10

// Kinds of fits: on all rows of a set or a pool, without one fold, without one
// degree of tensor parallelism, without one length regime, without one model.
const (
	all       = "all"
	fold      = "fold"
	withoutTP = "without tp"
	regime    = "without lengths"
	model     = "without model"
)

// Fitted is one fit: on which rows, and what came out. A pool (all models of a
// family on one device and engine) is a Set without model and precision.
type Fitted struct {
	Set
	Family     string
	Kind, Left string // what was left out
	KV         hardware.Precision
	Rows       int
	Efficiency catalog.Efficiency
	Versions   []catalog.Version
}

// at is what was fitted, under a version of the engine.
func (f *Fitted) at(version string) *catalog.Efficiency {
	p := catalog.Preset{Efficiency: f.Efficiency, Versions: f.Versions}
	e, _ := p.At(version)
	return &e
}

func (f *Fitted) key() string {
	return strings.Join([]string{f.Set.String(), f.Family, f.Kind, f.Left}, "|")
}

// data are the rows with what is derived from them.
type data struct {
	rows  []Row
	seen  []bool   // among the rows that the fits were made on
	why   []string // apart
	cases map[hardware.Precision][]*Case
	folds []string // empty: no fit saw the row's configuration
	sets  []Set
	of    map[Set][]int // rows of a set that are not apart
}

// newData prepares rows to be fitted, or to be held against fits on a basis.
// Folds, and which of the basis lies apart, follow from the basis alone: rows
// beside it must not change what counts as fitted.
func newData(rows, basis []Row) (*data, error) {
	d := &data{rows: rows, why: apart(rows), cases: map[hardware.Precision][]*Case{}, of: map[Set][]int{},
		seen: make([]bool, len(rows)), folds: make([]string, len(rows))}
	dealt, why := map[string]string{}, map[string]string{}
	whys := apart(basis)
	for i, f := range folds(basis, 1) {
		dealt[basis[i].unversioned()], why[basis[i].key()] = f, whys[i]
	}
	for i := range rows {
		w, seen := why[rows[i].key()]
		if seen {
			d.why[i] = w
		}
		d.seen[i], d.folds[i] = seen && w == "", dealt[rows[i].unversioned()]
	}
	for _, kv := range []hardware.Precision{hardware.BF16, hardware.FP8} {
		list := make([]*Case, len(rows))
		errs := make([]error, len(rows))
		parallel(len(rows), func(i int) { list[i], errs[i] = NewCase(rows[i], kv) })
		for i, err := range errs {
			if err != nil && kv == hardware.FP8 {
				return nil, fmt.Errorf("%s: %w", rows[i].key(), err)
			}
		}
		d.cases[kv] = list
	}
	for i := range rows {
		s := rows[i].Set()
		if !slices.Contains(d.sets, s) {
			d.sets = append(d.sets, s)
		}
		if d.why[i] == "" {
			d.of[s] = append(d.of[s], i)
		}
	}
	return d, nil
}

// parallel calls f for 0 to n−1 on all processors.
func parallel(n int, f func(int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// folds puts each row into a part, by configuration: within each set and length
// regime configurations are dealt in an order drawn from their names, so that
// every regime that has two is on both sides. The same configuration under two
// versions of an engine is one.
func folds(rows []Row, seed uint64) []string {
	out := make([]string, len(rows))
	groups := map[string][]string{} // configurations of a set and regime
	members := map[string][]int{}
	for i := range rows {
		r := &rows[i]
		g, key := r.Set().String()+" "+r.Regime(), r.unversioned()
		if members[key] == nil {
			groups[g] = append(groups[g], key)
		}
		members[key] = append(members[key], i)
	}
	draw := func(key string) string {
		return fmt.Sprintf("%020d", stat.Random(seed, stat.Stream("fold "+key), 0).Uint64())
	}
	for name, g := range groups {
		slices.SortFunc(g, func(a, b string) int { return strings.Compare(draw(a), draw(b)) })
		first := stat.Random(seed, stat.Stream("first fold "+name), 0).Uint64()
		for n, key := range g {
			for _, i := range members[key] {
				out[i] = fmt.Sprint((uint64(n) + first%Folds) % Folds)
			}
		}
	}
	return out
}

// pick returns the cases of rows for which keep holds.
func (d *data) pick(kv hardware.Precision, of []int, keep func(i int) bool) []*Case {
	var out []*Case
	for _, i := range of {
		if c := d.cases[kv][i]; keep(i) && c != nil {
			out = append(out, c)
		}
	}
	return out
}

// fit fits the rows for which keep holds; the KV cache's precision is the one
// that fits better.
func (d *data) fit(f *Fitted, of []int, keep func(int) bool) {
	start := Start(f.Engine)
	wide := d.pick(hardware.BF16, of, keep)
	narrow := d.pick(hardware.FP8, of, keep)
	f.KV, f.Efficiency = hardware.FP8, Fit(narrow, start)
	cases := narrow
	if len(wide) == len(narrow) { // else some do not even fit into memory at 16 bit
		a := Fit(wide, start)
		if cost(wide, &a) <= cost(narrow, &f.Efficiency)*1.05 {
			f.KV, f.Efficiency, cases = hardware.BF16, a, wide
		}
	}
	f.Rows = len(cases)
	if f.Model != "" {
		f.Versions = paces(cases, &f.Efficiency)
	}
}

// Start is where the fit of an engine begins. TensorRT-LLM's all-reduces start
// the later the more devices there are: with that, a degree of tensor
// parallelism that was left out is predicted better for each of its models.
func Start(engine string) catalog.Efficiency {
	e := catalog.Unfitted()
	e.LinkGrows = engine == "trtllm"
	return e
}

// What it takes to tell versions apart: rows of a version, and the most that it
// may be slower or faster; beyond that something else differs too.
const (
	versionRows = 5
	versionMost = 2.0
)

// paces tells how versions of an engine differ from all of them together: by
// the median of measured over predicted TPOT, drawn to 1 as if three rows more
// had said so. One version alone has nothing to differ from.
func paces(cases []*Case, e *catalog.Efficiency) []catalog.Version {
	logs := map[string][]float64{}
	for _, c := range cases {
		tpot, _ := c.Predict(e)
		logs[c.Version] = append(logs[c.Version], -off(tpot, c.TPOT))
	}
	var out []catalog.Version
	for v, list := range logs {
		n := len(list)
		slices.Sort(list)
		x := list[(n-1)/2] * float64(n) / float64(n+3)
		if v != "" && len(logs) > 1 && n >= versionRows && math.Abs(x) < math.Log(versionMost) {
			out = append(out, catalog.Version{Name: v, Pace: math.Round(math.Exp(x)*1e4) / 1e4, Rows: n})
		}
	}
	slices.SortFunc(out, func(a, b catalog.Version) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// plans lists the fits to be made, without results.
func (d *data) plans() []Fitted {
	var out []Fitted
	pools := map[string]bool{}
	for _, s := range d.sets {
		of := d.of[s]
		if len(of) >= minRows {
			out = append(out, Fitted{Set: s, Kind: all})
			for k := range Folds {
				out = append(out, Fitted{Set: s, Kind: fold, Left: fmt.Sprint(k)})
			}
			for _, tp := range d.values(of, func(r *Row) string { return fmt.Sprint(r.TP) }) {
				out = append(out, Fitted{Set: s, Kind: withoutTP, Left: tp})
			}
			for _, l := range d.values(of, (*Row).Regime) {
				out = append(out, Fitted{Set: s, Kind: regime, Left: l})
			}
		}
		pool := Fitted{Set: Set{GPU: s.GPU, Engine: s.Engine}, Family: s.Family(), Kind: all}
		if pools[pool.key()] || len(of) < minRows {
			continue
		}
		pools[pool.key()] = true
		out = append(out, pool)
		for _, m := range d.values(d.pool(pool), func(r *Row) string { return r.Model }) {
			without := pool
			without.Kind, without.Left = model, m
			out = append(out, without)
		}
	}
	return out
}

// pool returns the rows of a pool.
func (d *data) pool(f Fitted) []int {
	var of []int
	for _, s := range d.sets {
		if s.GPU == f.GPU && s.Engine == f.Engine && s.Family() == f.Family {
			of = append(of, d.of[s]...)
		}
	}
	return of
}

// values returns the distinct values of rows where there are several and each
// leaves enough rows to fit on.
func (d *data) values(of []int, get func(*Row) string) []string {
	count := map[string]int{}
	var list []string
	for _, i := range of {
		v := get(&d.rows[i])
		if count[v] == 0 {
			list = append(list, v)
		}
		count[v]++
	}
	return slices.DeleteFunc(list, func(v string) bool { return len(of)-count[v] < minRows })
}

// held tells whether a row was left out of a fit.
func (d *data) held(f *Fitted, i int) bool {
	r := &d.rows[i]
	switch f.Kind {
	case all:
		return !d.seen[i] && d.folds[i] == ""
	case fold:
		return d.folds[i] == f.Left
	case withoutTP:
		return fmt.Sprint(r.TP) == f.Left
	case regime:
		return r.Regime() == f.Left
	case model:
		return r.Model == f.Left
	}
	return false
}

func (d *data) rowsOf(f *Fitted) []int {
	if f.Model == "" {
		return d.pool(*f)
	}
	return d.of[f.Set]
}

// Refit makes all fits on rows. It takes about half a minute of one core.
func Refit(rows []Row) ([]Fitted, error) { return refits(rows, func(*Fitted) bool { return true }) }

// refits makes the fits that pick takes.
func refits(rows []Row, pick func(*Fitted) bool) ([]Fitted, error) {
	d, err := newData(rows, rows)
	if err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(d.plans(), func(f Fitted) bool { return !pick(&f) })
	parallel(len(out), func(i int) {
		f := &out[i]
		d.fit(f, d.rowsOf(f), func(i int) bool { return !d.held(f, i) })
	})
	return out, nil
}
