package fit

// stack is the order in which blocks were used, for distances: how many
// different blocks were used since a place. It is a Fenwick tree over places,
// which only grow until they are counted anew.
type stack struct {
	tree []int32 // from 1; a power of two long
	next int32
	used int64
}

func newStack() *stack { return &stack{tree: make([]int32, 1<<12)} }

// full tells whether it is time to move places together.
func (s *stack) full() bool { return int(s.next)+1 >= len(s.tree)*3/4 }

// push takes the next place.
func (s *stack) push() int32 {
	if int(s.next)+1 >= len(s.tree) {
		s.grow()
	}
	p := s.next
	s.next++
	s.change(p, 1)
	s.used++
	return p
}

// grow doubles the tree. Of the new half only the first node sums over the old.
func (s *stack) grow() {
	n := len(s.tree)
	s.tree = append(s.tree, make([]int32, n)...)
	s.tree[n] = int32(s.used)
}

func (s *stack) remove(p int32) {
	s.change(p, -1)
	s.used--
}

func (s *stack) change(p, by int32) {
	for i := int(p) + 1; i < len(s.tree); i += i & -i {
		s.tree[i] += by
	}
}

// distance counts the places from p on that are in use, p's own among them.
func (s *stack) distance(p int32) int64 {
	below := int64(0)
	for i := int(p); i > 0; i -= i & -i {
		below += int64(s.tree[i])
	}
	return s.used - below
}

// reset makes the first n places the ones in use, with room for as many again.
func (s *stack) reset(n int) {
	size := 1 << 12
	for size < 3*n {
		size *= 2
	}
	if size > len(s.tree) {
		s.tree = make([]int32, size)
	}
	size = len(s.tree)
	s.next, s.used = int32(n), int64(n)
	for i := range s.tree {
		s.tree[i] = 0
	}
	for i := 1; i < size; i++ {
		if i <= n {
			s.tree[i]++
		}
		if up := i + i&-i; up < size {
			s.tree[up] += s.tree[i]
		}
	}
}
