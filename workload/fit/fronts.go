package fit

import (
	"cmp"
	"math"
	"slices"
)

// front is what several sessions begin with.
type front struct {
	sum, uses int64 // of its tokens in the prompts that had it, and how many those are
	depth     int32 // blocks
	owner     int32 // the request, by its number in the log, that began the session which sent it first
	within    int32 // number of the longest other front that it begins with; 0: none
}

// begin numbers the front of a session, a prompt's first blocks.
func (b *blocks) begin(p *prompt, depth int) int32 {
	b.begun++
	last := &b.all[b.here[depth-1]]
	if last.front == 0 {
		last.front = b.frontOf[last.id] // it may have been forgotten
	}
	n := last.front
	if n == 0 {
		b.fronts = append(b.fronts, front{depth: int32(depth), owner: last.owner})
		n = int32(len(b.fronts))
		b.frontOf[last.id], last.front = n, n
	}
	f := &b.fronts[n-1]
	f.sum, f.uses = f.sum+p.upTo(depth), f.uses+1
	for i := depth - 2; i >= 0; i-- {
		if k := b.all[b.here[i]].front; k > 0 && b.fronts[k-1].depth < f.depth {
			f.within = k
			break
		}
	}
	return n
}

// frontTokens is how long a front is: where prompts tell their own lengths, in
// the mean of those that have it.
func (b *blocks) frontTokens(n int32) int32 {
	f := &b.fronts[n-1]
	return int32(math.Round(float64(f.sum) / float64(f.uses)))
}

// ownFronts gives those that sent a front first that front too, where their first
// prompt is long enough to hold it. The rows are those of the log, in its order.
func (l *log) ownFronts() {
	b := l.blocks
	for i := range b.fronts {
		f, n := &b.fronts[i], int32(i+1)
		if l.input[f.owner] > 0 && l.input[f.owner] < b.frontTokens(n) {
			continue
		}
		if has := l.front[f.owner]; has == 0 || b.fronts[has-1].depth < f.depth {
			l.front[f.owner] = n
		}
	}
}

// foldFronts makes sessions whose front few others have ones of the front that
// it begins with, where more is shared so: in the model fronts have nothing in
// common, and each is new to a cache once.
func (l *log) foldFronts() {
	b := l.blocks
	sessions := make([]int64, len(b.fronts))
	for _, r := range l.starts(allRows(len(l.at))) {
		if f := l.front[r]; f > 0 {
			sessions[f-1]++
		}
	}
	order := make([]int32, len(b.fronts))
	into := make([]int32, len(b.fronts))
	for i := range order {
		order[i], into[i] = int32(i+1), int32(i+1)
	}
	slices.SortFunc(order, func(x, y int32) int { // the deepest first
		return cmp.Or(cmp.Compare(b.fronts[y-1].depth, b.fronts[x-1].depth), cmp.Compare(x, y))
	})
	for _, n := range order {
		g := b.fronts[n-1].within
		if g == 0 || sessions[n-1] == 0 {
			continue
		}
		if (sessions[n-1]-1)*int64(b.frontTokens(n)) <= sessions[n-1]*int64(b.frontTokens(g)) { // what a cache finds
			into[n-1] = g
			sessions[g-1] += sessions[n-1]
		}
	}
	for _, n := range slices.Backward(order) { // what it goes into is settled before it
		into[n-1] = into[into[n-1]-1]
	}
	for i, f := range l.front {
		if f > 0 {
			l.front[i] = into[f-1]
		}
	}
}
