package token

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/valyala/fastjson"
)

// unknownPenalty is how much worse than the worst token an unknown character is
// to a unigram model.
const unknownPenalty = 10

// unigram takes of all ways to write a piece as tokens the one whose scores add
// up to the most (Viterbi).
type unigram struct {
	trie *trie
	// scores by id: logarithms of probability.
	scores []float64
	// single says that sums are kept in 32 bits, as SentencePiece does.
	single  bool
	unknown uint32
	penalty float64 // score of an unknown character

	bytesOf  [256]uint32 // tokens of bytes
	fallback bool        // an unknown character is its bytes
	v        *vocabulary // finds what several unknown characters are together; nil: unknown
	text     table
}

// node is the best way to a place in a piece: its score, and the token that
// ends there.
type node struct {
	score float64
	from  int32 // -1: none
	id    uint32
}

func (u *unigram) bytes(id uint32) []byte { return u.text.at(id) }

func (u *unigram) encode(s *scratch, piece string) {
	v := s.vit[:0]
	for range len(piece) + 1 {
		v = append(v, node{from: -1})
	}
	v[0].from = 0
	s.vit = v
	for at := 0; at < len(piece); {
		_, size := utf8.DecodeRuneInString(piece[at:])
		base, single := v[at].score, false
		state := uint32(0)
		for end := at; end < len(piece); {
			var id uint32
			if state, id = u.trie.next(state, piece[end]); state == 0 {
				break
			}
			if end++; id != noToken {
				u.offer(&v[end], base+u.scores[id], at, id)
				single = single || end-at == size
			}
		}
		if !single {
			u.offer(&v[at+size], base+u.penalty, at, u.unknown)
		}
		at += size
	}
	u.collect(s, piece)
}

// offer takes a way if it is the first or a better one.
func (u *unigram) offer(n *node, score float64, from int, id uint32) {
	if n.from >= 0 && score <= n.score {
		return
	}
	if u.single {
		score = float64(float32(score))
	}
	*n = node{score, int32(from), id}
}

// collect appends the ids of the best way. Unknown characters in a row are one.
func (u *unigram) collect(s *scratch, piece string) {
	v := s.vit
	// Turn the way around: from becomes where the following token ends.
	following := int32(-1)
	for end := int32(len(piece)); end > 0; {
		from := v[end].from
		v[end].from = following
		following, end = end, from
	}
	at := int32(0)
	for end := following; end >= 0; {
		id, from := v[end].id, at
		at, end = end, v[end].from
		if id != u.unknown {
			s.ids = append(s.ids, id)
			continue
		}
		for end >= 0 && v[end].id == u.unknown {
			at, end = end, v[end].from
		}
		u.unknownText(s, piece[from:at])
	}
}

// unknownText appends what characters that are no tokens become.
func (u *unigram) unknownText(s *scratch, text string) {
	if u.v != nil {
		if id, ok := u.v.lookup(text); ok {
			s.ids = append(s.ids, id)
			return
		}
	}
	if !u.fallback {
		s.ids = append(s.ids, u.unknown)
		return
	}
	for i := range len(text) {
		s.ids = append(s.ids, u.bytesOf[text[i]])
	}
}

// readUnigram makes the model of a tokenizer.json.
func readUnigram(m *fastjson.Value, p *parsed, d decode) (*unigram, error) {
	v := newVocabulary(p.names.blob, p.names.offsets)
	if len(p.scores) == 0 || len(p.scores) != v.size() {
		return nil, errors.New("model.vocab: expected tokens with scores")
	}
	u := &unigram{scores: p.scores, v: v, text: d.table(&p.names), trie: newTrie()}
	low := math.Inf(1)
	for id, score := range u.scores {
		low = min(low, score)
		if t := v.token(uint32(id)); len(t) > 0 {
			u.trie.add(t, uint32(id))
		}
	}
	u.penalty = low - unknownPenalty
	var ok bool
	if u.unknown, ok = tokenID(m.Get("unk_id")); !ok || int(u.unknown) >= v.size() {
		return nil, errors.New("model.unk_id: expected the id of a token")
	}
	if m.GetBool("byte_fallback") {
		u.fallback = true
		for c := range 256 {
			if u.bytesOf[c], ok = v.lookup(fmt.Sprintf("<0x%02X>", c)); !ok {
				return nil, fmt.Errorf("model.byte_fallback: there is no token <0x%02X>", c)
			}
		}
	}
	return u, nil
}
