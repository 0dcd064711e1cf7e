package core

// blockPool is the paged KV cache's memory: blocks with reference counts, the
// queue of free ones, and the index from content keys to blocks. A free block
// keeps its content until it is taken for another (lazy eviction). Block 0 is
// the null block, never given out.
type blockPool struct {
	size    int64
	caching bool
	refs    []int32
	key     []uint64 // 0: no content
	same    []int32  // next block with the same key, -1 at the end
	next    []int32  // free queue, block 0 is its sentinel
	prev    []int32
	free    int64
	index   map[uint64]int32
	evicted int64
}

func newBlockPool(blocks, size int64, caching bool) *blockPool {
	p := &blockPool{size: size, caching: caching, refs: make([]int32, blocks), key: make([]uint64, blocks), same: make([]int32, blocks),
		next: make([]int32, blocks), prev: make([]int32, blocks), index: make(map[uint64]int32, blocks)}
	for i := int32(1); i < int32(blocks); i++ {
		p.append(i)
	}
	return p
}

// usage is the share of blocks in use by requests.
func (p *blockPool) usage() float64 {
	return 1 - float64(p.free)/float64(max(len(p.refs)-1, 1))
}

func (p *blockPool) append(b int32) { p.link(p.prev[0], b, 0) }

func (p *blockPool) prepend(b int32) { p.link(0, b, p.next[0]) }

func (p *blockPool) link(before, b, after int32) {
	p.prev[b], p.next[b] = before, after
	p.next[before], p.prev[after] = b, b
	p.free++
}

func (p *blockPool) unlink(b int32) {
	p.next[p.prev[b]], p.prev[p.next[b]] = p.next[b], p.prev[b]
	p.free--
}

// take removes the head of the free queue and drops its content. There must be a free block.
func (p *blockPool) take() int32 {
	b := p.next[0]
	p.unlink(b)
	if p.key[b] != 0 {
		p.forget(b)
	}
	p.refs[b] = 1
	return b
}

// touch takes a cached block into use once more.
func (p *blockPool) touch(b int32) {
	if p.refs[b] == 0 {
		p.unlink(b)
	}
	p.refs[b]++
}

// release gives back a request's blocks, the tail first, so that tails are
// evicted before heads; blocks without content go to the front of the queue.
func (p *blockPool) release(blocks []int32) {
	for i := len(blocks) - 1; i >= 0; i-- {
		b := blocks[i]
		if p.refs[b]--; p.refs[b] > 0 {
			continue
		}
		if p.key[b] == 0 {
			p.prepend(b)
		} else {
			p.append(b)
		}
	}
}

// lookup returns a block with the key, or -1.
func (p *blockPool) lookup(key uint64) int32 {
	if b, ok := p.index[key]; ok {
		return b
	}
	return -1
}

// remember says that a block now holds the content of key. The block found
// first stays the one that lookups return.
func (p *blockPool) remember(b int32, key uint64) {
	p.key[b] = key
	p.same[b] = -1
	if first, ok := p.index[key]; ok {
		p.same[b] = p.same[first]
		p.same[first] = b
		return
	}
	p.index[key] = b
}

func (p *blockPool) forget(b int32) {
	key := p.key[b]
	p.key[b] = 0
	p.evicted++
	first := p.index[key]
	switch {
	case first == b && p.same[b] < 0:
		delete(p.index, key)
	case first == b:
		p.index[key] = p.same[b]
	default:
		for p.same[first] != b {
			first = p.same[first]
		}
		p.same[first] = p.same[b]
	}
}
