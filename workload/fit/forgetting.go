package fit

import "math"

const (
	// mostBlocks bounds the stack, and with it what a log of any length takes;
	// mostTextBlocks the same where prompts are texts, of which nearly all blocks
	// are never seen again.
	mostBlocks, mostTextBlocks = 4 << 20, 1 << 20
	// mostReuse bounds how many times between uses are kept.
	mostReuse = 1 << 20
)

// gone tells whether a block was forgotten since it was at a place.
func (b *blocks) gone(at int32, id uint64) bool { return b.all[at].id != id || b.all[at].place < 0 }

// use makes a block of so many tokens the youngest. at is its place as far as it
// is known, which is returned.
func (b *blocks) use(at int32, id uint64, size int64, first int32, moment int64) int32 {
	if b.stack.full(size) {
		b.compact(size)
	}
	if at < 0 || b.gone(at, id) {
		var ok bool
		if at, ok = b.known[id]; !ok {
			return b.learn(block{id: id, last: moment, owner: first, tokens: int32(min(size, math.MaxInt32))})
		}
	}
	k := &b.all[at]
	if !k.again {
		k.again = true
		b.again++
	}
	if len(b.reuse) < mostReuse {
		b.reuse = append(b.reuse, float64(moment-k.last)/1e9)
	}
	b.stack.remove(k.place, k.tokens)
	b.at[k.place] = -1
	k.last = moment
	b.push(at)
	return at
}

// learn keeps a new block, in the room of the oldest where there are too many of
// texts.
func (b *blocks) learn(k block) int32 {
	b.distinct++
	if b.texts > 0 && len(b.known) >= b.most {
		b.forgot = true
		for b.at[b.oldest] < 0 {
			b.oldest++
		}
		b.forget(b.at[b.oldest])
	}
	at := int32(len(b.all))
	if n := len(b.free); n > 0 {
		at = b.free[n-1]
		b.free = b.free[:n-1]
		b.all[at] = k
	} else {
		b.all = append(b.all, k)
	}
	b.known[k.id] = at
	b.push(at)
	return at
}

// push makes a block the youngest of the stack.
func (b *blocks) push(at int32) {
	k := &b.all[at]
	k.place = b.stack.push(k.tokens)
	b.at = append(b.at[:k.place], at)
}

// forget takes a block out.
func (b *blocks) forget(at int32) {
	k := &b.all[at]
	delete(b.known, k.id)
	if k.ended {
		delete(b.ends, k.id)
	}
	if k.tailed {
		delete(b.tails, k.id)
	}
	b.stack.remove(k.place, k.tokens)
	b.at[k.place] = -1
	k.place = -1
	b.free = append(b.free, at)
}

// compact moves the blocks of the stack together, and forgets the oldest half
// when there are too many, or too many tokens for one more block.
func (b *blocks) compact(size int64) {
	half := 0
	if len(b.known) > mostBlocks || b.stack.used+size >= mostStacked {
		b.forgot = true
		half = (len(b.known) + 1) / 2
	}
	for i := b.oldest; half > 0; i++ {
		if b.at[i] >= 0 {
			b.forget(b.at[i])
			half--
		}
	}
	n := 0
	tokens := make([]int32, 0, len(b.known))
	for _, at := range b.at {
		if at < 0 {
			continue
		}
		k := &b.all[at]
		k.place, b.at[n] = int32(n), at
		tokens = append(tokens, k.tokens)
		n++
	}
	b.at, b.oldest = b.at[:n], 0
	b.stack.reset(tokens)
}
