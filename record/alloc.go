package record

import "math/bits"

// pool is an arrow allocator that hands freed memory out again, so that a
// builder that is filled and emptied over and over costs no garbage. It
// belongs to one goroutine at a time.
type pool struct{ free [48][][]byte }

func class(size int) int { return bits.Len(uint(max(size, 64) - 1)) }

// Allocate returns zeroed memory of the given size.
func (p *pool) Allocate(size int) []byte {
	c := class(size)
	if n := len(p.free[c]); n > 0 {
		b := p.free[c][n-1]
		p.free[c] = p.free[c][:n-1]
		clear(b[:cap(b)])
		return b[:size]
	}
	return make([]byte, size, 1<<c)
}

// Reallocate returns b with the given size, moved where it must be.
func (p *pool) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	bigger := p.Allocate(size)
	copy(bigger, b)
	p.Free(b)
	return bigger
}

// Free takes b back.
func (p *pool) Free(b []byte) {
	if cap(b) < 64 || cap(b)&(cap(b)-1) != 0 {
		return
	}
	c := class(cap(b))
	p.free[c] = append(p.free[c], b[:0])
}
