package corpus

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/stat"
)

// Markov is a chain over words with back-off: the next word is drawn as the
// longest known context in front of it was continued. It is read-only.
type Markov struct {
	order, owners int
	texts         int64 // learnt from
	units         []string
	levels        []level // level n: contexts of n units
}

// level is the continuations of contexts of one length. Contexts are in order.
type level struct {
	contexts [][mostOrder - 1]uint32
	from     []uint32 // of context i: next[from[i]:from[i+1]]
	next     []uint32 // in ascending order
	upTo     []uint32 // sums of counts within a context
}

// build sorts entries into a level.
func (l *level) build(list []entry) {
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(slices.Compare(a.context[:], b.context[:]), cmp.Compare(a.next, b.next))
	})
	for i, e := range list {
		if i == 0 || e.context != list[i-1].context {
			l.contexts = append(l.contexts, e.context)
			l.from = append(l.from, uint32(i))
		}
		l.add(e.next, e.count)
	}
	l.from = append(l.from, uint32(len(l.next)))
}

// add puts a continuation to the last context.
func (l *level) add(next, count uint32) {
	sum := uint64(count)
	if uint32(len(l.next)) > l.from[len(l.from)-1] {
		sum += uint64(l.upTo[len(l.upTo)-1])
	}
	l.next = append(l.next, next)
	l.upTo = append(l.upTo, uint32(min(sum, 1<<32-1)))
}

// find returns the place of a context's continuations.
func (l *level) find(context [mostOrder - 1]uint32) (from, to uint32, ok bool) {
	i, ok := slices.BinarySearchFunc(l.contexts, context, func(a, b [mostOrder - 1]uint32) int { return slices.Compare(a[:], b[:]) })
	if !ok {
		return 0, 0, false
	}
	return l.from[i], l.from[i+1], true
}

// draw returns one of the continuations in a place.
func (l *level) draw(r *rand.Rand, from, to uint32) uint32 {
	x := r.Uint32N(l.upTo[to-1])
	i, exact := slices.BinarySearch(l.upTo[from:to], x)
	if exact {
		i++
	}
	return l.next[int(from)+i]
}

const (
	// mostForced is how many words may follow each other without a choice:
	// the next one is then drawn from a shorter context, so that the chain
	// leaves a passage that the source always had word for word.
	mostForced = 8
	// mostUnits ends a text that does not end by itself.
	mostUnits = 200
	// markovTexts is how many texts a model's corpus has.
	markovTexts = 1500
)

// check says what makes a model useless.
func (m *Markov) check() error {
	l := &m.levels[0]
	if len(l.contexts) != 1 || len(l.next) < 2 && l.next[0] == 0 {
		return errors.New("the model has no words")
	}
	return nil
}

// Describe says what the model is, for people.
func (m *Markov) Describe() (order, owners, words int, texts int64) {
	return m.order, m.owners, len(m.units) - 1, m.texts
}

// Text returns text number id, which follows from the model and id alone.
func (m *Markov) Text(id uint64) string {
	r := stat.Random(0, "markov", id)
	var b strings.Builder
	context := make([]uint32, 0, mostUnits+1)
	context = append(context, 0)
	forced := 0
	for len(context) <= mostUnits {
		u, choices := m.next(r, context, forced >= mostForced)
		if choices == 0 || u == 0 && b.Len() > 0 {
			break
		}
		forced++
		if choices > 1 {
			forced = 0
		}
		if u == 0 { // a text has at least one word
			context = append(context[:0], 0)
			if forced++; forced > mostUnits {
				break
			}
			continue
		}
		b.WriteString(m.units[u])
		context = append(context, u)
	}
	return b.String()
}

// next draws a unit behind others and says among how many.
func (m *Markov) next(r *rand.Rand, behind []uint32, free bool) (unit uint32, choices uint32) {
	for n := min(m.order-1, len(behind)); n >= 0; n-- {
		var context [mostOrder - 1]uint32
		copy(context[:], behind[len(behind)-n:])
		from, to, ok := m.levels[n].find(context)
		if !ok || free && to-from < 2 && n > 0 {
			continue
		}
		return m.levels[n].draw(r, from, to), to - from
	}
	return 0, 0
}

// Corpus returns texts of the model.
func (m *Markov) Corpus() *Corpus {
	c := &Corpus{Name: "markov", Joint: "\n", Run: 1}
	for id := range uint64(markovTexts) {
		c.paragraph(m.Text(id))
	}
	if len(c.Pieces) == 0 {
		return plain()
	}
	return c
}
