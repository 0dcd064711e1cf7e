package token

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/valyala/fastjson"
)

// maxID bounds token ids, so that a file cannot ask for any amount of memory.
const maxID = 1 << 22

// model reads the BPE model: vocabulary and merges.
func (c *hf) model(m *fastjson.Value) error {
	vocab, merges := m.GetObject("vocab"), m.Get("merges")
	kind := string(m.GetStringBytes("type"))
	if kind == "" && vocab != nil && merges != nil {
		kind = "BPE" // files of old had no type
	}
	switch {
	case kind != "BPE":
		return fmt.Errorf("model of type %q: only BPE is known", kind)
	case vocab == nil || merges == nil:
		return errors.New("model without vocab or merges")
	case m.GetBool("byte_fallback"):
		return errors.New("model with byte_fallback (SentencePiece family): only byte-level BPE is known")
	case m.GetFloat64("dropout") != 0:
		return errors.New("model with dropout: its counts are random")
	}
	for _, k := range []string{"continuing_subword_prefix", "end_of_word_suffix"} {
		if len(m.GetStringBytes(k)) > 0 {
			return fmt.Errorf("model with %s: not known", k)
		}
	}
	ids, err := c.vocab(vocab)
	if err != nil {
		return err
	}
	if unk := m.GetStringBytes("unk_token"); len(unk) > 0 {
		c.unknown, c.hasUnk = ids[string(unk)]
	}
	c.direct = m.GetBool("ignore_merges")
	return c.merges(merges, ids)
}

// vocab fills the vocabulary and returns the ids by their names in the file.
func (c *hf) vocab(o *fastjson.Object) (map[string]uint32, error) {
	ids := make(map[string]uint32, o.Len())
	top := -1
	var err error
	o.Visit(func(k []byte, v *fastjson.Value) {
		id, e := v.Uint()
		if e != nil || id > maxID {
			err = fmt.Errorf("vocab: token %.40q: expected an id from 0 to %d", k, maxID)
			return
		}
		ids[string(k)] = uint32(id)
		top = max(top, int(id))
	})
	if err != nil {
		return nil, err
	}
	names := make([]string, top+1)
	for name, id := range ids {
		names[id] = name
	}
	var blob []byte
	offsets := make([]uint32, 1, len(names)+1)
	chars := byteChars()
	for id, name := range names {
		start := len(blob)
		var ok bool
		if blob, ok = appendBytes(blob, name, &chars); !ok {
			// Not of the byte alphabet: a special token, found as an added one.
			blob = blob[:start]
		}
		if t := blob[start:]; len(t) == 1 && !c.known[t[0]] {
			c.bytes[t[0]], c.known[t[0]] = uint32(id), true
		}
		offsets = append(offsets, uint32(len(blob)))
	}
	c.v = newVocabulary(blob, offsets)
	c.checked = make([]atomic.Uint32, len(names))
	return ids, nil
}

// merges reads the list of merges, in order of their ranks: "a b" or ["a","b"].
func (c *hf) merges(list *fastjson.Value, ids map[string]uint32) error {
	items, err := list.Array()
	if err != nil {
		return errors.New("merges: expected a list")
	}
	c.pairs = make(map[uint64]merged, len(items))
	var name []byte
	for rank, item := range items {
		var a, b string
		if two, err := item.Array(); err == nil && len(two) == 2 {
			a, b = string(two[0].GetStringBytes()), string(two[1].GetStringBytes())
		} else {
			var ok bool
			if a, b, ok = strings.Cut(string(item.GetStringBytes()), " "); !ok {
				return fmt.Errorf("merges: number %d: expected two tokens", rank)
			}
		}
		ia, oka := ids[a]
		ib, okb := ids[b]
		name = append(append(name[:0], a...), b...)
		id, ok := ids[string(name)]
		if !oka || !okb || !ok {
			return fmt.Errorf("merges: number %d: %.40q and %.40q or what they make together is not in the vocabulary", rank, a, b)
		}
		c.pairs[pair(ia, ib)] = merged{id, uint32(rank)}
	}
	return nil
}

// byteChars returns the alphabet in which byte-level BPE writes bytes: those
// that print stand for themselves, the others for U+0100 on, in order.
func byteChars() (chars [256]rune) {
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if '!' <= r && r <= '~' || 0xA1 <= r && r <= 0xAC || 0xAE <= r && r <= 0xFF {
			chars[b] = r
			continue
		}
		chars[b] = next
		next++
	}
	return chars
}

// appendBytes appends the bytes that a token's name stands for, or returns
// false if it is not written in the byte alphabet.
func appendBytes(dst []byte, name string, chars *[256]rune) ([]byte, bool) {
	for _, r := range name {
		switch {
		case r < 256 && chars[r] == r:
			dst = append(dst, byte(r))
		case 256 <= r && r < 256+68:
			b := hiddenByte(r)
			dst = append(dst, b)
		default:
			return dst, false
		}
	}
	return dst, len(name) > 0
}

// hiddenByte is the byte that U+0100 and those behind it stand for.
func hiddenByte(r rune) byte {
	switch i := int(r) - 256; {
	case i <= 32:
		return byte(i) // 0x00..0x20
	case i <= 32+34:
		return byte(i - 33 + 0x7F) // 0x7F..0xA0
	default:
		return 0xAD
	}
}
