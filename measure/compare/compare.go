package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/stat"
)

// The defaults of a comparison.
const (
	DefaultMargin     = 0.05
	DefaultTailMargin = 0.10
	DefaultAlpha      = 0.05
	errorMargin       = 1.0 // of error_rate, in percentage points
)

// Options say how to compare.
type Options struct {
	Primary []Figure // that decide; nil: [DefaultPrimary]
	Extra   []Figure // to be compared besides, as gates ask for them
	// Margin is the share by which figures may differ and count as the same,
	// TailMargin the same of p99, p99.9 and the maximum; 0: the defaults.
	Margin, TailMargin float64
	// Noise is the noise between runs; nil: not known.
	Noise *Noise
	// Anyway compares what is not alike.
	Anyway bool
}

func (o Options) defaults() Options {
	if o.Primary == nil {
		o.Primary = DefaultPrimary()
	}
	if o.Margin == 0 {
		o.Margin = DefaultMargin
	}
	if o.TailMargin == 0 {
		o.TailMargin = DefaultTailMargin
	}
	return o
}

// Compare holds each further side against the first. Runs that are not
// comparable are a [*NotAlike], unless Anyway.
func Compare(sides []Side, o Options) (*Comparison, error) {
	o = o.defaults()
	if len(sides) < 2 {
		return nil, errors.New("a comparison takes a baseline and at least one other")
	}
	for i := range sides {
		if len(sides[i].Runs) == 0 {
			return nil, fmt.Errorf("%s holds no run", sides[i].Name)
		}
	}
	for _, f := range append(slices.Clone(o.Primary), o.Extra...) {
		if !f.known() {
			return nil, fmt.Errorf("there is no figure %s", f)
		}
	}
	unlike := differences(sides)
	if o.Noise != nil {
		unlike = append(unlike, o.Noise.foreign(&sides[0].Runs[0])...)
	}
	if len(unlike) > 0 && !o.Anyway {
		return nil, &NotAlike{unlike}
	}
	c := &Comparison{Schema: Schema, Margin: 100 * o.Margin, TailMargin: 100 * o.TailMargin, Alpha: DefaultAlpha, Unlike: unlike,
		Window: sides[0].Runs[0].Window, Baseline: party(&sides[0])}
	for _, f := range o.Primary {
		c.Primary = append(c.Primary, f.String())
	}
	if o.Noise != nil {
		c.Noise = fmt.Sprintf("from %d runs", o.Noise.Runs)
	}
	for i := range sides[1:] {
		t, notes, err := o.contrast(&sides[0], &sides[i+1])
		if err != nil {
			return nil, err
		}
		c.Contrasts = append(c.Contrasts, t)
		for _, n := range notes {
			if !slices.Contains(c.Notes, n) {
				c.Notes = append(c.Notes, n)
			}
		}
	}
	if v := versions(sides); len(v) > 1 {
		c.Notes = append(c.Notes, "measured by different versions of tokamak: "+strings.Join(v, ", "))
	}
	o.decide(c)
	return c, nil
}

// versions are those of tokamak that measured the runs, in order of appearance.
func versions(sides []Side) []string {
	var all []string
	for i := range sides {
		for j := range sides[i].Runs {
			if v := or(sides[i].Runs[j].Manifest.Versions["tokamak"]); !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

func party(s *Side) Party {
	p := Party{Name: s.Name, Model: s.Runs[0].Model, Seeds: slices.Compact(s.seeds()), Targets: []string{}}
	for i := range s.Runs {
		r := &s.Runs[i]
		p.Runs = append(p.Runs, r.Name)
		p.Due += r.Requests.Due
		p.OK += r.Requests.OK
		for _, t := range r.Manifest.Targets {
			if !slices.Contains(p.Targets, t.Name) {
				p.Targets = append(p.Targets, t.Name)
			}
		}
	}
	return p
}

// contrast estimates the differences of one side from the baseline. What they
// amount to is decided when all are there.
func (o *Options) contrast(a, b *Side) (Contrast, []string, error) {
	var notes []string
	t := Contrast{Party: party(b)}
	x, y, complete := paired(a, b)
	switch n := len(x.Runs); {
	case n > 1 && (complete || distinct(x.seeds()) > 1):
		t.Method, t.Pairs = Pairs, n
		if !complete {
			notes = append(notes, fmt.Sprintf("%d runs have no partner with the same seed and are left out", len(a.Runs)+len(b.Runs)-2*n))
		}
		a, b = &x, &y
	case len(a.Runs)+len(b.Runs) > 2:
		t.Method, t.Pairs = Runs, min(len(a.Runs), len(b.Runs))
	default:
		t.Method, t.Pairs = Blocks, 1
	}
	all, primary := o.figures()
	var l *pairOfRuns
	if t.Method == Blocks {
		var err error
		if l, err = o.single(a, b); err != nil {
			return t, nil, err
		}
	}
	goodputs := sameObjectives(a, b)
	for _, f := range all {
		if !goodputs && (f.Metric == "goodput" || f.Metric == "goodput_share") {
			continue
		}
		if d, ok := o.figured(f, a, b, t.Method, l); ok || primary[f] {
			d.Primary = primary[f]
			t.Figures = append(t.Figures, d)
		}
	}
	if !goodputs {
		notes = append(notes, "goodput is left out: the runs have different objectives")
	}
	return t, notes, nil
}

// figured works out one figure's difference; ok is false where no run has it.
func (o *Options) figured(f Figure, a, b *Side, m Method, l *pairOfRuns) (d Figured, ok bool) {
	d = Figured{Figure: f.String(), Unit: a.unit(f), Word: CannotTell, figure: f}
	x, missX := a.values(f)
	y, missY := b.values(f)
	both := append(slices.Clone(x), y...)
	if len(both) == 0 {
		d.Reason = "not measured"
		return d, false
	}
	sc := scaleOf(f, d.Unit, both)
	d.Relative = sc.relative
	d.Baseline, d.Other = center(x, sc), center(y, sc)
	switch {
	case missX+missY > 0:
		d.Reason = fmt.Sprintf("missing in %d of %d runs", missX+missY, missX+missY+len(both))
		return d, true
	case !finite(both):
		d.Reason = "infinite where too many requests failed: error_rate tells more"
		return d, true
	}
	for _, s := range []*Side{a, b} {
		if r := s.void(f); r != nil {
			d.Invalid = true
			d.Reason = fmt.Sprintf("the client was the limit in %s: %s", r.Name, r.Validity[f.Metric].Reason)
			return d, true
		}
	}
	o.estimate(&d, x, y, sc, m, l)
	return d, true
}

// estimate fills the difference and its interval.
func (o *Options) estimate(d *Figured, x, y []float64, sc scale, m Method, l *pairOfRuns) {
	work := func(s scale) *estimate {
		var e estimate
		switch m {
		case Pairs:
			e = fromPairs(x, y, s.to)
		case Runs:
			e = fromRuns(x, y, s.to)
		case Blocks:
			return l.estimate(d, x[0], y[0], s)
		}
		if level, ok := o.level(d, s); ok {
			e = e.widened(level.SD, float64(level.Runs-1))
		}
		return &e
	}
	d.Margin = measure.Some(o.margin(d, sc))
	d.absolute = work(scale{})
	e := d.absolute
	if sc.relative { // the last, so that what it says of d stands
		d.relative = work(sc)
		e = d.relative
	}
	if e == nil {
		return
	}
	low, high := e.interval(1 - DefaultAlpha)
	d.Change, d.Low, d.High = measure.Some(sc.change(e.mean)), measure.Some(sc.change(low)), measure.Some(sc.change(high))
	d.P = measure.Some(e.differs())
	if e.sd > 0 {
		spread := e.sd
		if m == Runs {
			spread /= math.Sqrt2 // of one run
		}
		d.Effect = measure.Some(e.mean / spread)
	}
	d.Detectable = measure.Some(sc.change(reach(e.se, e.df, DefaultAlpha)))
	d.PSame = measure.Some(e.within(o.bounds(d, sc)))
	if e.se == 0 && e.mean == 0 {
		d.PSame = measure.Some(0)
	}
	if m != Blocks {
		o.pairsNeeded(d, e, sc)
	}
}

// pairsNeeded says how many pairs find a change of the margin's size.
func (o *Options) pairsNeeded(d *Figured, e *estimate, sc scale) {
	_, size := o.bounds(d, sc)
	if level, ok := o.level(d, sc); ok && level.SD > 0 {
		return // pairs do not make the noise between starts any less
	}
	if n := needed(e.sd, size, DefaultAlpha); n > 0 {
		d.NeededPairs = &n
	}
}

// level is the noise of a figure on a scale, where it is known and asked for.
func (o *Options) level(d *Figured, s scale) (NoiseLevel, bool) {
	if o.Noise == nil {
		return NoiseLevel{}, false
	}
	level, ok := o.Noise.Figures[d.Figure]
	switch {
	case !ok:
	case s.relative == level.Relative:
	case level.Relative: // about its mean the logarithm is a straight line
		level.SD *= d.Baseline.Or(0)
		level.Relative = false
	default:
		ok = false
	}
	return level, ok
}

// margin is how far figures may be apart and count as the same: in %, or in
// the figure's unit.
func (o *Options) margin(d *Figured, sc scale) float64 {
	share := o.Margin
	if d.figure.tail() {
		share = o.TailMargin
	}
	switch {
	case sc.relative:
		return 100 * share
	case d.figure.Metric == "error_rate":
		return errorMargin
	case d.Unit == "%":
		return 100 * share
	}
	return share * math.Abs(d.Baseline.Or(0))
}

// bounds are the margin on the scale: ratios of 1 − m and 1 + m would not be
// the same apart, so that it is ± log(1 + m).
func (o *Options) bounds(d *Figured, sc scale) (low, high float64) {
	m := d.Margin.Or(0)
	if sc.relative {
		m = logRatio(m)
	}
	return -m, m
}

// logRatio is the logarithm of the ratio that a change in % is; of −100 % and
// less it is −∞.
func logRatio(percent float64) float64 {
	if percent <= -100 {
		return math.Inf(-1)
	}
	return math.Log1p(percent / 100)
}

func center(values []float64, s scale) measure.Value {
	if len(values) == 0 {
		return measure.Value{}
	}
	sum := 0.0
	for _, x := range values {
		sum += s.to(x)
	}
	return measure.Some(s.from(sum / float64(len(values))))
}

// decide gives each figure its word, the families of tests taken together:
// the primary figures of all contrasts, and all others.
func (o *Options) decide(c *Comparison) {
	for _, primary := range []bool{true, false} {
		var family []*Figured
		var ps []float64
		for i := range c.Contrasts {
			for j := range c.Contrasts[i].Figures {
				if d := &c.Contrasts[i].Figures[j]; d.Primary == primary {
					family, ps = append(family, d), append(ps, d.P.Or(math.NaN()))
				}
			}
		}
		for i, p := range stat.Holm(ps) {
			family[i].Adjusted = measure.Some(p)
			family[i].decide(len(family))
		}
	}
	for i := range c.Contrasts {
		c.Contrasts[i].sum()
	}
}
