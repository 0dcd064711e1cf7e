package fit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// fit makes the model and its report of the finished columns.
func (l *log) fit(ctx context.Context) (*traffic.Model, *Report, error) {
	format := strings.Join(l.formats, ", ")
	m := &traffic.Model{Source: traffic.Source{Format: format, Rows: l.rows}, Duration: duration(l.span)}
	r := &Report{Schema: ReportSchema, Format: format, Rows: l.rows, Failed: l.failed, Span: l.span, MadeUp: l.madeUp, Pauses: l.pauses, Stamps: l.stamps,
		Hidden: l.hidden}
	if l.absolute {
		begin := time.Unix(0, l.begin).UTC()
		m.Source.Begin, r.Begin = begin, &begin
	}
	if l.mixed != nil {
		r.Mix = l.mixed.mix
	}
	even := &traffic.Model{Duration: m.Duration}
	parts := l.lengthParts()
	for i, rows := range l.rowsOf() {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if err := l.fitClient(i, rows, parts, m, even, r); err != nil {
			return nil, nil, err
		}
	}
	if len(m.Clients) == 0 {
		return nil, nil, fmt.Errorf("%w that begin a session", ErrFewRows)
	}
	if err := l.compare(m, even, r); err != nil {
		return nil, nil, err
	}
	if err := l.conclude(m, r); err != nil {
		return nil, nil, err
	}
	return m, r, nil
}

// rowsOf lists the rows of each client.
func (l *log) rowsOf() [][]int32 {
	out := make([][]int32, len(l.clients))
	for i, c := range l.clients {
		out[i] = make([]int32, 0, c.rows)
	}
	for r, c := range l.client {
		out[c] = append(out[c], int32(r))
	}
	return out
}

// starts are the rows that begin a session.
func (l *log) starts(rows []int32) []int32 {
	out := make([]int32, 0, len(rows))
	for _, r := range rows {
		if l.flags[r]&(flagLater|flagNoTime) == 0 {
			out = append(out, r)
		}
	}
	return out
}

func (l *log) seconds(rows []int32) []float64 {
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = float64(l.at[r]) / 1e9
	}
	return out
}

// fitClient fits one client into the model and the report, and its lengths of
// the even slices into even.
func (l *log) fitClient(i int, rows []int32, parts []part, m, even *traffic.Model, r *Report) (err error) {
	c := &l.clients[i]
	if len(rows) == 0 { // all its sessions were begun by others
		return nil
	}
	starts := l.starts(rows)
	if len(starts) == 0 {
		l.say("%s only goes on with sessions that others began, and has no part of its own", c.name)
		return nil
	}
	out := ClientReport{Name: c.name, Members: c.members, Rows: c.rows, Share: float64(c.rows) / float64(len(l.at)), Rate: float64(c.rows) / l.span}
	k := traffic.Client{Name: c.name}
	l.fitStarts(i, l.seconds(starts), &k, &out, stat.Key(l.options.Seed, "client", uint64(i)))
	half := k
	half.Rate = l.evenRate(starts)
	out.Limits, k.Limit = l.limits(rows)
	l.fitLengths(&k, &half, &out, starts, rows, parts)
	if k.Sessions, out.Together, err = l.fitSessions(rows, &k, c); err != nil {
		return err
	}
	half.Sessions = k.Sessions
	k.Prefix = l.fitPrefix(starts)
	k.Reasoning, k.Images = l.fitReasoning(rows), l.fitImages(rows)
	out.ErrorShare = l.errorShare(rows)
	k.Errors = round(out.ErrorShare)
	m.Clients = append(m.Clients, k)
	even.Clients = append(even.Clients, half)
	r.Clients = append(r.Clients, out)
	c.place = len(m.Clients)
	return nil
}

// fitStarts fits the arrivals of client i's sessions at moments in s.
func (l *log) fitStarts(i int, at []float64, k *traffic.Client, out *ClientReport, seed uint64) {
	if l.madeUp {
		k.Rate, k.Arrival = newCurve(at, l.span, l.span).traffic(), traffic.Arrival{Process: traffic.Poisson}
		out.Process, out.Why = string(traffic.Poisson), "made up: the log's moments tell nothing of arrivals"
		return
	}
	b := l.burstsOf(i, at)
	fits, chosen, why := fitArrivals(at, l.span, l.stamps.Resolution, l.options, b, seed)
	switch {
	case b != nil && l.mixed != nil:
		out.Bursts = l.mixed.all
	case b != nil:
		out.Bursts = b.levels
	}
	k.Rate, k.Arrival = fits[chosen].curve.traffic(), fits[chosen].process
	for _, f := range fits {
		out.Arrivals = append(out.Arrivals, f.ArrivalCandidate)
	}
	out.Window, out.Process, out.Why = fits[chosen].Window, fits[chosen].Process, why
}

// evenRate is the rate of a client in the even slices alone, in windows of an
// even and an odd one: what is drawn from it has the client's share among the
// others from the even slices, as the lengths.
func (l *log) evenRate(starts []int32) traffic.Curve {
	return newCurve(l.seconds(l.slice(starts, 0)), l.span, 2*l.sliceLength()).traffic()
}

// fitLengths fits the lengths of each stretch of a client's session starts, and
// of the answers of all its rows.
func (l *log) fitLengths(k, even *traffic.Client, out *ClientReport, starts, all []int32, parts []part) {
	byPart := make([][]int32, len(parts))
	p := 0
	for _, r := range starts {
		for p < len(parts)-1 && int(r) >= parts[p].end {
			p++
		}
		byPart[p] = append(byPart[p], r)
	}
	stretches, from := l.stretches(byPart, parts)
	for i, rows := range stretches {
		if i > 0 && len(rows) == 0 {
			continue
		}
		until := math.Inf(1)
		if i+1 < len(from) {
			until = from[i+1]
		}
		turns := l.within(all, from[i], until)
		a, in, answers := l.lengthsOf(rows, turns, 1)
		if answers.Rows == 0 {
			a.Output = stat.Constant(madeUpAnswer(out.Limits))
		}
		a.From = duration(from[i])
		in.From, answers.From = from[i], from[i]
		k.Lengths = append(k.Lengths, a)
		if in.Rows > 0 {
			out.Input = append(out.Input, in)
		}
		if answers.Rows > 0 {
			out.Output = append(out.Output, answers)
		}
		out.Grid = max(out.Grid, len(a.Ranks))
		even.Lengths = append(even.Lengths, l.evenLengths(rows, turns, duration(from[i])))
	}
}

// Lengths of a log that tells none.
const (
	madeUpInput  = 256
	madeUpOutput = 128
)

// within are the rows between two moments in s, the later one not included.
func (l *log) within(rows []int32, from, to float64) []int32 {
	at := func(r int32, t float64) int { return cmp.Compare(float64(l.at[r])/1e9, t) }
	first, _ := slices.BinarySearchFunc(rows, from, at)
	end, _ := slices.BinarySearchFunc(rows, to, at)
	return rows[first:end]
}

// lengthsOf fits the input of session starts, the output of all turns, and how
// those of the starts go together, for which every so many slices are fitted and
// held out in turn.
func (l *log) lengthsOf(rows, turns []int32, every int64) (a traffic.Lengths, input, output LengthFit) {
	var ins, outs []int32
	var both pairs
	var fold []uint8
	for _, r := range rows {
		in, answer := l.newText(r), l.output[r]
		if in > 0 {
			ins = append(ins, in)
		}
		if in > 0 && answer > 0 {
			both.input, both.output = append(both.input, in), append(both.output, answer)
			fold = append(fold, uint8(l.sliceOf(r)/every%gridFolds))
		}
	}
	for _, r := range turns {
		if l.output[r] > 0 {
			outs = append(outs, l.output[r])
		}
	}
	a.Input, a.Output = stat.Constant(madeUpInput), stat.Constant(madeUpOutput)
	if len(ins) > 0 {
		input, a.Input = chooseLength(newTokens(ins))
	}
	if len(outs) > 0 {
		output, a.Output = chooseLength(newTokens(outs))
	}
	a.Ranks = rankGrid(both, fold)
	return a, input, output
}

// evenLengths fits the even slices alone.
func (l *log) evenLengths(rows, turns []int32, from time.Duration) traffic.Lengths {
	a, _, _ := l.lengthsOf(l.slice(rows, 0), l.slice(turns, 0), 2)
	a.From = from
	return a
}

// newText is the length of a request's prompt without a front that others sent.
func (l *log) newText(r int32) int32 {
	n := l.input[r]
	if f := l.front[r]; f > 0 && n > 0 {
		n = max(n-l.blocks.frontTokens(f), 1)
	}
	return n
}

// skipper is a reader that counts what it could not read.
type skipper interface {
	Skipped() (int64, []*trace.LineError)
}
