package fit

import (
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
)

// part is a stretch of the log by its rows.
type part struct {
	from, to   float64 // s
	first, end int     // rows
}

const (
	// driftParts is how many parts of equal time a log is looked at in.
	driftParts = 3
	// partLength is about how long a part is of a log of many hours, and
	// mostParts how many there are at most.
	partLength = 4 * 3600.0
	mostParts  = 48
	// lengthPart is about how long a part is that may have lengths of its own, in
	// s. Over longer ones long requests come evenly, where in a log they come
	// together and fill an engine's memory; shorter ones have too few to know p90 by.
	lengthPart = 600.0
	// partRows is how many requests a part has at least to have lengths of its own.
	partRows = 500
)

// parts are those that drift is looked for in: whole periods, at least, where
// the rate has a season, which is no drift.
func (l *log) parts(s *Season) []part {
	if n := l.options.Parts; n > 0 {
		return l.cut(n)
	}
	if s != nil && s.Period > partLength {
		return l.cut(min(max(int(l.span/s.Period), 2), mostParts))
	}
	return l.cut(min(max(int(l.span/partLength), driftParts), mostParts))
}

// lengthParts are those that may have lengths of their own.
func (l *log) lengthParts() []part {
	return l.cut(min(max(int(math.Round(l.span/lengthPart)), driftParts, l.options.Parts), mostParts))
}

// cut cuts the log into stretches of equal time.
func (l *log) cut(n int) []part {
	out := make([]part, n)
	row := 0
	for i := range out {
		out[i] = part{from: l.span * float64(i) / float64(n), to: l.span * float64(i+1) / float64(n), first: row}
		for row < len(l.at) && (i == n-1 || float64(l.at[row])/1e9 < out[i].to) {
			row++
		}
		out[i].end = row
	}
	return out
}

const (
	// apartLimit is from which KS distance on two stretches are of different
	// lengths, where chance would not make it.
	apartLimit = 0.05
	// rateLimit is from which relative difference on they are of different
	// rates, where the spread of the minutes would not make it.
	rateLimit = 0.10
)

// differ tells whether two ascending samples are of different distributions.
// Requests come in clusters, so that chance makes more of a difference than it
// would among independent ones: twice the critical distance of one in a hundred.
func differ(a, b []float64) (ks float64, yes bool) {
	if len(a) < 50 || len(b) < 50 {
		return math.NaN(), false
	}
	ks = stat.KolmogorovSmirnov(a, b)
	n, m := float64(len(a)), float64(len(b))
	return ks, ks > max(apartLimit, 2*ksCritical*math.Sqrt((n+m)/(n*m)))
}

// values are the lengths of rows above zero, ascending.
func values(column []int32, rows []int32) []float64 {
	out := make([]float64, 0, len(rows))
	for _, r := range rows {
		if column[r] > 0 {
			out = append(out, float64(column[r]))
		}
	}
	slices.Sort(out)
	return out
}

// stretches are parts whose lengths do not differ put together: each begins
// where those of one of both lengths differ from the stretch before. rows are
// the client's requests by part.
func (l *log) stretches(rows [][]int32, parts []part) (out [][]int32, from []float64) {
	var input, output []float64
	for i, list := range rows {
		in, answers := values(l.input, list), values(l.output, list)
		_, inputDiffers := differ(input, in)
		_, outputDiffers := differ(output, answers)
		begins := len(out) == 0 || (inputDiffers || outputDiffers) && len(list) >= partRows && len(out[len(out)-1]) >= partRows
		if begins {
			out, from = append(out, slices.Clone(list)), append(from, parts[i].from)
			input, output = in, answers
			continue
		}
		last := len(out) - 1
		out[last] = append(out[last], list...)
		input, output = merged(input, in), merged(output, answers)
	}
	return out, from
}

// merged is two ascending lists as one.
func merged(a, b []float64) []float64 {
	out := make([]float64, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] <= b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
