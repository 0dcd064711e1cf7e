package core

import "testing"

// Of blocks with the same content the first is found, then the newest.
func TestTheSameContentInSeveralBlocks(t *testing.T) {
	p := newBlockPool(8, 16, true)
	const key, neighbour = 16, 32 // of one bucket
	p.remember(1, key)
	p.remember(4, neighbour)
	p.remember(2, key)
	p.remember(3, key)
	for _, want := range []int32{1, 3, 2} {
		if got := p.lookup(key); got != want {
			t.Errorf("found %d, want %d", got, want)
		}
		p.forget(want)
	}
	if p.lookup(key) >= 0 || p.lookup(neighbour) != 4 || p.evicted != 3 {
		t.Error(p.lookup(key), p.lookup(neighbour), p.evicted)
	}
}
