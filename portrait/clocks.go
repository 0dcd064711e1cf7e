package portrait

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// coarseShare is the share of rows at the moment of the row before from which
// on a clock is coarse.
const coarseShare = 0.5

// clocks finds out how fine the moments of a log are, for each format in it: a
// log may be written by several programs.
type clocks struct{ of []clock }

// clock is that of the rows of a format.
type clock struct {
	format     string
	rows, same int64 // same: at the moment of the row before of the format
	last       int64
}

// add counts a row that has a moment.
func (c *clocks) add(r *trace.Row) {
	i := slices.IndexFunc(c.of, func(k clock) bool { return k.format == r.Format })
	if i < 0 {
		c.of = append(c.of, clock{format: r.Format, rows: 1, last: r.At})
		return
	}
	k := &c.of[i]
	k.rows++
	if r.At == k.last {
		k.same++
	}
	k.last = r.At
}

// coarse tells whether a clock hides the gaps.
func (k *clock) coarse() bool { return float64(k.same) > coarseShare*float64(k.rows-1) }

// words says what the clocks do to the figures of gaps, of which such a share
// is 0: "" where it is nothing.
func (c *clocks) words(same float64) string {
	const less = "the CV and the dispersion at short windows say more about that than about the traffic"
	var coarse, fine []string
	for i := range c.of {
		k := &c.of[i]
		name := "the " + rowsOf(k.rows) + " read as " + k.format
		if k.coarse() {
			coarse = append(coarse, name)
		} else {
			fine = append(fine, name)
		}
	}
	share := measure.Percent(100*same) + " of the requests bear the same moment as the one before"
	switch {
	case len(coarse) > 0 && len(fine) > 0:
		return fmt.Sprintf("The clock of %s is coarse, or they come in batches; that of %s is not. %s, and the CV and the dispersion at short windows say less about the traffic for it.",
			strings.Join(coarse, " and "), strings.Join(fine, " and "), share)
	case len(coarse) > 0 && same > coarseShare:
		return share + ": the log's clock is coarse, requests come in batches, or it holds them twice; " + less + "."
	case same > coarseShare:
		return share + ", though no clock in the log is coarse: either it holds requests twice, or they come together."
	}
	return ""
}
