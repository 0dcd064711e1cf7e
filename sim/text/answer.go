package text

import (
	_ "embed"
	"encoding/json"
	"strings"
)

//go:embed corpus.txt
var corpus string

// Answers writes answers from a small corpus of sentences.
type Answers struct {
	sentences [][]Word
	first     []Word // each sentence's first word without the space before it
}

// Word is one token of an answer.
type Word struct {
	Text string
	ID   uint32
	JSON []byte // the text as the inside of a JSON string
}

// NewWord returns the token of a text.
func NewWord(s string, id uint32) Word { return Word{Text: s, ID: id, JSON: quote(s)} }

// NewAnswers cuts the corpus. ids gives each word its token's id.
func NewAnswers(ids func(word string) uint32) *Answers {
	a := &Answers{}
	word := func(w string) Word { return NewWord(w, ids(w)) }
	for line := range strings.Lines(corpus) {
		var s []Word
		for _, w := range split(strings.TrimSpace(line)) {
			s = append(s, word(w))
		}
		if len(s) > 0 {
			a.sentences = append(a.sentences, s)
			a.first = append(a.first, word(s[0].Text[1:]))
		}
	}
	return a
}

// split cuts a sentence into words that carry the space before them, and
// punctuation.
func split(line string) []string {
	var out []string
	for field := range strings.FieldsSeq(line) {
		word := strings.TrimRight(field, ".,")
		out = append(out, " "+word)
		if rest := field[len(word):]; rest != "" {
			out = append(out, rest)
		}
	}
	return out
}

func quote(s string) []byte {
	q, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return q[1 : len(q)-1]
}

// Answer is a place in an answer. It is a value: a copy goes its own way.
type Answer struct {
	from     *Answers
	state    uint64
	sentence int
	word     int
	script   []Word // said instead of sentences
}

// Start returns the beginning of the answer of a seed.
func (a *Answers) Start(seed uint64) Answer { return Answer{from: a, state: seed, sentence: -1} }

// Script returns the beginning of an answer of these words; after them come
// empty ones.
func Script(words []Word) Answer { return Answer{script: words} }

// Next returns the next token.
func (a *Answer) Next() *Word {
	if a.from == nil {
		if a.word == len(a.script) {
			return &Word{}
		}
		a.word++
		return &a.script[a.word-1]
	}
	begins := a.sentence < 0
	if begins || a.word == len(a.from.sentences[a.sentence]) {
		a.state += 0x9e3779b97f4a7c15
		a.sentence = int(mix(a.state) % uint64(len(a.from.sentences)))
		a.word = 0
	}
	w := &a.from.sentences[a.sentence][a.word]
	if begins {
		w = &a.from.first[a.sentence]
	}
	a.word++
	return w
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
