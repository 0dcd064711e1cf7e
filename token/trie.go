package token

import (
	"hash/maphash"
	"math/bits"
)

// trie finds the tokens that a text begins with, byte by byte. State 0 is the
// beginning, and what next returns where no token goes on.
type trie struct {
	mix   uint64 // odd, seeded
	edges []edge
	used  int
	last  uint32
}

// edge leads from a state by a byte to the next; there, 0: free. token is what
// ends there, or noToken.
type edge struct {
	key         uint64
	next, token uint32
}

const noToken = noRank

func newTrie() *trie {
	return &trie{mix: maphash.Comparable(maphash.MakeSeed(), "mix") | 1, edges: make([]edge, 1<<10)}
}

// find returns the place of a key, or the free one where it would be.
func (t *trie) find(key uint64) *edge {
	hi, lo := bits.Mul64(key, t.mix)
	for h := int(hi ^ lo); ; h++ {
		e := &t.edges[h&(len(t.edges)-1)]
		if e.key == key || e.next == 0 {
			return e
		}
	}
}

// next follows a byte.
func (t *trie) next(state uint32, c byte) (following, token uint32) {
	e := t.find(pair(state, uint32(c)))
	return e.next, e.token
}

// add adds a token that is not empty; of equal ones the first counts.
func (t *trie) add(token []byte, id uint32) {
	state := uint32(0)
	for i, c := range token {
		key := pair(state, uint32(c))
		e := t.find(key)
		if e.next == 0 {
			if 3*t.used > 2*len(t.edges) {
				t.grow()
				e = t.find(key)
			}
			t.used++
			t.last++
			*e = edge{key, t.last, noToken}
		}
		if i == len(token)-1 && e.token == noToken {
			e.token = id
		}
		state = e.next
	}
}

func (t *trie) grow() {
	old := t.edges
	t.edges = make([]edge, 2*len(old))
	for _, e := range old {
		if e.next != 0 {
			*t.find(e.key) = e
		}
	}
}

// longest returns the longest token that a text begins with, and its length; 0
// if there is none.
func (t *trie) longest(s string) (n int, token uint32) {
	state := uint32(0)
	for i := range len(s) {
		following, at := t.next(state, s[i])
		if following == 0 {
			break
		}
		if at != noToken {
			n, token = i+1, at
		}
		state = following
	}
	return n, token
}
