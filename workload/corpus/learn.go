package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"slices"
)

// LearnOptions say how a model is learnt; zero values are the defaults.
type LearnOptions struct {
	// Order is how many units a chain looks back, and one: 2 to 5; default 3.
	Order int
	// Owners is in the texts of how many owners a sequence must stand to be
	// kept: 2 to 8; default 5.
	Owners int
	// MaxUnits ends the learning: texts after so many units are not looked at;
	// default 20 million, about 100 MB of English.
	MaxUnits int64
	// MaxSequences bounds the sequences held at a time, of about 100 bytes
	// each; default two million. Where there are more, the rarest are
	// forgotten, so that fewer are kept, never more.
	MaxSequences int
}

const (
	leastOrder, defaultOrder, mostOrder    = 2, 3, 5
	leastOwners, defaultOwners, mostOwners = 2, 5, 8
	defaultUnits                           = 20_000_000
	defaultSequences                       = 2_000_000
)

func (o *LearnOptions) complete() error {
	o.Order = cmp.Or(o.Order, defaultOrder)
	o.Owners = cmp.Or(o.Owners, defaultOwners)
	o.MaxUnits = cmp.Or(o.MaxUnits, defaultUnits)
	o.MaxSequences = cmp.Or(o.MaxSequences, defaultSequences)
	switch {
	case o.Order < leastOrder || o.Order > mostOrder:
		return fmt.Errorf("learn: expected an order from %d to %d, found %d", leastOrder, mostOrder, o.Order)
	case o.Owners < leastOwners || o.Owners > mostOwners:
		return fmt.Errorf("learn: expected %d to %d owners, found %d", leastOwners, mostOwners, o.Owners)
	case o.MaxUnits < 0 || o.MaxSequences < 1000:
		return errors.New("learn: expected a positive number of units and at least 1,000 sequences")
	}
	return nil
}

// Learner makes a Markov model of texts: it counts sequences of up to Order
// units (words, marks, ideographs) and keeps those that stand in the texts of
// at least Owners different owners. A name, key or phrase that fewer owners
// wrote is not in the model, however often one of them repeats it; nor is any
// word of more than 32 bytes or with more than four digits.
//
// What it does not promise: a phrase longer than Order units may come out
// again, joined from sequences that are common each by themselves, or because
// Owners owners did send it, as with a template that a service puts in front
// of every prompt.
type Learner struct {
	opt    LearnOptions
	seqs   map[uint64]*sequence
	units  int64
	texts  int64
	window []uint64            // keys of the sequences that end at the unit before, by length
	owners map[uint32]struct{} // of the texts, as many as it takes
}

// sequence is what was seen of one sequence of units.
type sequence struct {
	context uint64 // key of the sequence without its last unit
	unit    string // the last
	length  uint8
	n       uint8 // of owners
	count   uint32
	owners  [mostOwners]uint32
}

// NewLearner returns a learner that has seen nothing.
func NewLearner(o LearnOptions) (*Learner, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	return &Learner{owners: map[uint32]struct{}{}, opt: o, seqs: map[uint64]*sequence{}}, nil
}

// Learn makes a model of all texts, each with the owner it is counted for.
func Learn(texts iter.Seq2[string, string], o LearnOptions) (*Markov, error) {
	l, err := NewLearner(o)
	if err != nil {
		return nil, err
	}
	for owner, text := range texts {
		l.Add(owner, text)
	}
	return l.Model()
}

const (
	// root is the key of the sequence of no units.
	root = 0x9e3779b97f4a7c15
	// edge is the unit at a text's beginning and end.
	edge = ""
)

// Add learns one text. The owner is whoever it is counted for: a tenant or a
// session where the log names one; where it is empty, the text itself, so that
// copies count once.
func (l *Learner) Add(owner, text string) {
	if l.units >= l.opt.MaxUnits {
		return
	}
	if owner == "" {
		owner = text
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(owner))
	who := h.Sum32()
	l.texts++
	if len(l.owners) < l.opt.Owners {
		l.owners[who] = struct{}{}
	}
	l.window = l.window[:0]
	l.unit(edge, who)
	for u := range units(text) {
		if u == "" { // a gap: nothing is chained over it
			l.window = l.window[:0]
			continue
		}
		l.unit(u, who)
	}
	if len(l.window) > 0 {
		l.unit(edge, who)
	}
	if len(l.seqs) > l.opt.MaxSequences {
		l.forget()
	}
}

// unit notes all sequences that end with u.
func (l *Learner) unit(u string, who uint32) {
	l.units++
	next := make([]uint64, 0, mostOrder)
	context := uint64(root)
	for i := 0; ; i++ {
		next = append(next, l.note(context, u, i+1, who))
		if i == len(l.window) || i == l.opt.Order-1 {
			break
		}
		context = l.window[i]
	}
	l.window = append(l.window[:0], next...)
}

func (l *Learner) note(context uint64, u string, length int, who uint32) uint64 {
	key := key(context, u)
	s := l.seqs[key]
	if s == nil {
		s = &sequence{context: context, unit: u, length: uint8(length)}
		l.seqs[key] = s
	}
	s.count++
	if int(s.n) < l.opt.Owners && !slices.Contains(s.owners[:s.n], who) {
		s.owners[s.n] = who
		s.n++
	}
	return key
}

// key names a sequence.
func key(context uint64, u string) uint64 {
	h := context
	for i := range len(u) {
		h = (h ^ uint64(u[i])) * 0x100000001b3
	}
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>29
}

// forget drops the sequences of the fewest owners until half of the room is
// free.
func (l *Learner) forget() {
	for n := uint8(1); int(n) <= l.opt.Owners && len(l.seqs) > l.opt.MaxSequences/2; n++ {
		for k, s := range l.seqs {
			if s.n <= n {
				delete(l.seqs, k)
			}
		}
	}
}

// ErrNothing says that no word has enough owners to be learnt.
var ErrNothing = errors.New("no words were learnt")

// nothing is why nothing was.
func (l *Learner) nothing() error {
	if n := len(l.owners); n < l.opt.Owners {
		return fmt.Errorf("%w: a word must stand in the texts of %d owners, and the texts have %d", ErrNothing, l.opt.Owners, n)
	}
	return fmt.Errorf("%w: no word stands in the texts of %d owners; %d texts are too few or too different", ErrNothing, l.opt.Owners, l.texts)
}

// Model returns the model of what was learnt so far. The error is ErrNothing where no word
// has enough owners.
func (l *Learner) Model() (*Markov, error) {
	m := &Markov{order: l.opt.Order, owners: l.opt.Owners, texts: l.texts, units: []string{edge}, levels: make([]level, l.opt.Order)}
	ids := map[string]uint32{edge: 0}
	var names []string
	for _, s := range l.seqs {
		if s.length == 1 && l.kept(s) && s.unit != edge {
			names = append(names, s.unit)
		}
	}
	if len(names) == 0 {
		return nil, l.nothing()
	}
	slices.Sort(names)
	for _, u := range names {
		ids[u] = uint32(len(m.units))
		m.units = append(m.units, u)
	}
	entries := make([][]entry, l.opt.Order)
	for _, s := range l.seqs {
		if e, ok := l.entry(s, ids); ok {
			entries[s.length-1] = append(entries[s.length-1], e)
		}
	}
	for n, list := range entries {
		m.levels[n].build(list)
	}
	return m, m.check()
}

func (l *Learner) kept(s *sequence) bool { return int(s.n) >= l.opt.Owners }

// entry is a sequence as ids: what stands in front and what follows.
type entry struct {
	context [mostOrder - 1]uint32
	next    uint32
	count   uint32
}

// entry returns a kept sequence whose parts are all kept.
func (l *Learner) entry(s *sequence, ids map[string]uint32) (e entry, ok bool) {
	if !l.kept(s) {
		return e, false
	}
	if e.next, ok = ids[s.unit]; !ok {
		return e, false
	}
	e.count = s.count
	at := s
	for i := int(s.length) - 2; i >= 0; i-- {
		if at = l.seqs[at.context]; at == nil || !l.kept(at) {
			return e, false
		}
		if e.context[i], ok = ids[at.unit]; !ok {
			return e, false
		}
	}
	return e, true
}
