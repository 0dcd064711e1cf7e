package accuracy

import (
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/catalog"
)

// Score is how far predictions are from measurements, in percent of these.
type Score struct {
	Rows         int
	MAPE, Median float64 // of TPOT
	TTFT         float64 // median, of TTFT
}

// deviations collects the errors of single rows.
type deviations struct{ tpot, ttft []float64 }

func (e *deviations) add(c *Case, with *catalog.Efficiency) {
	tpot, ttft := c.Predict(with)
	e.tpot = append(e.tpot, 100*math.Abs(tpot/c.TPOT-1))
	if c.TTFT > 0 {
		e.ttft = append(e.ttft, 100*math.Abs(ttft/c.TTFT-1))
	}
}

func (e *deviations) join(o deviations) {
	e.tpot, e.ttft = append(e.tpot, o.tpot...), append(e.ttft, o.ttft...)
}

func (e *deviations) score() Score {
	s := Score{Rows: len(e.tpot), Median: median(e.tpot), TTFT: median(e.ttft)}
	for _, v := range e.tpot {
		s.MAPE += v / float64(len(e.tpot))
	}
	return s
}

// median is the nearest-rank one; 0 of nothing.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return v[(len(v)-1)/2]
}

// Result is what is known of one set or pool.
type Result struct {
	Fitted            // on all its rows
	InSample, HeldOut Score
	TP, Lengths       Score // one degree of tensor parallelism, one length regime left out
	Apart             Score // rows that contradict themselves, by the fit on the others
	Sibling           []Sibling
	Models            Score // pools: each model predicted from the others
}

// Sibling is a prediction for one device with what was fitted on another.
type Sibling struct {
	From string
	Score
}

// Study holds all results.
type Study struct {
	Sets    []Result
	Pools   []Result // held out are their sets' rows, each by its set's own folds
	Apart   []ApartRow
	errs    map[Set]deviations
	Unknown []Result // sets too small for a fit of their own: predicted from their pool
}

// ApartRow is a row that contradicts itself or another.
type ApartRow struct {
	Row
	Why       string
	Predicted float64 // TPOT, ms; 0: no fit
}

// NewStudy holds fits on a basis against rows. What counts as fitted follows
// from the basis: a row that is not of it was fitted by none.
func NewStudy(rows, basis []Row, fits []Fitted) (*Study, error) {
	d, err := newData(rows, basis)
	if err != nil {
		return nil, err
	}
	by := map[string]*Fitted{}
	groups := map[string][]*Fitted{} // by set or pool
	for i := range fits {
		f := &fits[i]
		by[f.key()] = f
		g := f.Set.String() + f.Family
		groups[g] = append(groups[g], f)
	}
	st := &Study{errs: map[Set]deviations{}}
	for i := range fits {
		f := &fits[i]
		if f.Kind != all {
			continue
		}
		r := Result{Fitted: *f}
		if f.Model != "" {
			st.set(d, &r, groups[f.Set.String()], by)
			st.Sets = append(st.Sets, r)
		} else {
			r.Models = d.score(groups[f.Set.String()+f.Family], model)
			st.Pools = append(st.Pools, r)
		}
	}
	for i := range st.Pools {
		st.pool(d, &st.Pools[i])
	}
	st.rest(d, by)
	return st, nil
}

// errorsOf are the errors of a fit on the rows of a set that pick takes.
func (d *data) errorsOf(f *Fitted, of []int, pick func(int) bool) (e deviations) {
	for _, c := range d.pick(f.KV, of, pick) {
		e.add(c, f.at(c.Version))
	}
	return e
}

// score is that of all fits of a kind, each on the rows that it did not see.
func (d *data) score(fits []*Fitted, kind string) Score {
	var e deviations
	for _, f := range fits {
		if f.Kind == kind {
			e.join(d.errorsOf(f, d.rowsOf(f), func(i int) bool { return d.held(f, i) }))
		}
	}
	return e.score()
}

func (st *Study) set(d *data, r *Result, fits []*Fitted, by map[string]*Fitted) {
	of := d.of[r.Set]
	in := d.errorsOf(&r.Fitted, of, func(i int) bool { return d.seen[i] })
	r.InSample = in.score()
	var held deviations
	for _, f := range fits {
		if f.Kind == fold || f.Kind == all {
			held.join(d.errorsOf(f, of, func(i int) bool { return d.held(f, i) }))
		}
	}
	st.errs[r.Set] = held
	r.HeldOut = held.score()
	r.TP, r.Lengths = d.score(fits, withoutTP), d.score(fits, regime)
	for _, gpu := range []string{"h100", "h200", "b200"} {
		other := Fitted{Set: r.Set, Kind: all}
		other.GPU = gpu
		if f, ok := by[other.key()]; ok && gpu != r.GPU {
			e := d.errorsOf(f, of, func(int) bool { return true })
			r.Sibling = append(r.Sibling, Sibling{gpu, e.score()})
		}
	}
	var a deviations
	for i := range d.rows {
		if d.why[i] != "" && d.rows[i].Set() == r.Set {
			if c := d.cases[r.KV][i]; c != nil {
				a.add(c, r.at(c.Version))
			}
		}
	}
	r.Apart = a.score()
}

// pool scores a pool's own fit on the rows it saw, and its sets' held-out rows together.
func (st *Study) pool(d *data, r *Result) {
	in := d.errorsOf(&r.Fitted, d.pool(r.Fitted), func(i int) bool { return d.seen[i] })
	r.InSample = in.score()
	var held deviations
	for s, e := range st.errs {
		if s.GPU == r.GPU && s.Engine == r.Engine && s.Family() == r.Family {
			held.join(e)
		}
	}
	slices.Sort(held.tpot) // the order of a map must not reach the sum
	r.HeldOut = held.score()
}

// rest scores what has no fit of its own, and lists the rows apart.
func (st *Study) rest(d *data, by map[string]*Fitted) {
	for _, s := range d.sets {
		own := Fitted{Set: s, Kind: all}
		if of := d.of[s]; len(of) > 0 && by[own.key()] == nil {
			pool := Fitted{Set: Set{GPU: s.GPU, Engine: s.Engine}, Family: s.Family(), Kind: all}
			without := pool
			without.Kind, without.Left = model, s.Model
			r := Result{Fitted: Fitted{Set: s}}
			if f, ok := by[without.key()]; ok {
				e := d.errorsOf(f, of, func(int) bool { return true })
				r.HeldOut = e.score()
			} else if f, ok := by[pool.key()]; ok {
				in := d.errorsOf(f, of, func(i int) bool { return d.seen[i] })
				out := d.errorsOf(f, of, func(i int) bool { return !d.seen[i] })
				r.InSample, r.HeldOut = in.score(), out.score()
			}
			st.Unknown = append(st.Unknown, r)
		}
	}
	for i, why := range d.why {
		if why == "" {
			continue
		}
		a := ApartRow{Row: d.rows[i], Why: why}
		own := Fitted{Set: a.Set(), Kind: all}
		if f, ok := by[own.key()]; ok && d.cases[f.KV][i] != nil {
			a.Predicted, _ = d.cases[f.KV][i].Predict(f.at(a.Version))
		}
		st.Apart = append(st.Apart, a)
	}
}
