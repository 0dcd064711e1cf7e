package token

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/valyala/fastjson"
)

// parseJSON reads the large lists of a tokenizer.json.
func parseJSON(data []byte) (*parsed, error) {
	root, err := fastjson.ParseBytes(data)
	if err != nil {
		return nil, fmt.Errorf("no JSON: %.80s", err.Error())
	}
	p := &parsed{}
	m := root.Get("model")
	vocab := m.Get("vocab")
	switch {
	case isNull(m) || isNull(vocab):
		return nil, errors.New("model without vocab")
	case vocab.Type() == fastjson.TypeArray:
		err = p.scored(vocab.GetArray())
	default:
		err = p.bpe(vocab, m.Get("merges"))
	}
	if err != nil {
		return nil, err
	}
	m.Del("vocab")
	m.Del("merges")
	p.rest = root.MarshalTo(nil)
	return p, nil
}

// scored reads the vocabulary of a unigram model: [["piece", score], ...].
func (p *parsed) scored(list []*fastjson.Value) error {
	if len(list) > maxID {
		return fmt.Errorf("model.vocab: more than %d tokens", maxID)
	}
	for i, item := range list {
		two, err := item.Array()
		if err != nil || len(two) != 2 || two[0].Type() != fastjson.TypeString {
			return fmt.Errorf("model.vocab[%d]: expected a token and its score", i)
		}
		score, err := two[1].Float64()
		if err != nil || math.IsNaN(score) || math.IsInf(score, 0) {
			return fmt.Errorf("model.vocab[%d]: expected a score", i)
		}
		p.names.add(two[0].GetStringBytes())
		p.scores = append(p.scores, score)
	}
	return nil
}

// bpe reads the vocabulary of a BPE model, {"token": id, ...}, and its merges.
func (p *parsed) bpe(vocab, merges *fastjson.Value) error {
	o, err := vocab.Object()
	if err != nil {
		return errors.New("model.vocab: expected an object or a list")
	}
	byID := make([][]byte, 0, o.Len())
	o.Visit(func(k []byte, v *fastjson.Value) {
		id, ok := tokenID(v)
		if err != nil || !ok {
			err = fmt.Errorf("model.vocab: token %.40q: expected an id from 0 to %d", k, maxID)
			return
		}
		for int(id) >= len(byID) {
			byID = append(byID, nil)
		}
		if byID[id] != nil {
			err = fmt.Errorf("model.vocab: token %.40q: its id %d is that of %.40q too", k, id, byID[id])
			return
		}
		byID[id] = k
	})
	if err != nil {
		return err
	}
	p.names.offsets = make([]uint32, 1, len(byID)+1)
	for _, name := range byID {
		p.names.add(name)
	}
	v := newVocabulary(p.names.blob, p.names.offsets)
	for id, name := range byID {
		if first, ok := v.lookup(string(name)); ok && first != uint32(id) {
			return fmt.Errorf("model.vocab: token %.40q is there twice", name)
		}
	}
	return p.readMerges(v, merges)
}

// readMerges reads the list of merges, in order of their ranks: "a b" or
// ["a","b"].
func (p *parsed) readMerges(v *vocabulary, list *fastjson.Value) error {
	items, err := optionalArray(list, "model.merges")
	if err != nil {
		return err
	}
	if list == nil {
		return errors.New("model without merges")
	}
	p.merges = make([]mergeRule, 0, len(items))
	var name []byte
	for rank, item := range items {
		var a, b string
		if two := item.GetArray(); len(two) == 2 {
			a, b = string(two[0].GetStringBytes()), string(two[1].GetStringBytes())
		} else {
			var ok bool
			if a, b, ok = strings.Cut(string(item.GetStringBytes()), " "); !ok {
				return fmt.Errorf("model.merges[%d]: expected two tokens", rank)
			}
		}
		name = append(append(name[:0], a...), b...)
		ia, oka := v.lookup(a)
		ib, okb := v.lookup(b)
		to, ok := v.lookup(string(name))
		if !oka || !okb || !ok {
			return fmt.Errorf("model.merges[%d]: %.40q and %.40q or what they make together is not in the vocabulary", rank, a, b)
		}
		p.merges = append(p.merges, mergeRule{ia, ib, to})
	}
	return nil
}
