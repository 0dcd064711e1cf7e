package accuracy

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"
)

// Text writes the scores for a terminal.
func (h *HeldOut) Text(to io.Writer) error {
	w := &bytes.Buffer{}
	fmt.Fprintf(w, "%s, predicted by %s\n\n", h.File, h.Fit)
	if len(h.Groups) > 0 {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(t, "engine\tGPU\tfamily\tdiffers from the fit by\trows\tTPOT error\tmedian\tbias\tTTFT\ttokens/s\ttarget\tholds")
		for i := range h.Groups {
			g := &h.Groups[i]
			want, holds := "", ""
			if g.TargetMAPE != nil {
				want, holds = fmt.Sprintf("%.0f %%", *g.TargetMAPE), met(*g.Holds)
			}
			if g.TargetMid != nil {
				want += fmt.Sprintf(", median %.0f %%", *g.TargetMid)
			}
			_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", g.Engine, g.GPU, g.Family, g.Differs, g.Rows, percent(g.MAPE), percent(g.Median),
				signed(g.Bias), maybe(g.TTFT), maybe(g.Throughput), want, holds)
		}
		if err := t.Flush(); err != nil {
			return err
		}
		fmt.Fprint(w, "\nTPOT error: mean absolute, in percent of the measured; median of the same; bias: signed mean, above 0 predicted too slow. TTFT, tokens/s: median absolute.\n")
	}
	fmt.Fprintf(w, "\n%s\n", counted(len(h.Apart), "row contradicts itself and is scored apart", "rows contradict themselves and are scored apart"))
	for i := range h.Apart {
		f := &h.Apart[i]
		fmt.Fprintf(w, "  line %d: %s: TPOT %.1f ms, predicted %.1f ms: %s\n", f.Line, f.What, f.TPOT, f.Predicted, f.Why)
	}
	fmt.Fprintf(w, "%s\n", counted(len(h.Left), "row is not predicted", "rows are not predicted"))
	for i := range h.Left {
		fmt.Fprintf(w, "  line %d: %s: %s\n", h.Left[i].Line, h.Left[i].What, h.Left[i].Why)
	}
	_, err := w.WriteTo(to)
	return err
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// maybe is a percentage; – where nothing was measured.
func maybe(v *float64) string {
	if v == nil {
		return "–"
	}
	return percent(*v)
}
