package token

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/valyala/fastjson"
)

// maxID bounds token ids, so that a file cannot ask for any amount of memory.
const maxID = 1 << 22

// find returns the id of a name by looking at all.
func (t *table) find(name string) (uint32, bool) {
	for id := range len(t.offsets) - 1 {
		if string(t.at(uint32(id))) == name {
			return uint32(id), true
		}
	}
	return 0, false
}

func tokenID(v *fastjson.Value) (uint32, bool) {
	if v == nil {
		return 0, false
	}
	id, err := v.Uint64()
	return uint32(id), err == nil && id <= maxID
}

// readBPE makes the model of a file whose vocabulary and merges are read
// already. byteLevel says that names are in the byte alphabet.
func readBPE(m *fastjson.Value, names *table, merges []mergeRule, byteLevel bool) (*bpe, error) {
	if m.GetFloat64("dropout") != 0 {
		return nil, errors.New("model.dropout: its counts are random")
	}
	for _, k := range []string{"continuing_subword_prefix", "end_of_word_suffix"} {
		if len(m.GetStringBytes(k)) > 0 {
			return nil, fmt.Errorf("model.%s is not known", k)
		}
	}
	b := &bpe{chars: !byteLevel, direct: m.GetBool("ignore_merges"), fuse: m.GetBool("fuse_unk")}
	if unk := m.GetStringBytes("unk_token"); len(unk) > 0 {
		if b.unknown, b.hasUnk = names.find(string(unk)); !b.hasUnk {
			return nil, fmt.Errorf("model.unk_token: %.40q is not in the vocabulary", unk)
		}
	}
	b.pairs = newPairTable(len(merges))
	for rank, r := range merges {
		b.pairs.put(pair(r.a, r.b), r.to, uint32(rank))
	}
	if byteLevel {
		if m.GetBool("byte_fallback") {
			return nil, errors.New("model.byte_fallback behind pre-tokenizer ByteLevel is not known")
		}
		b.alphabet(names)
	} else {
		b.v = newVocabulary(names.blob, names.offsets)
		if m.GetBool("byte_fallback") {
			b.byteTokens()
		}
		b.findJoints(merges)
	}
	b.checked = make([]atomic.Uint32, b.v.size())
	return b, nil
}

// alphabet takes names in the byte alphabet for the bytes that they stand for.
func (b *bpe) alphabet(names *table) {
	chars := byteChars()
	t := table{blob: make([]byte, 0, len(names.blob)), offsets: make([]uint32, 1, len(names.offsets))}
	for id := range len(names.offsets) - 1 {
		start := len(t.blob)
		var ok bool
		if t.blob, ok = appendBytes(t.blob, names.at(uint32(id)), &chars); !ok {
			// Not of the byte alphabet: a special token, found as an added one.
			t.blob = t.blob[:start]
		}
		if c := t.blob[start:]; len(c) == 1 && !b.known[c[0]] {
			b.single[c[0]], b.known[c[0]] = uint32(id), true
		}
		t.offsets = append(t.offsets, uint32(len(t.blob)))
	}
	b.v, b.text = newVocabulary(t.blob, t.offsets), t
}

// byteTokens finds the tokens <0x00> to <0xFF>.
func (b *bpe) byteTokens() {
	for c := range 256 {
		b.single[c], b.known[c] = b.v.lookup(fmt.Sprintf("<0x%02X>", c))
		b.fallback = b.fallback || b.known[c]
	}
}

// spaceMark is what SentencePiece writes for a space.
const spaceMark = "\u2581"

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
func appendBytes(dst, name []byte, chars *[256]rune) ([]byte, bool) {
	for _, r := range string(name) {
		switch {
		case r < 256 && chars[r] == r:
			dst = append(dst, byte(r))
		case 256 <= r && r < 256+68:
			dst = append(dst, hiddenByte(r))
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
