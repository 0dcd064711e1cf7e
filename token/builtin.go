package token

import (
	_ "embed"
	"fmt"
)

//go:embed cl100k.bin
var cl100k []byte

// Builtin returns the built-in codec: cl100k_base without its special tokens,
// which in a text count as the text that they are. Making it takes a few
// milliseconds; it is then shared.
func Builtin() Codec {
	var blob []byte
	offsets := []uint32{0}
	for b := cl100k; len(b) > 0; {
		n := int(b[0])
		blob = append(blob, b[1:1+n]...)
		offsets = append(offsets, uint32(len(blob)))
		b = b[1+n:]
	}
	return &builtin{newVocabulary(blob, offsets)}
}

type builtin struct{ v *vocabulary }

func (*builtin) Name() string { return "builtin cl100k_base" }

func (c *builtin) Count(text string) (int, error) {
	n := 0
	var m merger
	for len(text) > 0 {
		piece := text[:cl100kPiece(text, 3)]
		text = text[len(piece):]
		if _, ok := c.v.lookup(piece); ok {
			n++
			continue
		}
		n += len(c.merge(&m, piece))
	}
	return n, nil
}

func (c *builtin) Encode(ids []uint32, text string) ([]uint32, error) {
	var m merger
	for len(text) > 0 {
		piece := text[:cl100kPiece(text, 3)]
		text = text[len(piece):]
		if id, ok := c.v.lookup(piece); ok {
			ids = append(ids, id)
			continue
		}
		for _, p := range c.merge(&m, piece) {
			ids = append(ids, p.id)
		}
	}
	return ids, nil
}

// merge merges by the vocabulary alone: what two neighbours make together is a
// token or not, and its id is its rank.
func (c *builtin) merge(m *merger, piece string) []part {
	m.parts = m.parts[:0]
	for i := range len(piece) {
		id, _ := c.v.lookup(piece[i : i+1])
		m.parts = append(m.parts, part{id: id, start: int32(i)})
	}
	return m.merge(len(piece), func(_, _ uint32, from, to int32) (id, rank uint32) {
		id, ok := c.v.lookup(piece[from:to])
		if !ok {
			return 0, noRank
		}
		return id, id
	})
}

func (c *builtin) Decode(b []byte, ids []uint32) ([]byte, error) {
	for _, id := range ids {
		t := c.v.token(id)
		if t == nil {
			return b, fmt.Errorf("no token has the id %d", id)
		}
		b = append(b, t...)
	}
	return b, nil
}
