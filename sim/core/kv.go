package core

// cachedPrefix returns the blocks whose content the request's first tokens
// share, at most all but one token: the last must be computed to give logits.
func (e *Engine) cachedPrefix(r *Request) []int32 {
	if !e.pool.caching {
		return nil
	}
	limit := (r.seq.total - 1) / e.pool.size
	e.hits = e.hits[:0]
	for i := range limit {
		b := e.pool.lookup(e.key(r, i))
		if b < 0 {
			break
		}
		e.hits = append(e.hits, b)
	}
	return e.hits
}

// key returns the content key of a full block of the request.
func (e *Engine) key(r *Request, i int64) uint64 {
	q := &r.seq
	for int64(len(q.keys)) <= i {
		previous := r.CacheKey
		if n := len(q.keys); n > 0 {
			previous = q.keys[n-1]
		}
		k := r.Content.Block(previous, int64(len(q.keys)), e.pool.size)
		if k == 0 {
			k = 1 // 0 means no content
		}
		q.keys = append(q.keys, k)
	}
	return q.keys[i]
}

// allocate makes room for n more tokens of a request after hits, blocks found
// in the prefix cache. It changes nothing and returns false when there are not
// enough free blocks.
func (e *Engine) allocate(r *Request, n int64, hits []int32) bool {
	q, p := &r.seq, e.pool
	computed := q.computed + int64(len(hits))*p.size
	need := (computed+n+p.size-1)/p.size - int64(len(q.blocks)) - int64(len(hits))
	if need <= 0 && len(hits) == 0 {
		e.seal(r, computed+n)
		return true
	}
	idle := int64(0) // hits that stand in the free queue now
	for _, b := range hits {
		if p.blocks[b].refs == 0 {
			idle++
		}
	}
	if need+idle > p.free {
		return false
	}
	for _, b := range hits {
		p.touch(b)
	}
	q.blocks = append(q.blocks, hits...)
	q.sealed += len(hits)
	for range need {
		q.blocks = append(q.blocks, p.take())
	}
	e.seal(r, computed+n)
	return true
}

// seal gives the full blocks of the first n tokens to the prefix cache. Like
// vLLM it does so when they are scheduled, so that a request admitted in the
// same step can share them.
func (e *Engine) seal(r *Request, n int64) {
	if !e.pool.caching {
		return
	}
	q := &r.seq
	for full := int(min(n, q.total) / e.pool.size); q.sealed < full; q.sealed++ {
		i := int64(q.sealed)
		e.pool.remember(q.blocks[i], e.key(r, i))
	}
}

// drop takes a request's blocks back.
func (e *Engine) drop(r *Request) {
	e.pool.release(r.seq.blocks)
	r.seq.blocks = r.seq.blocks[:0]
	r.seq.computed, r.seq.sealed = 0, 0
}
