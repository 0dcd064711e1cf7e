package token

import (
	"fmt"
	"sync"
)

// codec is the way of every tokenizer of our own: added tokens are found in a
// text, what is between them is normalized and cut into pieces, and the model
// turns each piece into ids.
type codec struct {
	name  string
	added *added // found before the text is normalized; nil: none
	// normalize is nil where nothing is changed.
	normalize func(string) string
	// after are the added tokens found in normalized text; nil: none.
	after *added
	steps []step
	model model
	// front says that the model's tokens hold a space that stands in front of
	// every text.
	front   bool
	scratch sync.Pool
}

// model turns pieces into ids. It is safe for concurrent use.
type model interface {
	// encode appends the ids of a piece to s.ids.
	encode(s *scratch, piece string)
	// bytes returns what an id stands for, nothing if there is none.
	bytes(id uint32) []byte
}

// scratch is the memory of one encoding at a time.
type scratch struct {
	ids   []uint32
	m     merger
	cache []cached
	vit   []node
	// start says that the section being cut begins the text.
	start bool
}

// cached is a piece that was merged before, and what it became.
type cached struct {
	hash  uint64
	piece [cachedPiece]byte
	n     uint8
	count uint8
	ids   [cachedIDs]uint32
}

const (
	cachedPiece = 22
	cachedIDs   = 8
	cacheSize   = 1 << 12
)

func (c *codec) get() *scratch {
	if s, ok := c.scratch.Get().(*scratch); ok {
		return s
	}
	return &scratch{}
}

// put keeps a scratch for the next text, unless a very long one made it large.
func (c *codec) put(s *scratch) {
	if cap(s.ids) > 1<<20 || cap(s.m.parts) > 1<<18 || cap(s.vit) > 1<<18 {
		return
	}
	s.ids = s.ids[:0]
	c.scratch.Put(s)
}

func (c *codec) Name() string { return c.name }

func (c *codec) Count(text string) (int, error) {
	s := c.get()
	defer c.put(s)
	err := c.encode(s, text)
	return len(s.ids), err
}

func (c *codec) Encode(ids []uint32, text string) ([]uint32, error) {
	s := c.get()
	defer c.put(s)
	err := c.encode(s, text)
	return append(ids, s.ids...), err
}

func (c *codec) Decode(b []byte, ids []uint32) ([]byte, error) {
	for _, id := range ids {
		t := c.model.bytes(id)
		if len(t) == 0 {
			if t = c.addedText(id); t == nil {
				return b, fmt.Errorf("no token has the id %d", id)
			}
		}
		b = append(b, t...)
	}
	return b, nil
}

// Text returns what ids say as a text: what [Codec.Decode] gives, without the
// space that the tokenizer puts in front of every text.
func Text(c Codec, ids []uint32) (string, error) {
	b, err := c.Decode(nil, ids)
	if own, ok := c.(*codec); ok && own.front && len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	return string(b), err
}

func (c *codec) addedText(id uint32) []byte {
	for _, a := range []*added{c.added, c.after} {
		if t := a.text(id); t != nil {
			return t
		}
	}
	return nil
}

// encode appends the ids of a text to s.ids.
func (c *codec) encode(s *scratch, text string) error {
	s.ids = s.ids[:0]
	from, at := 0, 0
	for {
		m := c.added.next(text, from, at)
		if m.start > from {
			if err := c.section(s, text[from:m.start], from == 0); err != nil {
				return err
			}
		}
		if !m.ok {
			return nil
		}
		s.ids = append(s.ids, m.id)
		from, at = m.end, m.at
	}
}

// section encodes what is between the tokens found in a text.
func (c *codec) section(s *scratch, text string, start bool) error {
	if c.normalize != nil {
		text = c.normalize(text)
	}
	from, at := 0, 0
	for {
		m := c.after.next(text, from, at)
		if m.start > from {
			s.start = start && from == 0
			if err := c.cut(s, c.steps, text[from:m.start]); err != nil {
				return err
			}
		}
		if !m.ok {
			return nil
		}
		s.ids = append(s.ids, m.id)
		from, at = m.end, m.at
	}
}
