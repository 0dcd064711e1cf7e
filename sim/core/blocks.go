package core

import "math/bits"

// blockPool is the paged KV cache's memory: blocks with reference counts, the
// queue of free ones, and a hash table from content keys to blocks. A free block
// keeps its content until it is taken for another (lazy eviction). Block 0 is
// the null block, never given out.
type blockPool struct {
	size    int64
	caching bool
	refs    []int32
	key     []uint64 // 0: no content
	heads   []int32  // first block of each bucket of keys, 0: none
	chain   []int32  // next block of the bucket, 0 at the end
	next    []int32  // free queue, block 0 is its sentinel
	prev    []int32
	free    int64
	evicted int64
}

func newBlockPool(blocks, size int64, caching bool) *blockPool {
	p := &blockPool{size: size, caching: caching, refs: make([]int32, blocks), key: make([]uint64, blocks),
		next: make([]int32, blocks), prev: make([]int32, blocks)}
	if caching {
		p.heads, p.chain = make([]int32, 1<<bits.Len64(uint64(blocks))), make([]int32, blocks)
	}
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

// bucket is where the chain of a key begins. Keys are well mixed.
func (p *blockPool) bucket(key uint64) *int32 { return &p.heads[key&uint64(len(p.heads)-1)] }

// lookup returns a block with the key, or -1.
func (p *blockPool) lookup(key uint64) int32 {
	for b := *p.bucket(key); b != 0; b = p.chain[b] {
		if p.key[b] == key {
			return b
		}
	}
	return -1
}

// remember says that a block now holds the content of key. The block found
// first stays the one that lookups return.
func (p *blockPool) remember(b int32, key uint64) {
	if first := p.lookup(key); first >= 0 {
		p.chain[b], p.chain[first] = p.chain[first], b
	} else {
		head := p.bucket(key)
		p.chain[b], *head = *head, b
	}
	p.key[b] = key
}

func (p *blockPool) forget(b int32) {
	at := p.bucket(p.key[b])
	for *at != b {
		at = &p.chain[*at]
	}
	*at = p.chain[b]
	p.key[b] = 0
	p.evicted++
}
