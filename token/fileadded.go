package token

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/valyala/fastjson"
)

// added are tokens that are found in a text before it is cut into pieces, such
// as <|im_start|>: the leftmost, of several the longest.
type added struct {
	list  []addedToken
	trie  *trie // finds a token's place in list
	first [256]bool
	texts map[uint32]string
}

type addedToken struct {
	id uint32
	// White space left and right belongs to it.
	lstrip, rstrip bool
	// word says that no letter, digit or _ may stand beside it.
	word bool
}

// match is an added token in a text: it covers text[start:end], and at is where
// the search goes on. If ok is false there is none, and start is the text's end.
type match struct {
	start, end, at int
	id             uint32
	ok             bool
}

func (a *added) add(pattern string, t addedToken) {
	if pattern == "" {
		return
	}
	a.trie.add([]byte(pattern), uint32(len(a.list))) // of equal ones the first counts
	a.list = append(a.list, t)
	a.first[pattern[0]] = true
}

func newAdded() *added {
	return &added{trie: newTrie(), texts: map[uint32]string{}}
}

// addedTokens reads the added tokens of a file: those to be found in the text
// as it is, and those to be found in normalized text; nil where there are none.
func addedTokens(v *fastjson.Value, normalize func(string) string) (raw, normalized *added, err error) {
	list, err := optionalArray(v, "added_tokens")
	if err != nil {
		return nil, nil, err
	}
	for i, t := range list {
		s := string(t.GetStringBytes("content"))
		id, ok := tokenID(t.Get("id"))
		if s == "" || !ok {
			return nil, nil, fmt.Errorf("added_tokens[%d]: expected content and an id from 0 to %d", i, maxID)
		}
		token := addedToken{id: id, lstrip: t.GetBool("lstrip"), rstrip: t.GetBool("rstrip"), word: t.GetBool("single_word")}
		to, pattern := &raw, s
		if t.GetBool("normalized") && normalize != nil {
			to, pattern = &normalized, normalize(s)
		}
		if *to == nil {
			*to = newAdded()
		}
		(*to).add(pattern, token)
		if _, known := (*to).texts[id]; !known {
			(*to).texts[id] = s
		}
	}
	return raw, normalized, nil
}

// text returns the text of an added token's id, nil if there is none.
func (a *added) text(id uint32) []byte {
	if a == nil {
		return nil
	}
	if s, ok := a.texts[id]; ok {
		return []byte(s)
	}
	return nil
}

// next finds the first token at or behind at; what lies before from has been
// given away.
func (a *added) next(s string, from, at int) match {
	if a == nil {
		return match{start: len(s), end: len(s)}
	}
	for ; at < len(s); at++ {
		if !a.first[s[at]] {
			continue
		}
		n, i := a.trie.longest(s[at:])
		if n == 0 {
			continue
		}
		if t := a.list[i]; !t.word || alone(s, at, at+n) {
			return t.match(s, from, at, at+n)
		}
		at += n - 1
	}
	return match{start: len(s), end: len(s)}
}

// match takes the white space around a token into it.
func (t addedToken) match(s string, from, start, end int) match {
	m := match{start: start, end: end, at: end, id: t.id, ok: true}
	if t.lstrip {
		m.start = max(from, len(strings.TrimRightFunc(s[:start], unicode.IsSpace)))
	}
	if t.rstrip {
		m.end = len(s) - len(strings.TrimLeftFunc(s[end:], unicode.IsSpace))
	}
	return m
}

// alone tells whether no word continues on either side.
func alone(s string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	behind, _ := utf8.DecodeRuneInString(s[end:])
	return (start == 0 || !wordRune(before)) && (end == len(s) || !wordRune(behind))
}

// wordRune tells what \w matches.
func wordRune(r rune) bool {
	return r == '_' || r == 0x200C || r == 0x200D || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.Is(unicode.Nd, r) || unicode.Is(unicode.Pc, r) || unicode.Is(unicode.Other_Alphabetic, r) || unicode.Is(unicode.Nl, r)
}

// optionalArray returns a list that may be absent.
func optionalArray(v *fastjson.Value, name string) ([]*fastjson.Value, error) {
	if v == nil || v.Type() == fastjson.TypeNull {
		return nil, nil
	}
	list, err := v.Array()
	if err != nil {
		return nil, fmt.Errorf("%s: expected a list", name)
	}
	return list, nil
}
