package measure

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/record"
)

// gapStore keeps the gaps between the arrivals of every request in about four
// bytes each, in the order of their requests. Where each arrival held one token and
// no gap is longer than 4.29 s, they are 32-bit numbers; else each is a varint of gap<<1, its lowest
// bit set where the later arrival held another number of tokens than one; the
// number plus one then follows, zero for unknown.
type gapStore struct {
	whole  [][]uint32
	blocks [][]byte
}

// gapBlock is the size of a block in bytes.
const gapBlock = 1 << 20

// gapRef is where a request's gaps lie.
type gapRef struct {
	block, offset uint32
	count         int32
	fixed         bool
}

// gap is the time between two arrivals of one choice of a response.
type gap struct {
	ns     int64
	tokens int32 // of the later arrival; unknown: -1
}

// room returns blocks of which the last has space for n more. What is left of
// the one before is given up: a request's gaps lie together.
func room[T any](blocks [][]T, n, size int) [][]T {
	last := len(blocks) - 1
	if last < 0 || cap(blocks[last])-len(blocks[last]) < n {
		blocks = append(blocks, make([]T, 0, max(size, n)))
	}
	return blocks
}

// add stores the gaps of a request.
func (s *gapStore) add(gaps []gap) gapRef {
	if len(gaps) == 0 {
		return gapRef{}
	}
	ref := gapRef{count: int32(len(gaps))}
	ref.fixed = !slices.ContainsFunc(gaps, func(g gap) bool { return g.tokens != 1 || g.ns > math.MaxUint32 })
	if ref.fixed {
		s.whole = room(s.whole, len(gaps), gapBlock/4)
		b := &s.whole[len(s.whole)-1]
		ref.block, ref.offset = uint32(len(s.whole)-1), uint32(len(*b))
		for _, g := range gaps {
			*b = append(*b, uint32(g.ns))
		}
		return ref
	}
	s.blocks = room(s.blocks, len(gaps)*(binary.MaxVarintLen64+binary.MaxVarintLen32), gapBlock)
	last := len(s.blocks) - 1
	b := s.blocks[last]
	ref.block, ref.offset = uint32(last), uint32(len(b))
	for _, g := range gaps {
		if g.tokens == 1 {
			b = binary.AppendUvarint(b, uint64(g.ns)<<1)
			continue
		}
		b = binary.AppendUvarint(b, uint64(g.ns)<<1|1)
		b = binary.AppendUvarint(b, uint64(g.tokens+1))
	}
	s.blocks[last] = b
	return ref
}

// numbers are the gaps of a request stored as 32-bit numbers, in ns.
func (s *gapStore) numbers(r gapRef) []uint32 {
	if r.count == 0 {
		return nil
	}
	return s.whole[r.block][r.offset:][:r.count]
}

// decode appends the gaps of a request to buf.
func (s *gapStore) decode(r gapRef, buf []gap) []gap {
	if r.count == 0 {
		return buf
	}
	if r.fixed {
		for _, ns := range s.numbers(r) {
			buf = append(buf, gap{int64(ns), 1})
		}
		return buf
	}
	b := s.blocks[r.block][r.offset:]
	for range r.count {
		v, n := binary.Uvarint(b)
		b = b[n:]
		g := gap{int64(v >> 1), 1}
		if v&1 != 0 {
			t, n := binary.Uvarint(b)
			b = b[n:]
			g.tokens = int32(t) - 1
		}
		buf = append(buf, g)
	}
	return buf
}

// milliseconds appends the gaps of a request stored as 32-bit numbers to buf.
func (s *gapStore) milliseconds(r gapRef, buf []float64) []float64 {
	for _, ns := range s.numbers(r) {
		buf = append(buf, float64(ns)/1e6)
	}
	return buf
}

// arrivals gathers the arrivals of one choice. An arrival is the content
// chunks of one choice that bear one stamp: what came in one read came at one
// moment as far as anyone can know.
type arrivals struct {
	at, previous int64
	tokens       int32
	count        int
}

// end closes the arrival under way and appends the gap before it. Of stamps
// that go backwards (the wall clock was set) no gap is known.
func (a *arrivals) end(gaps []gap) []gap {
	if a.count > 1 && a.at > a.previous {
		gaps = append(gaps, gap{a.at - a.previous, a.tokens})
	}
	a.previous = a.at
	return gaps
}

// arrivalGaps appends to gaps those between the arrivals of a response, each
// choice by itself. many tells that there is more than one choice.
func arrivalGaps(c *record.Chunks, gaps []gap) (out []gap, many bool) {
	for done, choice := false, int32(0); !done; {
		done = true
		var a arrivals
		next, begin := int32(0), len(gaps)
		for i, at := range c.At {
			if k := choiceOf(c, i); k != choice {
				if k > choice && (done || k < next) {
					done, next = false, k
				}
				continue
			}
			tokens := int32(-1)
			if i < len(c.Tokens) {
				tokens = c.Tokens[i]
			}
			if a.count > 0 && at == a.at {
				a.tokens = addTokens(a.tokens, tokens)
				continue
			}
			gaps = a.end(gaps)
			a.at, a.tokens = at, tokens
			a.count++
		}
		gaps = a.end(gaps)
		// What no later token of this choice can take over is nobody's.
		for i := len(gaps) - 1; i >= begin && gaps[i].tokens == 0; i-- {
			gaps[i].tokens = -1
		}
		many = many || !done
		choice = next
	}
	return gaps, many
}

func choiceOf(c *record.Chunks, i int) int32 {
	if i < len(c.Choice) {
		return c.Choice[i]
	}
	return 0
}

func addTokens(a, b int32) int32 {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}
