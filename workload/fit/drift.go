package fit

import (
	"fmt"
	"math"

	"github.com/tokamak-bench/tokamak/stat"
)

// drift compares each part of the log with all that came before it.
func (l *log) drift(parts []part) Drift {
	var d Drift
	var input, output, minutes []float64
	before := int64(0) // requests
	for i, p := range parts {
		rows := make([]int32, 0, p.end-p.first)
		for r := p.first; r < p.end; r++ {
			rows = append(rows, int32(r))
		}
		in, answers, per := values(l.input, rows), values(l.output, rows), l.perMinute(p)
		out := Part{From: p.from, To: p.to, Rows: int64(len(rows)), PerMinute: float64(len(rows)) / (p.to - p.from) * 60}
		out.InputP50, out.InputP90 = quantileOf(in, .5), quantileOf(in, .9)
		out.OutputP50, out.OutputP90 = quantileOf(answers, .5), quantileOf(answers, .9)
		last := i == len(parts)-1
		where := "between " + shortDuration(p.from) + " and " + shortDuration(p.to)
		if last {
			where = "in the last " + ordinal(len(parts))
		}
		if i > 0 {
			var changes []string
			if s := rateChange(minutes, per, float64(before)/p.from*60, out.PerMinute); s != "" {
				changes = append(changes, s)
			}
			ks, yes := differ(input, in)
			out.InputKS = known(ks)
			if yes {
				changes = append(changes, lengthChange("input", input, in))
			}
			ks, yes = differ(output, answers)
			out.OutputKS = known(ks)
			if yes {
				changes = append(changes, lengthChange("output", output, answers))
			}
			for _, c := range changes {
				d.Changes = append(d.Changes, where+", against all before: "+c)
			}
		}
		input, output, minutes = merged(input, in), merged(output, answers), append(minutes, per...)
		before += out.Rows
		d.Parts = append(d.Parts, out)
	}
	d.Found = len(d.Changes) > 0
	return d
}

// perMinute counts the requests in the whole minutes of a part.
func (l *log) perMinute(p part) []float64 {
	n := int((p.to - p.from) / 60)
	out := make([]float64, n)
	for r := p.first; r < p.end; r++ {
		if i := int((float64(l.at[r])/1e9 - p.from) / 60); i < n {
			out[i]++
		}
	}
	return out
}

// rateChange says how the rate of a part, in requests a minute over its whole
// time, differs from that of all before, or "": by more than a tenth, and with a
// t statistic of their whole minutes beyond that of one case in a hundred. A
// rate that wanders is drift, so minutes that hang together are no excuse.
func rateChange(before, now []float64, rateBefore, rateNow float64) string {
	if len(before) < 5 || len(now) < 5 || rateBefore == 0 || math.Abs(rateNow/rateBefore-1) < rateLimit {
		return ""
	}
	m1, s1 := stat.MeanSD(before)
	m2, s2 := stat.MeanSD(now)
	n1, n2 := float64(len(before)), float64(len(now))
	v1, v2 := s1*s1/n1, s2*s2/n2
	if v1+v2 > 0 {
		df := stat.Satterthwaite([]float64{v1, v2}, []float64{n1 - 1, n2 - 1})
		if 2*stat.StudentAbove(df, math.Abs(m2-m1)/math.Sqrt(v1+v2)) > 0.01 {
			return ""
		}
	}
	return fmt.Sprintf("%.0f %% %s requests a minute (%s against %s)", 100*math.Abs(rateNow/rateBefore-1), moreOrFewer(rateNow > rateBefore), perMinute(rateNow), perMinute(rateBefore))
}

// perMinute writes a rate so that a small one is not 0.
func perMinute(x float64) string {
	if x != 0 && math.Abs(x) < 9.95 {
		return fmt.Sprintf("%.2g", x)
	}
	return fmt.Sprintf("%.0f", x)
}

func moreOrFewer(more bool) string {
	if more {
		return "more"
	}
	return "fewer"
}

func lengthChange(what string, before, now []float64) string {
	return fmt.Sprintf("%s p50 %.0f tokens against %.0f, p90 %.0f against %.0f (KS %.2f)", what,
		stat.Quantile(now, .5), stat.Quantile(before, .5), stat.Quantile(now, .9), stat.Quantile(before, .9), stat.KolmogorovSmirnov(before, now))
}

// known is nil for what is not a number.
func known(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

func quantileOf(ascending []float64, p float64) *float64 {
	if len(ascending) == 0 {
		return nil
	}
	q := stat.Quantile(ascending, p)
	return &q
}

func ordinal(n int) string {
	switch n {
	case 2:
		return "half"
	case 3:
		return "third"
	case 4:
		return "quarter"
	}
	return fmt.Sprintf("%dth", n)
}
