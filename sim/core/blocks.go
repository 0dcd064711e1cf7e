package core

import "math/bits"

// blockPool is the paged KV cache's memory: blocks with reference counts, the
// queue of free ones, and a hash table from content keys to blocks. A free block
// keeps its content until it is taken for another (lazy eviction). Block 0 is
// the null block, never given out.
type blockPool struct {
	size    int64
	caching bool
	blocks  []block
	queue   freeQueue
	heads   []int32 // first block of each bucket of keys, 0: none
	free    int64
	evicted int64
}

// block is all that is known of one: what one operation touches stands in one
// line of the processor's cache.
type block struct {
	key   uint64 // 0: no content
	chain int32  // next block of the bucket, 0 at the end
	refs  int32
	stamp uint32 // of its place in the free queue; 0: it is not free
}

func newBlockPool(blocks, size int64, caching bool) *blockPool {
	p := &blockPool{size: size, caching: caching, blocks: make([]block, blocks)}
	if caching {
		p.heads = make([]int32, 1<<(bits.Len64(uint64(blocks))+1))
	}
	p.queue.grow(p, int(blocks))
	for i := int32(1); i < int32(blocks); i++ {
		p.queue.push(p, i)
	}
	p.free = blocks - 1
	return p
}

// usage is the share of blocks in use by requests.
func (p *blockPool) usage() float64 {
	return 1 - float64(p.free)/float64(max(len(p.blocks)-1, 1))
}

// take removes the head of the free queue and drops its content. There must be a free block.
func (p *blockPool) take() int32 {
	b := p.queue.pop(p)
	p.free--
	if p.blocks[b].key != 0 {
		p.forget(b)
	}
	p.blocks[b].refs = 1
	return b
}

// touch takes a cached block into use once more.
func (p *blockPool) touch(b int32) {
	x := &p.blocks[b]
	if x.refs == 0 {
		x.stamp = 0
		p.free--
	}
	x.refs++
}

// release gives back a request's blocks, the tail first, so that tails are
// evicted before heads; blocks without content go to the front of the queue.
func (p *blockPool) release(blocks []int32) {
	for i := len(blocks) - 1; i >= 0; i-- {
		b := blocks[i]
		x := &p.blocks[b]
		if x.refs--; x.refs > 0 {
			continue
		}
		p.free++
		if x.key == 0 {
			p.queue.pushFront(p, b)
		} else {
			p.queue.push(p, b)
		}
	}
}

// find returns the bucket of a key and the first block in it with the key, or
// -1. Keys are well mixed.
func (p *blockPool) find(key uint64) (bucket uint32, b int32) {
	bucket = uint32(key & uint64(len(p.heads)-1))
	for b = p.heads[bucket]; b != 0; b = p.blocks[b].chain {
		if p.blocks[b].key == key {
			return bucket, b
		}
	}
	return bucket, -1
}

// lookup returns a block with the key, or -1.
func (p *blockPool) lookup(key uint64) int32 {
	_, b := p.find(key)
	return b
}

// remember says that a block now holds the content of key. The block found
// first stays the one that lookups return.
func (p *blockPool) remember(b int32, key uint64) {
	bucket, first := p.find(key)
	if first >= 0 {
		p.blocks[b].chain, p.blocks[first].chain = p.blocks[first].chain, b
	} else {
		p.blocks[b].chain, p.heads[bucket] = p.heads[bucket], b
	}
	p.blocks[b].key = key
}

func (p *blockPool) forget(b int32) {
	at := &p.heads[uint32(p.blocks[b].key&uint64(len(p.heads)-1))]
	for *at != b {
		at = &p.blocks[*at].chain
	}
	*at = p.blocks[b].chain
	p.blocks[b].key = 0
	p.evicted++
}
