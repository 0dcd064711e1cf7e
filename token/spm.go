package token

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
)

// pieceTag is what a SentencePiece ModelProto begins with: field 1, the first
// piece.
const pieceTag = 1<<3 | byte(protowire.BytesType)

// The types of pieces.
const (
	pieceNormal = iota + 1
	pieceUnknown
	pieceControl
	pieceUserDefined
	pieceUnused
	pieceByte
)

// The types of models.
const (
	modelUnigram = iota + 1
	modelBPE
	modelWord
	modelChar
)

// modelProto is what a SentencePiece model says of how text becomes ids. What
// is absent has the value that the format gives it.
type modelProto struct {
	pieces        table
	scores        []float32
	types         []uint8
	model         uint64
	byteFallback  bool
	suffix        bool // white space ends a word
	charsmap      []byte
	dummyPrefix   bool
	removeSpaces  bool
	escapeSpaces  bool
	unknown       uint32
	low, high     float32 // scores of normal pieces
	userDefined   *trie
	hasUnused     bool
	unknownPieces int
}

// fields calls f for each field of a message.
func fields(b []byte, f func(num protowire.Number, typ protowire.Type, v []byte, n uint64) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errors.New("no SentencePiece model: a damaged field")
		}
		b = b[n:]
		var v []byte
		var u uint64
		switch typ {
		case protowire.BytesType:
			v, n = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			u, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var w uint32
			w, n = protowire.ConsumeFixed32(b)
			u = uint64(w)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return errors.New("no SentencePiece model: a damaged field")
		}
		b = b[n:]
		if err := f(num, typ, v, u); err != nil {
			return err
		}
	}
	return nil
}

// readModelProto reads a model file.
func readModelProto(data []byte) (*modelProto, error) {
	p := &modelProto{model: modelUnigram, dummyPrefix: true, removeSpaces: true, escapeSpaces: true}
	p.pieces.offsets = []uint32{0}
	err := fields(data, func(num protowire.Number, typ protowire.Type, v []byte, _ uint64) error {
		switch {
		case num > 3 || typ != protowire.BytesType:
			return nil
		case num == 1:
			return p.piece(v)
		case num == 2:
			return fields(v, p.trainer)
		}
		return fields(v, p.normalizer)
	})
	if err != nil {
		return nil, err
	}
	return p, p.check()
}

func (p *modelProto) piece(b []byte) error {
	var text []byte
	score, kind := float32(0), uint64(pieceNormal)
	err := fields(b, func(num protowire.Number, typ protowire.Type, v []byte, u uint64) error {
		switch {
		case num == 1 && typ == protowire.BytesType:
			text = v
		case num == 2 && typ == protowire.Fixed32Type:
			score = math.Float32frombits(uint32(u))
		case num == 3 && typ == protowire.VarintType:
			kind = u
		}
		return nil
	})
	id := len(p.types)
	switch {
	case err != nil:
		return err
	case id > maxID:
		return fmt.Errorf("more than %d pieces", maxID)
	case len(text) == 0:
		return fmt.Errorf("piece %d is empty", id)
	case kind < pieceNormal || kind > pieceByte:
		return fmt.Errorf("piece %d, %.40q: type %d is not known", id, text, kind)
	case score != score || math.IsInf(float64(score), 0):
		return fmt.Errorf("piece %d, %.40q: its score is no number", id, text)
	}
	p.pieces.add(text)
	p.scores = append(p.scores, score)
	p.types = append(p.types, uint8(kind))
	return nil
}

func (p *modelProto) trainer(num protowire.Number, typ protowire.Type, _ []byte, u uint64) error {
	if typ != protowire.VarintType {
		return nil
	}
	switch num {
	case 3:
		p.model = u
	case 24:
		p.suffix = u != 0
	case 35:
		p.byteFallback = u != 0
	}
	return nil
}

func (p *modelProto) normalizer(num protowire.Number, typ protowire.Type, v []byte, u uint64) error {
	switch {
	case num == 2 && typ == protowire.BytesType:
		p.charsmap = v
	case typ != protowire.VarintType:
	case num == 3:
		p.dummyPrefix = u != 0
	case num == 4:
		p.removeSpaces = u != 0
	case num == 5:
		p.escapeSpaces = u != 0
	}
	return nil
}

// check finds what a model must have.
func (p *modelProto) check() error {
	switch p.model {
	case modelUnigram, modelBPE:
	case modelWord:
		return errors.New("SentencePiece model of type WORD is not known")
	case modelChar:
		return errors.New("SentencePiece model of type CHAR is not known")
	default:
		return fmt.Errorf("SentencePiece model of type %d is not known", p.model)
	}
	// The highest score begins at the least positive number, so that where all
	// scores are logarithms it stays there.
	p.low, p.high = math.MaxFloat32, 0x1p-126
	for id, kind := range p.types {
		switch kind {
		case pieceNormal:
			p.low, p.high = min(p.low, p.scores[id]), max(p.high, p.scores[id])
		case pieceUnknown:
			p.unknown = uint32(id)
			p.unknownPieces++
		case pieceUserDefined:
			if p.userDefined == nil {
				p.userDefined = newTrie()
			}
			p.userDefined.add(p.pieces.at(uint32(id)), uint32(id))
		case pieceUnused:
			p.hasUnused = true
		}
	}
	if p.unknownPieces != 1 {
		return fmt.Errorf("%d unknown pieces: expected one", p.unknownPieces)
	}
	return nil
}

// parseModelProto makes the codec of a SentencePiece model.
func parseModelProto(data []byte) (*codec, error) {
	p, err := readModelProto(data)
	if err != nil {
		return nil, err
	}
	norm := &spmNormalizer{modelProto: p}
	if len(p.charsmap) > 0 {
		if norm.rules, err = newCharsmap(p.charsmap); err != nil {
			return nil, fmt.Errorf("normalizer_spec.precompiled_charsmap: %w", err)
		}
	}
	c := &codec{normalize: norm.normalize, front: p.dummyPrefix && !p.suffix}
	bytesOf, err := p.byteIDs()
	if err != nil {
		return nil, err
	}
	if p.model == modelUnigram {
		c.model = p.unigram(bytesOf)
	} else {
		c.model, err = p.bpe(bytesOf)
	}
	return c, err
}

// byteIDs finds the pieces of bytes.
func (p *modelProto) byteIDs() (ids [256]uint32, err error) {
	if !p.byteFallback {
		return ids, nil
	}
	var known [256]bool
	for id, kind := range p.types {
		if kind == pieceByte {
			b, ok := byteName(p.pieces.at(uint32(id)))
			if !ok {
				return ids, fmt.Errorf("piece %d, %.40q: expected a byte such as <0x0A>", id, p.pieces.at(uint32(id)))
			}
			ids[b], known[b] = uint32(id), true
		}
	}
	for b, k := range known {
		if !k {
			return ids, fmt.Errorf("byte_fallback: there is no piece <0x%02X>", b)
		}
	}
	return ids, nil
}

// texts are what ids stand for.
func (p *modelProto) texts() table {
	t := table{blob: make([]byte, 0, len(p.pieces.blob)), offsets: make([]uint32, 1, len(p.types)+1)}
	for id, kind := range p.types {
		piece := p.pieces.at(uint32(id))
		if b, ok := byteName(piece); ok && kind == pieceByte {
			t.add([]byte{b})
			continue
		}
		t.add([]byte(strings.ReplaceAll(string(piece), spaceMark, " ")))
	}
	return t
}

func (p *modelProto) unigram(bytesOf [256]uint32) *unigram {
	u := &unigram{single: true, unknown: p.unknown, trie: newTrie(), bytesOf: bytesOf, fallback: p.byteFallback, text: p.texts()}
	u.penalty = float64(p.low - unknownPenalty)
	u.scores = make([]float64, len(p.types))
	for id, kind := range p.types {
		piece := p.pieces.at(uint32(id))
		switch kind {
		case pieceNormal:
			u.scores[id] = float64(p.scores[id])
		case pieceUserDefined:
			// Better than any other way over the same bytes.
			u.scores[id] = float64(float32(len(piece))*p.high) - 0.1
		default:
			continue
		}
		u.trie.add(piece, uint32(id))
	}
	return u
}

// bpe makes a model in which two parts merge if together they are a piece, the
// one of the highest score first.
func (p *modelProto) bpe(bytesOf [256]uint32) (*bpe, error) {
	if p.hasUnused {
		return nil, errors.New("SentencePiece BPE model with unused pieces is not known")
	}
	v := table{offsets: make([]uint32, 1, len(p.types)+1)}
	var all []float32
	for id, kind := range p.types {
		if kind != pieceNormal && kind != pieceUserDefined {
			v.add(nil)
			continue
		}
		v.add(p.pieces.at(uint32(id)))
		all = append(all, p.scores[id])
	}
	slices.SortFunc(all, func(a, b float32) int { return cmp.Compare(b, a) })
	all = slices.Compact(all)
	m := &bpe{v: newVocabulary(v.blob, v.offsets), chars: true, single: bytesOf, fallback: p.byteFallback,
		unknown: p.unknown, late: true, frozen: p.userDefined, text: p.texts()}
	m.ranks = make([]uint32, len(p.types))
	for id, kind := range p.types {
		if kind == pieceNormal || kind == pieceUserDefined {
			rank, _ := slices.BinarySearchFunc(all, p.scores[id], func(a, want float32) int { return cmp.Compare(want, a) })
			m.ranks[id] = uint32(rank)
		}
	}
	for i := range m.known {
		m.known[i] = p.byteFallback
	}
	m.checked = make([]atomic.Uint32, m.v.size())
	m.findTextJoints()
	return m, nil
}
