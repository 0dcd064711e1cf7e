package core

import "testing"

// Of blocks with the same content the first is found, then the newest.
func TestTheSameContentInSeveralBlocks(t *testing.T) {
	p := newBlockPool(8, 16, true)
	const key, neighbour = 16, 32 // of one bucket
	p.remember(1, key, 5)
	p.remember(4, neighbour, 5)
	p.remember(2, key, 5)
	p.remember(3, key, 5)
	for _, want := range []int32{1, 3, 2} {
		if got := p.lookup(key, 5); got != want {
			t.Errorf("found %d, want %d", got, want)
		}
		p.forget(want)
	}
	if p.lookup(key, 5) >= 0 || p.lookup(neighbour, 5) != 4 || p.evicted != 3 {
		t.Error(p.lookup(key, 5), p.lookup(neighbour, 5), p.evicted)
	}
}
