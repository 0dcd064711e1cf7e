package token

import "math"

// noRank says that two parts do not merge.
const noRank = math.MaxUint32

// part is a run of a piece's bytes that is one token so far.
type part struct {
	id    uint32
	start int32
	// Of the merge with the part behind it.
	with, rank uint32
}

// ranker tells what two neighbouring parts become, and how early: the lowest
// rank merges first, noRank never. from and to are the bytes they cover.
type ranker func(a, b uint32, from, to int32) (id, rank uint32)

// merger holds the memory of merges.
type merger struct {
	parts []part
	next  []int32
	prev  []int32
	heap  []candidate
}

// longPiece is from how many parts on a heap pays.
const longPiece = 96

// merge merges m.parts, which cover size bytes, until no two neighbours merge:
// always the pair of lowest rank, the leftmost of equals. The result is valid
// until the next call.
func (m *merger) merge(size int, rank ranker) []part {
	n := len(m.parts)
	if n > longPiece {
		return m.mergeLong(size, rank)
	}
	p := m.parts
	end := func(i int) int32 {
		if i+1 < len(p) {
			return p[i+1].start
		}
		return int32(size)
	}
	look := func(i int) {
		p[i].rank = noRank
		if i+1 < len(p) {
			p[i].with, p[i].rank = rank(p[i].id, p[i+1].id, p[i].start, end(i+1))
		}
	}
	for i := range p {
		look(i)
	}
	for {
		best := -1
		low := uint32(noRank)
		for i := range p {
			if p[i].rank < low {
				best, low = i, p[i].rank
			}
		}
		if best < 0 {
			return p
		}
		p[best].id = p[best].with
		p = append(p[:best+1], p[best+2:]...)
		look(best)
		if best > 0 {
			look(best - 1)
		}
	}
}

// candidate is a possible merge of the part at index with the one behind it.
type candidate struct {
	rank  uint32
	index int32
}

// mergeLong does the same with a linked list and a heap, in n log n.
func (m *merger) mergeLong(size int, rank ranker) []part {
	p := m.parts
	n := int32(len(p))
	m.next, m.prev, m.heap = m.next[:0], m.prev[:0], m.heap[:0]
	for i := range n {
		m.next, m.prev = append(m.next, i+1), append(m.prev, i-1)
	}
	look := func(i int32) {
		p[i].rank = noRank
		j := m.next[i]
		if j == n {
			return
		}
		end := int32(size)
		if k := m.next[j]; k < n {
			end = p[k].start
		}
		p[i].with, p[i].rank = rank(p[i].id, p[j].id, p[i].start, end)
		if p[i].rank != noRank {
			m.push(candidate{p[i].rank, i})
		}
	}
	for i := range n {
		look(i)
	}
	for len(m.heap) > 0 {
		c := m.pop()
		i := c.index
		if p[i].rank != c.rank || m.next[i] < 0 {
			continue // merged or looked at again since
		}
		j := m.next[i]
		p[i].id = p[i].with
		m.next[i] = m.next[j]
		if m.next[j] < n {
			m.prev[m.next[j]] = i
		}
		m.next[j], p[j].rank = -1, noRank
		look(i)
		if m.prev[i] >= 0 {
			look(m.prev[i])
		}
	}
	out := p[:0]
	for i := int32(0); i < n; {
		following := m.next[i]
		out = append(out, p[i])
		i = following
	}
	return out
}

func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.index < d.index
}

func (m *merger) push(c candidate) {
	h := append(m.heap, c)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
	m.heap = h
}

func (m *merger) pop() candidate {
	h := m.heap
	top := h[0]
	h[0] = h[len(h)-1]
	h = h[:len(h)-1]
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(h[i]) {
			break
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
	m.heap = h
	return top
}
