package text

import (
	"unicode"
	"unicode/utf8"
)

// Pieces cuts text roughly as byte-pair tokenizers cut it before they merge: a
// word with the space before it, up to three digits, a run of punctuation. It
// knows no vocabulary; a long word counts as one token for each 16 bytes.
type Pieces struct{}

// Encode appends an id for each piece: a hash of it.
func (Pieces) Encode(ids []uint32, s string) ([]uint32, error) {
	for len(s) > 0 {
		n := next(s)
		for piece := s[:n]; len(piece) > 0; {
			cut := min(len(piece), 16)
			for cut < len(piece) && !utf8.RuneStart(piece[cut]) {
				cut++
			}
			ids = append(ids, hash(piece[:cut]))
			piece = piece[cut:]
		}
		s = s[n:]
	}
	return ids, nil
}

// next returns the length of the first piece.
func next(s string) int {
	i := 0
	if s[0] == ' ' && len(s) > 1 {
		i = 1
	}
	first, size := utf8.DecodeRuneInString(s[i:])
	i += size
	kind, digits := class(first), 1
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if class(r) != kind || kind == 'd' && digits == 3 {
			break
		}
		i, digits = i+size, digits+1
	}
	return i
}

func class(r rune) byte {
	switch {
	case unicode.IsLetter(r):
		return 'l'
	case unicode.IsDigit(r):
		return 'd'
	case unicode.IsSpace(r):
		return 's'
	}
	return 'p'
}

func hash(s string) uint32 {
	h := uint32(2166136261) // FNV-1a
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
