package core

// freeQueue is the order in which free blocks are taken. A block that is taken
// into use again leaves its entry behind, which is then stale; entries lie side
// by side, so that a run of them is read ahead of its blocks.
type freeQueue struct {
	ring       []freeEntry // its length is a power of two
	head, tail int         // entries from head to tail-1, modulo the length
	stamp      uint32
}

type freeEntry struct {
	block int32
	stamp uint32 // the entry is stale where its block has another
}

func (q *freeQueue) at(i int) *freeEntry { return &q.ring[i&(len(q.ring)-1)] }

// push puts a block at the end.
func (q *freeQueue) push(p *blockPool, b int32) {
	e := q.enter(p, b)
	*q.at(q.tail) = e
	q.tail++
}

// pushFront puts a block where the next one is taken.
func (q *freeQueue) pushFront(p *blockPool, b int32) {
	e := q.enter(p, b)
	q.head--
	*q.at(q.head) = e
}

// enter gives a block its stamp, and makes room for its entry.
func (q *freeQueue) enter(p *blockPool, b int32) freeEntry {
	if q.tail-q.head == len(q.ring) {
		q.grow(p, len(p.blocks))
	}
	if q.stamp++; q.stamp == 0 {
		q.stamp = 1 // entries as old as this have long been dropped
	}
	p.blocks[b].stamp = q.stamp
	return freeEntry{b, q.stamp}
}

// pop takes the block at the front. There must be one.
func (q *freeQueue) pop(p *blockPool) int32 {
	for {
		e := *q.at(q.head)
		q.head++
		if x := &p.blocks[e.block]; x.stamp == e.stamp {
			x.stamp = 0
			return e.block
		}
	}
}

// grow drops stale entries; there is room for at least n more then.
func (q *freeQueue) grow(p *blockPool, n int) {
	var live []freeEntry
	for i := q.head; i < q.tail; i++ {
		if e := *q.at(i); p.blocks[e.block].stamp == e.stamp {
			live = append(live, e)
		}
	}
	size := max(len(q.ring), 2)
	for size < len(live)+n {
		size *= 2
	}
	if size > len(q.ring) {
		q.ring = make([]freeEntry, size)
	}
	q.head, q.tail = 0, copy(q.ring, live)
}
