package token

import (
	"hash/maphash"
	"math/bits"
)

// vocabulary is a set of tokens: bytes by id, and ids by bytes.
//
// Tokens of up to eight bytes, which most pieces of a text are, lie in a table
// of their own that holds them whole: one look into memory tells. The hashes
// are seeded, so that no file can choose tokens that collide.
type vocabulary struct {
	table
	seed    maphash.Seed
	mix     uint64 // odd
	short   []shortToken
	long    []uint64 // the hash's upper half and id+1; 0: free
	longest int      // bytes of the longest token
}

// shortToken is a token of at most eight bytes; n is its length, 0: free.
type shortToken struct {
	key uint64
	id  uint32
	n   uint32
}

const shortLen = 8

// newVocabulary takes tokens that lie in blob one after the other; an empty
// token is an id without one. Of equal tokens the first counts.
func newVocabulary(blob []byte, offsets []uint32) *vocabulary {
	v := &vocabulary{table: table{blob, offsets}, seed: maphash.MakeSeed()}
	v.mix = maphash.Comparable(v.seed, "mix") | 1
	short, long := 1, 1
	for id := range v.size() {
		switch n := len(v.token(uint32(id))); {
		case n == 0:
		case n <= shortLen:
			short++
		default:
			long++
		}
		v.longest = max(v.longest, len(v.token(uint32(id))))
	}
	v.short = make([]shortToken, 1<<bits.Len(uint(2*short)))
	v.long = make([]uint64, 1<<bits.Len(uint(2*long)))
	for id := range v.size() {
		v.insert(uint32(id))
	}
	return v
}

func (v *vocabulary) insert(id uint32) {
	t := v.token(id)
	switch n := len(t); {
	case n == 0:
	case n <= shortLen:
		key := pack(string(t)) // does not escape: no copy is made
		h := v.hash(key, n)
		for ; v.short[h].n != 0; h = (h + 1) & (len(v.short) - 1) {
			if v.short[h].key == key && v.short[h].n == uint32(n) {
				return
			}
		}
		v.short[h] = shortToken{key, id, uint32(n)}
	default:
		sum := maphash.Bytes(v.seed, t)
		h := int(sum) & (len(v.long) - 1)
		for ; v.long[h] != 0; h = (h + 1) & (len(v.long) - 1) {
			if e := v.long[h]; e>>32 == sum>>32 && string(v.token(uint32(e)-1)) == string(t) {
				return
			}
		}
		v.long[h] = sum>>32<<32 | uint64(id+1)
	}
}

// size is one more than the highest id.
func (v *vocabulary) size() int { return max(0, len(v.offsets)-1) }

// token returns the bytes of an id, nothing if there is none.
func (v *vocabulary) token(id uint32) []byte { return v.at(id) }

// lookup returns the id of a text.
func (v *vocabulary) lookup(text string) (uint32, bool) {
	n := len(text)
	if n <= shortLen {
		if n == 0 {
			return 0, false
		}
		key := pack(text)
		h := v.hash(key, n)
		for {
			e := &v.short[h&(len(v.short)-1)]
			if e.n == uint32(n) && e.key == key {
				return e.id, true
			}
			if e.n == 0 {
				return 0, false
			}
			h++
		}
	}
	if n > v.longest {
		return 0, false
	}
	sum := maphash.String(v.seed, text)
	for h := int(sum); ; h++ {
		e := v.long[h&(len(v.long)-1)]
		if e == 0 {
			return 0, false
		}
		if e>>32 == sum>>32 {
			if id := uint32(e) - 1; string(v.token(id)) == text {
				return id, true
			}
		}
	}
}

// hash spreads short keys over their table.
func (v *vocabulary) hash(key uint64, n int) int {
	hi, lo := bits.Mul64(key^uint64(n)<<57, v.mix)
	return int(hi^lo) & (len(v.short) - 1)
}

// pack puts a text of one to eight bytes into a number; with its length that
// tells it from all others.
func pack(s string) uint64 {
	switch n := len(s); {
	case n >= 4:
		return uint64(load4(s)) | uint64(load4(s[n-4:]))<<32
	case n >= 2:
		return uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16
	}
	return uint64(s[0])
}

func load4(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// pairTable tells what two tokens become together, and how early.
type pairTable struct {
	mix     uint64 // odd, seeded
	entries []pairEntry
}

// pairEntry is a pair; a rank of noRank: free.
type pairEntry struct {
	key      uint64
	id, rank uint32
}

func pair(a, b uint32) uint64 { return uint64(a)<<32 | uint64(b) }

// newPairTable makes a table for n pairs.
func newPairTable(n int) *pairTable {
	t := &pairTable{mix: maphash.Comparable(maphash.MakeSeed(), "mix") | 1}
	t.entries = make([]pairEntry, 1<<bits.Len(uint(n+n/2+1)))
	for i := range t.entries {
		t.entries[i].rank = noRank
	}
	return t
}

func (t *pairTable) at(key uint64) int {
	hi, lo := bits.Mul64(key, t.mix)
	return int(hi ^ lo)
}

// put keeps what a pair becomes; of equal pairs the last counts.
func (t *pairTable) put(key uint64, id, rank uint32) {
	for h := t.at(key); ; h++ {
		e := &t.entries[h&(len(t.entries)-1)]
		if e.rank == noRank || e.key == key {
			*e = pairEntry{key, id, rank}
			return
		}
	}
}

// get returns what a pair becomes and its rank, noRank if nothing.
func (t *pairTable) get(key uint64) (id, rank uint32) {
	for h := t.at(key); ; h++ {
		e := &t.entries[h&(len(t.entries)-1)]
		if e.key == key || e.rank == noRank {
			return e.id, e.rank
		}
	}
}
