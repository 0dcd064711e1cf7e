package workload

import (
	"slices"
	"sync"
)

// sent knows how much of each shared text sessions of lower number send, which
// is what a cache can know when a session begins. Sessions are drawn once, in
// order, as far as they are asked for, so that what it says follows from the
// number alone.
type sent struct {
	mu      sync.Mutex
	drawn   uint64 // sessions below are in longest
	longest map[uint64][]length
}

// length is a text's length from a session on: the longest up to it.
type length struct{ session, tokens uint64 }

// before returns how many tokens at the front of c's first prompt, which is
// its prefix and text, sessions before it send as well.
func (s *sent) before(c *conversation, text Block) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; s.drawn < c.index; s.drawn++ {
		s.draw(c.conversation(int64(s.drawn)))
	}
	shared := int64(0)
	if c.class.PrefixTokens > 0 {
		shared = s.at(c.prefixID(), c.index)
		if shared < c.class.PrefixTokens {
			return shared
		}
	}
	if c.class.Reuse {
		shared += min(s.at(c.wholeID(), c.index), text.Tokens)
	}
	return shared
}

func (s *sent) draw(c *conversation) {
	if c.class.PrefixTokens > 0 {
		s.note(c.prefixID(), c.index, c.class.PrefixTokens)
	}
	if c.class.Reuse {
		s.note(c.wholeID(), c.index, c.input(c.index<<20))
	}
}

func (s *sent) note(id, session uint64, tokens int64) {
	list := s.longest[id]
	if len(list) == 0 || list[len(list)-1].tokens < uint64(tokens) {
		s.longest[id] = append(list, length{session, uint64(tokens)})
	}
}

// at returns the longest that sessions below one send of a text.
func (s *sent) at(id, session uint64) int64 {
	list := s.longest[id]
	i, _ := slices.BinarySearchFunc(list, session, func(l length, s uint64) int {
		if l.session < s {
			return -1
		}
		return 1
	})
	if i == 0 {
		return 0
	}
	return int64(list[i-1].tokens)
}

// wholeID names prefix and text together.
func (c *conversation) wholeID() uint64 {
	id := c.contentID()
	if c.class.PrefixTokens > 0 {
		id ^= c.prefixID()
	}
	return id
}
