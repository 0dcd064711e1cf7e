package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
)

// A log that names nobody may still be of several clients: where some lengths
// come more often at some times than at others, those who send them do. They are
// found as a mixture (mixture.go): each has a rate of its own in each window,
// and all the time the same shares of the cells of a grid of input and output.

const (
	// hiddenSide is how many classes of equal numbers of requests each length
	// has in the grid.
	hiddenSide = 8
	// mostHidden is how many clients are tried.
	mostHidden = 5
	// hiddenRows is how many requests each has at least.
	hiddenRows = 1000
	// hiddenEach is how many requests a window has at least in the mean, and
	// mostHiddenWindows how many windows there are at most.
	hiddenEach        = 50
	mostHiddenWindows = 2000
)

// hide looks for hidden clients among the requests that begin sessions, and
// gives each request to one of them by its chance; false where one is likelier.
// A log with blocks of prompts is not divided: a front that sessions share
// belongs to one client.
func (l *log) hide() bool {
	if l.options.By != ByAny || l.blocks.sharing() {
		return false
	}
	starts := l.starts(allRows(len(l.at)))
	if l.options.Bursts > 0 {
		return l.classify(starts)
	}
	at := l.seconds(starts)
	cell, cells := cellsOf(taken(l.input, starts), taken(l.output, starts))
	if cells < 2 {
		return false
	}
	m, t := l.likeliest(at, cell, cells)
	if m == nil || len(m.rate) < 2 {
		return false
	}
	rows := make([]int64, len(m.rate))
	part := make([]float64, len(m.rate))
	r := stat.Random(l.options.Seed, "hidden client", 0)
	for i, row := range starts {
		x := r.Float64() * m.chances(t.index(at[i]), cell[i], part)
		k := 0
		for k < len(part)-1 && x >= part[k] {
			x -= part[k]
			k++
		}
		l.client[row] = int32(k)
	}
	for _, k := range l.client {
		rows[k]++
	}
	for k, n := range rows {
		l.clients = append(l.clients, client1(fmt.Sprintf("client-%d", k+1), n))
	}
	l.say("the log names no clients; by its lengths over time it is of %d, each with a rate of its own", len(rows))
	return true
}

// likeliest is the mixture with the best BIC over windows and numbers of
// clients. More clients are tried as long as they are better and have enough
// requests each.
func (l *log) likeliest(at []float64, cell []int32, cells int) (best *mixture, of *tallied) {
	least, chosen := math.Inf(1), -1
	for _, w := range windowsTried {
		n := windowCount(l.span, w)
		if l.span < 2*w || n > mostHiddenWindows || len(at) < hiddenEach*n {
			continue
		}
		t := newTallied(at, cell, cells, l.span, w)
		before := math.Inf(1)
		for k := 1; k <= mostHidden && len(at) >= k*hiddenRows; k++ {
			m := t.one()
			if k > 1 {
				m = t.several(k, l.options.Seed, min(before, least))
			}
			bic := t.bic(m)
			l.hidden = append(l.hidden, HiddenCandidate{Window: w, Clients: k, Parameters: m.parameters, LogLikelihood: m.likelihood, BIC: bic})
			if bic >= before || slices.Min(m.rows()) < hiddenRows {
				break
			}
			before = bic
			if bic < least {
				best, of, least, chosen = m, t, bic, len(l.hidden)-1
			}
		}
	}
	if chosen >= 0 {
		l.hidden[chosen].Chosen = true
	}
	return best, of
}

// cellsOf is the cell of each request in a grid of classes of both lengths, -1
// where one is not said, and how many cells there are.
func cellsOf(input, output []int32) (cell []int32, cells int) {
	a, b := classesOf(input), classesOf(output)
	number := map[int]int32{}
	cell = make([]int32, len(input))
	for i := range input {
		if input[i] <= 0 || output[i] <= 0 {
			cell[i] = -1
			continue
		}
		x, _ := slices.BinarySearch(a, input[i])
		y, _ := slices.BinarySearch(b, output[i])
		k, ok := number[x*hiddenSide+y]
		if !ok {
			k = int32(len(number))
			number[x*hiddenSide+y] = k
		}
		cell[i] = k
	}
	return cell, len(number)
}

// classesOf are the greatest lengths of classes of equal numbers, but of the
// last one.
func classesOf(list []int32) []int32 {
	known := slices.DeleteFunc(thinned(list, mostSorted), func(n int32) bool { return n <= 0 })
	slices.Sort(known)
	var bounds []int32
	for i := 1; i < hiddenSide && len(known) > 0; i++ {
		bounds = append(bounds, stat.Quantile(known, float64(i)/hiddenSide))
	}
	return slices.Compact(bounds)
}
