package fit

// stack is the order in which blocks were used, for distances: how many tokens
// the different blocks have that were used since a place. It is a Fenwick tree
// over places, which only grow until they are counted anew. Its sums are of 32
// bits, so that it holds mostStacked tokens at most.
type stack struct {
	tree []uint32 // from 1; a power of two long
	next int32
	used int64 // tokens
}

// mostStacked is more than any cache of a curve holds.
const mostStacked = 4 << 30

func newStack() *stack { return &stack{tree: make([]uint32, 1<<12)} }

// full tells whether it is time to move places together: there are few left, or
// the next block of so many tokens could be too many.
func (s *stack) full(tokens int64) bool {
	return int(s.next)+1 >= len(s.tree)*3/4 || s.used+tokens >= mostStacked
}

// push takes the next place for a block of so many tokens.
func (s *stack) push(tokens int32) int32 {
	if int(s.next)+1 >= len(s.tree) {
		s.grow()
	}
	p := s.next
	s.next++
	s.change(p, tokens)
	return p
}

// grow doubles the tree. Of the new half only the first node sums over the old.
func (s *stack) grow() {
	n := len(s.tree)
	s.tree = append(s.tree, make([]uint32, n)...)
	s.tree[n] = uint32(s.used)
}

func (s *stack) remove(p, tokens int32) { s.change(p, -tokens) }

func (s *stack) change(p, by int32) {
	s.used += int64(by)
	for i := int(p) + 1; i < len(s.tree); i += i & -i {
		s.tree[i] += uint32(by)
	}
}

// distance is how many tokens the places from p on have, p's own among them.
func (s *stack) distance(p int32) int64 {
	below := int64(0)
	for i := int(p); i > 0; i -= i & -i {
		below += int64(s.tree[i])
	}
	return s.used - below
}

// reset gives the first places to blocks of so many tokens, with room for as
// many again.
func (s *stack) reset(tokens []int32) {
	size := 1 << 12
	for size < 3*len(tokens) {
		size *= 2
	}
	if size > len(s.tree) {
		s.tree = make([]uint32, size)
	}
	clear(s.tree)
	s.next, s.used = int32(len(tokens)), 0
	for i := 1; i < len(s.tree); i++ {
		if i <= len(tokens) {
			s.tree[i] += uint32(tokens[i-1])
			s.used += int64(tokens[i-1])
		}
		if up := i + i&-i; up < len(s.tree) {
			s.tree[up] += s.tree[i]
		}
	}
}
