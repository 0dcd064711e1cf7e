package accuracy

import (
	"fmt"
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
}

func (f *Fitted) key() string {
	return strings.Join([]string{f.Set.String(), f.Family, f.Kind, f.Left}, "|")
}

// data are the rows with what is derived from them.
type data struct {
	rows  []Row
	why   []string // apart
	cases map[hardware.Precision][]*Case
	folds []string
	sets  []Set
	of    map[Set][]int // rows of a set that are not apart
}

func newData(rows []Row) (*data, error) {
	d := &data{rows: rows, why: apart(rows), cases: map[hardware.Precision][]*Case{}, of: map[Set][]int{}, folds: folds(rows)}
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
func folds(rows []Row) []string {
	out := make([]string, len(rows))
	groups := map[string][]string{} // configurations of a set and regime
	members := map[string][]int{}
	for i := range rows {
		r := rows[i]
		r.Version = ""
		g := r.Set().String() + " " + r.Regime()
		if members[r.key()] == nil {
			groups[g] = append(groups[g], r.key())
		}
		members[r.key()] = append(members[r.key()], i)
	}
	draw := func(key string) string {
		return fmt.Sprintf("%020d", stat.Random(1, stat.Stream("fold "+key), 0).Uint64())
	}
	for name, g := range groups {
		slices.SortFunc(g, func(a, b string) int { return strings.Compare(draw(a), draw(b)) })
		first := stat.Random(1, stat.Stream("first fold "+name), 0).Uint64()
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
func (d *data) fit(of []int, keep func(int) bool) (hardware.Precision, int, catalog.Efficiency) {
	wide := d.pick(hardware.BF16, of, keep)
	narrow := d.pick(hardware.FP8, of, keep)
	b := Fit(narrow, catalog.Unfitted())
	if len(wide) < len(narrow) { // some do not even fit into memory at 16 bit
		return hardware.FP8, len(narrow), b
	}
	a := Fit(wide, catalog.Unfitted())
	if cost(wide, &a) <= cost(narrow, &b)*1.05 {
		return hardware.BF16, len(wide), a
	}
	return hardware.FP8, len(narrow), b
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
func Refit(rows []Row) ([]Fitted, error) {
	d, err := newData(rows)
	if err != nil {
		return nil, err
	}
	out := d.plans()
	parallel(len(out), func(i int) {
		f := &out[i]
		f.KV, f.Rows, f.Efficiency = d.fit(d.rowsOf(f), func(i int) bool { return !d.held(f, i) })
	})
	return out, nil
}
