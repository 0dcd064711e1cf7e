package accuracy

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Split is a pool's score on rows that were not fitted, under another draw of
// the folds than the one that the fits are kept of.
type Split struct {
	GPU, Engine, Family string
	Seed                uint64
	Score
}

// Splits fits the folds of other draws; seed 1 draws the folds that are kept.
// A draw takes ten seconds of one core.
func Splits(rows []Row, seeds ...uint64) ([]Split, error) {
	d, err := newData(rows, rows)
	if err != nil {
		return nil, err
	}
	var out []Split
	for _, seed := range seeds {
		d.folds = folds(rows, seed)
		plans := slices.DeleteFunc(d.plans(), func(f Fitted) bool { return f.Kind != fold })
		errs := make([]deviations, len(plans))
		parallel(len(plans), func(i int) {
			f := &plans[i]
			d.fit(f, d.of[f.Set], func(i int) bool { return !d.held(f, i) })
			errs[i] = d.errorsOf(f, d.of[f.Set], func(i int) bool { return d.held(f, i) })
		})
		pools := map[Split]deviations{}
		for i, f := range plans {
			p := Split{GPU: f.GPU, Engine: f.Engine, Family: f.Set.Family(), Seed: seed}
			e := pools[p]
			e.join(errs[i])
			pools[p] = e
		}
		for p, e := range pools {
			slices.Sort(e.tpot) // the order must not reach the sum
			p.Score = e.score()
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b Split) int { return strings.Compare(a.order(), b.order()) })
	return out, nil
}

func (s *Split) order() string {
	return fmt.Sprintf("%s %s %s %d", s.Engine, s.GPU, s.Family, s.Seed)
}

// WriteSplits writes splits as CSV.
func WriteSplits(w io.Writer, list []Split) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"gpu", "engine", "family", "seed", "rows", "tpot_mape", "tpot_median", "ttft_median"}); err != nil {
		return err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
	for _, s := range list {
		if err := out.Write([]string{s.GPU, s.Engine, s.Family, strconv.FormatUint(s.Seed, 10), strconv.Itoa(s.Rows), number(s.MAPE), number(s.Median), number(s.TTFT)}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// ReadSplits reads what WriteSplits wrote.
func ReadSplits(r io.Reader) ([]Split, error) {
	t, err := newTable(r)
	if err != nil {
		return nil, err
	}
	var list []Split
	for t.next() {
		list = append(list, Split{GPU: t.text("gpu"), Engine: t.text("engine"), Family: t.text("family"), Seed: uint64(t.integer("seed")),
			Score: Score{Rows: int(t.integer("rows")), MAPE: t.number("tpot_mape"), Median: t.number("tpot_median"), TTFT: t.number("ttft_median")}})
		if t.err != nil {
			break
		}
	}
	return list, t.err
}

// otherSplits is the table of the worst of the other draws.
func otherSplits(list []Split) Section {
	s := Section{Title: "The same under other draws of the folds: the worst of five",
		Note: "The folds above are one draw of many. Each error here is the largest among five others, so a target that is met does not hang on the draw."}
	worst := map[string]*Split{}
	var order []Result
	for _, x := range list {
		r := Result{Fitted: Fitted{Set: Set{GPU: x.GPU, Engine: x.Engine}, Family: x.Family}}
		w := worst[r.pooled()]
		if w == nil {
			w = &Split{Score: x.Score}
			worst[r.pooled()] = w
			order = append(order, r)
		}
		w.MAPE, w.Median, w.TTFT = max(w.MAPE, x.MAPE), max(w.Median, x.Median), max(w.TTFT, x.TTFT)
	}
	for _, r := range sorted(order) {
		mape, mid := target(&r)
		s.Lines = append(s.Lines, line(r.pooled(), "no", worst[r.pooled()].Score, mape, mid))
	}
	return s
}
