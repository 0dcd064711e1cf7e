package face

import (
	"unicode/utf8"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// Codec gives and takes token ids.
type Codec interface {
	Encode(ids []uint32, text string) ([]uint32, error)
	Decode(b []byte, ids []uint32) ([]byte, error)
}

// Language turns text into tokens and back, and knows what to answer. It is
// safe for concurrent use.
type Language struct {
	Codec
	answers *text.Answers
}

// NewLanguage returns the language of a codec.
func NewLanguage(c Codec) *Language {
	return &Language{Codec: c, answers: text.NewAnswers(func(w string) uint32 {
		ids, err := c.Encode(nil, w)
		if err != nil || len(ids) == 0 {
			return 0
		}
		return ids[0]
	})}
}

// Words cuts s into its tokens. A token that ends inside a character carries
// no text; the character comes with its last token.
func (l *Language) Words(s string) ([]text.Word, error) {
	ids, err := l.Encode(nil, s)
	if err != nil {
		return nil, err
	}
	out := make([]text.Word, 0, len(ids))
	var held []byte
	for i, id := range ids {
		if held, err = l.Decode(held, []uint32{id}); err != nil {
			return nil, err
		}
		if !utf8.Valid(held) && i < len(ids)-1 {
			out = append(out, text.Word{ID: id})
			continue
		}
		out = append(out, text.NewWord(string(held), id))
		held = held[:0]
	}
	return out, nil
}

// content is a prompt and its answer as the prefix cache sees them.
type content struct {
	ids    []uint32
	answer text.Answer
}

var _ core.Content = (*content)(nil)

// Block mixes the ids of block i into the key before it.
func (c *content) Block(key uint64, i, size int64) uint64 {
	for t := i * size; t < (i+1)*size; t++ {
		id := uint32(0)
		if t < int64(len(c.ids)) {
			id = c.ids[t]
		} else {
			id = c.answer.Next().ID
		}
		key = core.Mix(key, uint64(id))
	}
	return key
}

// Fingerprint is a hash of a prompt.
func Fingerprint(ids []uint32) uint64 {
	h := uint64(len(ids))
	for _, id := range ids {
		h = core.Mix(h, uint64(id))
	}
	return h
}

func saltKey(salt string) uint64 {
	h := uint64(1)
	for i := range len(salt) {
		h = core.Mix(h, uint64(salt[i]))
	}
	return h
}
