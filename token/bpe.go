package token

import (
	"hash/maphash"
	"sync/atomic"
	"unicode/utf8"
)

// bpe merges the parts of a piece pair by pair, that of the lowest rank first.
type bpe struct {
	v *vocabulary // of the tokens as they stand in a piece
	// pairs says what two tokens become; nil: what their text is in the
	// vocabulary.
	pairs *pairTable
	// ranks by id, where pairs is nil; nil too: a token's id is its rank.
	ranks []uint32
	// direct says that a piece that is a token is taken as it is.
	direct bool
	// checked says of each token whether merging its parts gives the token: 0
	// not tried yet, 1 yes, 2 no.
	checked []atomic.Uint32

	// chars says that a piece begins as its characters, else as its bytes.
	chars bool
	// single are the tokens of one byte, of those there are: all bytes of a
	// piece, or where it begins as characters those of one that is no token.
	single   [256]uint32
	known    [256]bool
	fallback bool // all 256 are there
	// unknown is the token for what is none; hasUnk: there is one; fuse: a run
	// of such characters is one of it.
	unknown      uint32
	hasUnk, fuse bool

	// late says that characters which are no tokens may merge by their text, and
	// that what is unknown becomes bytes or one token only afterwards, as
	// SentencePiece does.
	late bool
	// frozen are the tokens found first, which merge with nothing; nil: none.
	frozen *trie

	// joints says where a piece can be cut; nil: nowhere.
	joints *joints

	text table // what ids stand for
}

// table is texts by id.
type table struct {
	blob    []byte
	offsets []uint32
}

func (t *table) at(id uint32) []byte {
	if int64(id)+1 >= int64(len(t.offsets)) {
		return nil
	}
	return t.blob[t.offsets[id]:t.offsets[id+1]]
}

func (t *table) add(b []byte) {
	if t.offsets == nil {
		t.offsets = append(t.offsets, 0)
	}
	t.blob = append(t.blob, b...)
	t.offsets = append(t.offsets, uint32(len(t.blob)))
}

func (b *bpe) bytes(id uint32) []byte { return b.text.at(id) }

func (b *bpe) encode(s *scratch, piece string) {
	if b.joints == nil {
		b.word(s, piece)
		return
	}
	if b.direct { // as a whole, not in parts
		if id, ok := b.v.lookup(piece); ok {
			s.ids = append(s.ids, id)
			return
		}
	}
	for len(piece) > 0 {
		n := b.joints.cut(piece)
		b.word(s, piece[:n])
		piece = piece[n:]
	}
}

// word appends the ids of a piece across whose ends nothing merges.
func (b *bpe) word(s *scratch, w string) {
	id, ok := b.v.lookup(w)
	if ok && (b.direct && b.joints == nil || b.checked[id].Load() == 1) {
		s.ids = append(s.ids, id)
		return
	}
	if len(w) > cachedPiece {
		b.merge(s, w)
		return
	}
	if s.cache == nil {
		s.cache = make([]cached, cacheSize)
	}
	hash := maphash.String(b.v.seed, w)
	e := &s.cache[hash%cacheSize]
	if e.hash == hash && string(e.piece[:e.n]) == w {
		s.ids = append(s.ids, e.ids[:e.count]...)
		return
	}
	before := len(s.ids)
	b.merge(s, w)
	made := s.ids[before:]
	if ok {
		state := uint32(2)
		if len(made) == 1 && made[0] == id {
			state = 1
		}
		b.checked[id].Store(state)
	}
	if len(made) <= cachedIDs {
		e.hash, e.n, e.count = hash, uint8(len(w)), uint8(len(made))
		copy(e.piece[:], w)
		copy(e.ids[:], made)
	}
}

// merge appends what merging gives.
func (b *bpe) merge(s *scratch, w string) {
	m := &s.m
	m.parts = m.parts[:0]
	switch {
	case b.late:
		b.lateParts(m, w)
	case b.chars:
		b.characters(m, w)
	default:
		b.byteParts(m, w)
	}
	var parts []part
	switch {
	case b.pairs != nil:
		parts = m.merge(len(w), func(x, y uint32, _, _ int32) (id, rank uint32) {
			return b.pairs.get(pair(x, y))
		})
	default:
		parts = m.merge(len(w), func(x, y uint32, from, to int32) (id, rank uint32) {
			if b.frozen != nil && (b.isFrozen(x) || b.isFrozen(y)) {
				return 0, noRank
			}
			return b.ranked(w[from:to])
		})
	}
	if b.late {
		b.finish(s, parts, w)
		return
	}
	for i := range parts {
		s.ids = append(s.ids, parts[i].id)
	}
}

// finish turns unknown parts into bytes, or each run of them into one.
func (b *bpe) finish(s *scratch, parts []part, w string) {
	for i := range parts {
		switch {
		case parts[i].id != b.unknown:
			s.ids = append(s.ids, parts[i].id)
		case b.fallback:
			end := len(w)
			if i+1 < len(parts) {
				end = int(parts[i+1].start)
			}
			for _, c := range []byte(w[parts[i].start:end]) {
				s.ids = append(s.ids, b.single[c])
			}
		case i == 0 || parts[i-1].id != b.unknown:
			s.ids = append(s.ids, b.unknown)
		}
	}
}

// ranked looks a text up that two parts make together.
func (b *bpe) ranked(text string) (id, rank uint32) {
	id, ok := b.v.lookup(text)
	switch {
	case !ok:
		return 0, noRank
	case b.ranks != nil:
		return id, b.ranks[id]
	}
	return id, id
}

// isFrozen tells whether a token is one of those found first.
func (b *bpe) isFrozen(id uint32) bool {
	t := b.v.token(id)
	n, found := b.frozen.longest(string(t))
	return n == len(t) && n > 0 && found == id
}

// byteParts begins with a piece's bytes.
func (b *bpe) byteParts(m *merger, w string) {
	unknown := false
	for i := range len(w) {
		c := w[i]
		switch {
		case b.known[c]:
			m.parts = append(m.parts, part{id: b.single[c], start: int32(i)})
		case b.hasUnk && !(b.fuse && unknown):
			m.parts = append(m.parts, part{id: b.unknown, start: int32(i)})
		}
		unknown = !b.known[c]
	}
}

// characters begins with a piece's characters. One that is no token becomes its
// bytes, where these are tokens, else the unknown token, which waits for others
// to join it.
func (b *bpe) characters(m *merger, w string) {
	waiting := int32(-1)
	flush := func() {
		if waiting >= 0 {
			m.parts = append(m.parts, part{id: b.unknown, start: waiting})
			waiting = -1
		}
	}
	for i := 0; i < len(w); {
		_, n := utf8.DecodeRuneInString(w[i:])
		c := w[i : i+n]
		if id, ok := b.v.lookup(c); ok {
			flush()
			m.parts = append(m.parts, part{id: id, start: int32(i)})
		} else if b.fallback && b.allKnown(c) {
			for j := range n {
				m.parts = append(m.parts, part{id: b.single[c[j]], start: int32(i + j)})
			}
		} else if b.hasUnk {
			if !b.fuse {
				flush()
			}
			if waiting < 0 {
				waiting = int32(i)
			}
		}
		i += n
	}
	flush()
}

// lateParts begins with a piece's characters and frozen tokens.
func (b *bpe) lateParts(m *merger, w string) {
	for i := 0; i < len(w); {
		n, id := 0, uint32(0)
		if b.frozen != nil {
			n, id = b.frozen.longest(w[i:])
		}
		if n == 0 {
			_, n = utf8.DecodeRuneInString(w[i:])
			var ok bool
			if id, ok = b.v.lookup(w[i : i+n]); !ok {
				id = b.unknown
			}
		}
		m.parts = append(m.parts, part{id: id, start: int32(i)})
		i += n
	}
}

func (b *bpe) allKnown(c string) bool {
	for i := range len(c) {
		if !b.known[c[i]] {
			return false
		}
	}
	return true
}
