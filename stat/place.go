package stat

import "iter"

// Placed is what stands at a rank among whole numbers.
type Placed struct {
	Value  uint32
	Within int // its rank among those of the same value, from 1
	Equal  int // how many have that value
}

// Place is [Select] for whole numbers, of which two walks are enough. They
// come in parts that can be walked repeatedly, each in batches; parts are walked at the same
// time. There is at least one part, and in all of them are fewer than 2³² numbers.
func Place(parts []iter.Seq[[]uint32], ranks []int) []Placed {
	out := make([]Placed, len(ranks))
	goals := make([]goal, len(ranks))
	for i, r := range ranks {
		goals[i].rest = r
	}
	narrow(parts, goals, 16, (*digits).high)
	narrow(parts, goals, 0, (*digits).low)
	for i, g := range goals {
		out[i] = Placed{uint32(g.bits), g.rest, g.equal}
	}
	return out
}

// high counts the upper halves of whole numbers.
func (d *digits) high(batch []uint32) {
	c := d.counts[0]
	for _, v := range batch {
		c[v>>16]++
	}
}

// low counts the lower halves of those whose upper half is a prefix.
func (d *digits) low(batch []uint32) {
	if d.slot == nil {
		d.slot = make([]uint16, 1<<16)
		for i, p := range d.prefixes {
			d.slot[p] = uint16(i + 1)
		}
	}
	for _, v := range batch {
		if s := d.slot[v>>16]; s != 0 {
			d.counts[s-1][v&0xffff]++
		}
	}
}
