package core

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// plainPool is the block pool word by word: a list of free blocks, and for each
// key the blocks that hold it in the order in which lookups find them.
type plainPool struct {
	free []int32
	refs map[int32]int
	key  map[int32]uint64
	have map[uint64][]int32
}

func (p *plainPool) take() int32 {
	b := p.free[0]
	p.free = p.free[1:]
	if k := p.key[b]; k != 0 {
		p.have[k] = slices.DeleteFunc(p.have[k], func(x int32) bool { return x == b })
		delete(p.key, b)
	}
	p.refs[b] = 1
	return b
}

func (p *plainPool) touch(b int32) {
	if p.refs[b] == 0 {
		p.free = slices.DeleteFunc(p.free, func(x int32) bool { return x == b })
	}
	p.refs[b]++
}

func (p *plainPool) release(list []int32) {
	for _, b := range slices.Backward(list) {
		if p.refs[b]--; p.refs[b] > 0 {
			continue
		}
		if p.key[b] == 0 {
			p.free = slices.Insert(p.free, 0, b)
		} else {
			p.free = append(p.free, b)
		}
	}
}

func (p *plainPool) remember(b int32, key uint64) {
	p.key[b] = key
	at := min(1, len(p.have[key])) // the first stays the one that is found
	p.have[key] = slices.Insert(p.have[key], at, b)
}

func (p *plainPool) lookup(key uint64) int32 {
	if l := p.have[key]; len(l) > 0 {
		return l[0]
	}
	return -1
}

// The pool gives the blocks that the plain one gives, whatever is asked of it.
func TestThePoolIsThePlainOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const blocks = 12
		p := newBlockPool(blocks, 1, true)
		q := &plainPool{refs: map[int32]int{}, key: map[int32]uint64{}, have: map[uint64][]int32{}}
		for b := int32(1); b < blocks; b++ {
			q.free = append(q.free, b)
		}
		var held [][]int32
		for range rapid.IntRange(1, 200).Draw(t, "operations") {
			key := rapid.Uint64Range(1, 3).Draw(t, "key") + 64*rapid.Uint64Range(0, 2).Draw(t, "of the bucket")
			switch op := rapid.IntRange(0, 3).Draw(t, "operation"); {
			case op == 0 && len(q.free) > 0:
				a, b := p.take(), q.take()
				if a != b {
					t.Fatalf("took %d, want %d", a, b)
				}
				held = append(held, []int32{a})
				if rapid.Bool().Draw(t, "full") {
					p.remember(a, key)
					q.remember(a, key)
				}
			case op == 1 && len(held) > 0: // one request's blocks, of several touched and taken
				i := rapid.IntRange(0, len(held)-1).Draw(t, "of")
				p.release(held[i])
				q.release(held[i])
				held = slices.Delete(held, i, i+1)
			case op == 2:
				b := q.lookup(key)
				if a := p.lookup(key); a != b {
					t.Fatalf("found %d, want %d", a, b)
				}
				if b < 0 {
					continue
				}
				p.touch(b)
				q.touch(b)
				if len(held) > 0 && rapid.Bool().Draw(t, "together") && !slices.Contains(held[0], b) {
					held[0] = append(held[0], b)
				} else {
					held = append(held, []int32{b})
				}
			}
			if p.free != int64(len(q.free)) {
				t.Fatalf("%d free, want %d", p.free, len(q.free))
			}
		}
	})
}
