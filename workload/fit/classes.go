package fit

import "slices"

// Where a log's own bursts are kept, so is what they are of: an engine suffers
// from long prompts and answers that come together. A log that names nobody is
// then divided into classes of lengths, each a client. They are a tree: a class
// is cut in two where the share of the longer ones among it changes over time by
// more than chance, and of how far that share goes from window to window as much
// is kept as is more than chance (bursts.go). So classes come to the bursts of
// all in each window, and what changes most is cut first and kept best.

// classify makes clients of classes of lengths; false where the mix of lengths
// is no more than chance.
func (l *log) classify(starts []int32) bool {
	fine := l.options.Bursts.Seconds()
	t := newTree(l.seconds(starts), taken(l.input, starts), taken(l.output, starts), l.span, l.options.window(), fine)
	all := t.divide()
	if len(t.classes) < 2 {
		return false
	}
	l.mixed = &mixed{all: all, mix: t.levels}
	for k, c := range t.classes {
		for _, i := range c.rows {
			l.client[starts[i]] = int32(k)
		}
		b := &bursts{window: l.span, fine: fine, factor: c.factor}
		b.coarsen(float64(t.ladder[0])*fine, slices.Concat(all, t.levels))
		l.mixed.classes = append(l.mixed.classes, b)
	}
	rows := make([]int64, len(t.classes))
	for _, k := range l.client {
		rows[k]++
	}
	for k, c := range t.classes {
		l.clients = append(l.clients, client1(c.name(), rows[k]))
	}
	l.say("the log names no clients; it is divided into %d classes of lengths, so that long requests come together as they did", len(t.classes))
	return true
}

// mixed are the bursts of a log of classes.
type mixed struct {
	all, mix []BurstLevel
	classes  []*bursts
}
