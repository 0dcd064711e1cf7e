package token

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// parseJSON reads the large lists of a tokenizer.json as they come, and keeps
// the rest of it as it stands there, which it returns with errNoVocab too.
func parseJSON(data []byte) (*parsed, error) {
	r := &fileReader{d: jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true)), p: &parsed{}}
	r.p.rest = append(r.p.rest, '{')
	err := r.object(func(name string) error {
		if name != "model" {
			return r.keep(name)
		}
		r.separate()
		r.p.rest = append(r.p.rest, `"model":{`...)
		err := r.object(r.model)
		r.p.rest = append(r.p.rest, '}')
		return err
	})
	r.p.rest = append(r.p.rest, '}')
	switch {
	case err != nil:
		return nil, err
	case r.p.names.offsets == nil:
		return r.p, errNoVocab
	}
	return r.p, r.resolve()
}

var errNoVocab = errors.New("model without vocab")

// fileReader reads a file from beginning to end.
type fileReader struct {
	d *jsontext.Decoder
	p *parsed
	// pairs are the merges until the vocabulary is known: two names each, in
	// pairText one behind the other.
	pairText []byte
	pairs    [][3]uint32 // where the names begin, part and end
	merges   bool        // there is a list of them
}

// object reads an object, and calls member at the value of each member.
func (r *fileReader) object(member func(name string) error) error {
	t, err := r.d.ReadToken()
	if err != nil {
		return r.noJSON(err)
	}
	if t.Kind() != '{' {
		return errors.New("expected an object")
	}
	for {
		t, err := r.d.ReadToken()
		if err != nil {
			return r.noJSON(err)
		}
		if t.Kind() == '}' {
			return nil
		}
		if err := member(t.String()); err != nil {
			return err
		}
	}
}

func (r *fileReader) noJSON(err error) error {
	return fmt.Errorf("no JSON: offset %d: %.80s", r.d.InputOffset(), err.Error())
}

// separate writes a comma between the members that are kept.
func (r *fileReader) separate() {
	if r.p.rest[len(r.p.rest)-1] != '{' {
		r.p.rest = append(r.p.rest, ',')
	}
}

// keep copies a member.
func (r *fileReader) keep(name string) error {
	v, err := r.d.ReadValue()
	if err != nil {
		return r.noJSON(err)
	}
	r.separate()
	b, err := jsontext.AppendQuote(r.p.rest, name)
	if err != nil {
		return r.noJSON(err)
	}
	r.p.rest = append(append(b, ':'), v...)
	return nil
}

func (r *fileReader) model(name string) error {
	switch {
	case name == "vocab" && r.d.PeekKind() == '{':
		return r.vocab()
	case name == "vocab" && r.d.PeekKind() == '[':
		return r.scored()
	case name == "merges" && r.d.PeekKind() == '[':
		return r.readMerges()
	case name == "vocab":
		return errors.New("model.vocab: expected an object or a list")
	case name == "merges" && r.d.PeekKind() != 'n':
		return errors.New("model.merges: expected a list")
	}
	return r.keep(name)
}

// place is where in a list what was expected is missing; as text it is made only
// in an error.
type place struct {
	list  string
	index int
	what  string
}

func (p place) Error() string { return fmt.Sprintf("%s[%d]: expected %s", p.list, p.index, p.what) }

// text reads a string to the end of b; at says where it stands.
func (r *fileReader) text(b []byte, at place) ([]byte, error) {
	v, err := r.d.ReadValue()
	if err != nil {
		return b, r.noJSON(err)
	}
	if v.Kind() != '"' {
		return b, at
	}
	if inside := v[1 : len(v)-1]; bytes.IndexByte(inside, '\\') < 0 {
		return append(b, inside...), nil
	}
	return jsontext.AppendUnquote(b, v)
}

// scored reads the vocabulary of a unigram model: [["piece", score], ...].
func (r *fileReader) scored() error {
	p := r.p
	p.names, p.scores = table{offsets: []uint32{0}}, nil
	if _, err := r.d.ReadToken(); err != nil {
		return r.noJSON(err)
	}
	for i := 0; ; i++ {
		if r.d.PeekKind() == ']' {
			_, err := r.d.ReadToken()
			return err
		}
		wrong := place{"model.vocab", i, "a token and its score"}
		if i > maxID {
			return fmt.Errorf("model.vocab: more than %d tokens", maxID)
		}
		if r.d.PeekKind() != '[' {
			return r.wrong(wrong)
		}
		if _, err := r.d.ReadToken(); err != nil {
			return r.noJSON(err)
		}
		var err error
		if p.names.blob, err = r.text(p.names.blob, wrong); err != nil {
			return err
		}
		p.names.offsets = append(p.names.offsets, uint32(len(p.names.blob)))
		v, err := r.d.ReadValue()
		if err != nil {
			return r.noJSON(err)
		}
		score, err := strconv.ParseFloat(string(v), 64)
		if err != nil || math.IsNaN(score) || math.IsInf(score, 0) {
			return wrong
		}
		p.scores = append(p.scores, score)
		if r.d.PeekKind() != ']' {
			return r.wrong(wrong)
		}
		if _, err := r.d.ReadToken(); err != nil {
			return r.noJSON(err)
		}
	}
}

// wrong tells what was expected, unless no more JSON follows.
func (r *fileReader) wrong(at place) error {
	if _, err := r.d.ReadValue(); err != nil && r.d.PeekKind() == 0 {
		return r.noJSON(err)
	}
	return at
}

// vocab reads the vocabulary of a BPE model, {"token": id, ...}.
func (r *fileReader) vocab() error {
	if _, err := r.d.ReadToken(); err != nil {
		return r.noJSON(err)
	}
	var all table
	var at []uint32 // one more than the place in all, by id
	for r.d.PeekKind() != '}' {
		start := len(all.blob)
		if all.offsets == nil {
			all.offsets = []uint32{0}
		}
		b, err := r.text(all.blob, place{})
		if err != nil {
			return err
		}
		all.blob = b
		all.offsets = append(all.offsets, uint32(len(b)))
		v, err := r.d.ReadValue()
		if err != nil {
			return r.noJSON(err)
		}
		id, err := strconv.ParseUint(string(v), 10, 32)
		if err != nil || id > maxID {
			return fmt.Errorf("model.vocab: token %.40q: expected an id from 0 to %d", b[start:], maxID)
		}
		for uint64(len(at)) <= id {
			at = append(at, 0)
		}
		if at[id] != 0 {
			return fmt.Errorf("model.vocab: token %.40q: its id %d is that of %.40q too", b[start:], id, all.at(at[id]-1))
		}
		at[id] = uint32(len(all.offsets) - 1)
	}
	if _, err := r.d.ReadToken(); err != nil {
		return r.noJSON(err)
	}
	names := table{blob: make([]byte, 0, len(all.blob)), offsets: make([]uint32, 1, len(at)+1)}
	for _, place := range at {
		var name []byte
		if place > 0 {
			name = all.at(place - 1)
		}
		names.add(name)
	}
	r.p.names, r.p.scores = names, nil
	return nil
}

// readMerges reads the list of merges, in order of their ranks: "a b" or
// ["a","b"].
func (r *fileReader) readMerges() error {
	r.pairs, r.merges = nil, true
	if _, err := r.d.ReadToken(); err != nil {
		return r.noJSON(err)
	}
	for i := 0; r.d.PeekKind() != ']'; i++ {
		wrong := place{"model.merges", i, "two tokens"}
		start := len(r.pairText)
		middle := start
		var err error
		switch r.d.PeekKind() {
		case '[':
			if middle, err = r.pairOfList(wrong); err != nil {
				return err
			}
		default:
			if r.pairText, err = r.text(r.pairText, wrong); err != nil {
				return err
			}
			n := bytes.IndexByte(r.pairText[start:], ' ')
			if n < 0 {
				return wrong
			}
			middle += n
			r.pairText = append(r.pairText[:middle], r.pairText[middle+1:]...)
		}
		r.pairs = append(r.pairs, [3]uint32{uint32(start), uint32(middle), uint32(len(r.pairText))})
	}
	_, err := r.d.ReadToken()
	return err
}

// pairOfList reads ["a","b"] and returns where b begins.
func (r *fileReader) pairOfList(wrong place) (middle int, err error) {
	if _, err := r.d.ReadToken(); err != nil {
		return 0, r.noJSON(err)
	}
	if r.pairText, err = r.text(r.pairText, wrong); err != nil {
		return 0, err
	}
	middle = len(r.pairText)
	if r.pairText, err = r.text(r.pairText, wrong); err != nil {
		return 0, err
	}
	if r.d.PeekKind() != ']' {
		return 0, wrong
	}
	_, err = r.d.ReadToken()
	return middle, err
}

// resolve finds the ids of merges.
func (r *fileReader) resolve() error {
	p := r.p
	if p.scores != nil {
		return nil
	}
	v := newVocabulary(p.names.blob, p.names.offsets)
	for id := range v.size() {
		name := v.token(uint32(id))
		if first, ok := v.lookup(string(name)); ok && first != uint32(id) {
			return fmt.Errorf("model.vocab: token %.40q is there twice", name)
		}
	}
	if !r.merges {
		return errors.New("model without merges")
	}
	p.merges = make([]mergeRule, 0, len(r.pairs))
	for rank, at := range r.pairs {
		a, b := r.pairText[at[0]:at[1]], r.pairText[at[1]:at[2]]
		ia, oka := v.lookup(string(a))
		ib, okb := v.lookup(string(b))
		to, ok := v.lookup(string(r.pairText[at[0]:at[2]]))
		if !oka || !okb || !ok {
			return fmt.Errorf("model.merges[%d]: %.40q and %.40q or what they make together is not in the vocabulary", rank, a, b)
		}
		p.merges = append(p.merges, mergeRule{ia, ib, to})
	}
	return nil
}
