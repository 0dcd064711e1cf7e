package token

import "hash/maphash"

// vocabulary is a set of tokens: bytes by id, and ids by bytes.
type vocabulary struct {
	blob    []byte
	offsets []uint32 // token id is blob[offsets[id]:offsets[id+1]]
	seed    maphash.Seed
	table   []uint32 // open addressing; id+1, 0: free
}

// newVocabulary takes tokens that lie in blob one after the other; an empty
// token is an id without one.
func newVocabulary(blob []byte, offsets []uint32) *vocabulary {
	v := &vocabulary{blob: blob, offsets: offsets, seed: maphash.MakeSeed()}
	size := 1
	for size < 2*len(offsets) {
		size *= 2
	}
	v.table = make([]uint32, size)
	mask := uint64(size - 1)
	for id := range len(offsets) - 1 {
		t := v.token(uint32(id))
		if len(t) == 0 {
			continue
		}
		h := maphash.Bytes(v.seed, t) & mask
		for v.table[h] != 0 {
			h = (h + 1) & mask
		}
		v.table[h] = uint32(id) + 1
	}
	return v
}

func (v *vocabulary) size() int { return len(v.offsets) - 1 }

// token returns the bytes of an id, nil if there is none.
func (v *vocabulary) token(id uint32) []byte {
	if int64(id) >= int64(v.size()) {
		return nil
	}
	return v.blob[v.offsets[id]:v.offsets[id+1]]
}

// lookup returns the id of a text.
func (v *vocabulary) lookup(text string) (uint32, bool) {
	mask := uint64(len(v.table) - 1)
	h := maphash.String(v.seed, text) & mask
	for v.table[h] != 0 {
		id := v.table[h] - 1
		if string(v.token(id)) == text {
			return id, true
		}
		h = (h + 1) & mask
	}
	return 0, false
}
