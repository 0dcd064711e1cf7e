package token

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// step is one pre-tokenizer: it cuts a text that is not empty and hands each
// part to the steps behind it.
type step interface {
	cut(c *codec, s *scratch, rest []step, text string) error
}

// cut cuts a text by steps and encodes what they leave.
func (c *codec) cut(s *scratch, steps []step, text string) error {
	switch {
	case text == "":
		return nil
	case len(steps) == 0:
		c.model.encode(s, text)
		return nil
	}
	return steps[0].cut(c, s, steps[1:], text)
}

// pieces cuts by a hand-written pattern; what is between its matches is a part
// too.
type pieces struct{ first piecer }

func (p pieces) cut(c *codec, s *scratch, rest []step, text string) error {
	for len(text) > 0 {
		n := p.first(text)
		if n == 0 {
			n = p.gap(text)
		}
		if len(rest) == 0 {
			c.model.encode(s, text[:n])
		} else if err := c.cut(s, rest, text[:n]); err != nil {
			return err
		}
		s.start = false
		text = text[n:]
	}
	return nil
}

// gap measures what lies before the first match.
func (p pieces) gap(text string) int {
	i := 0
	for i < len(text) {
		_, n := utf8.DecodeRuneInString(text[i:])
		if i += n; i < len(text) && p.first(text[i:]) > 0 {
			break
		}
	}
	return i
}

// prefix puts a space in front of a text that has none.
type prefix struct{}

func (prefix) cut(c *codec, s *scratch, rest []step, text string) error {
	if text[0] != ' ' {
		text = " " + text
	}
	return c.cut(s, rest, text)
}

// span is a part of a text that a pattern matched, or what is between.
type span struct {
	from, to int
	match    bool
}

// behavior says what becomes of the matches of a pattern.
type behavior string

// The behaviors of Split, Punctuation and Digits.
const (
	removed            behavior = "Removed"
	isolated           behavior = "Isolated"
	mergedWithPrevious behavior = "MergedWithPrevious"
	mergedWithNext     behavior = "MergedWithNext"
	contiguous         behavior = "Contiguous"
)

// matches cuts at the matches of a pattern.
type matches struct {
	find func(list []span, text string) ([]span, error)
	behavior
	invert bool
}

func (m matches) cut(c *codec, s *scratch, rest []step, text string) error {
	list, err := m.find(nil, text)
	if err != nil {
		return err
	}
	if m.invert {
		for i := range list {
			list[i].match = !list[i].match
		}
	}
	for _, p := range m.fold(list) {
		if !p.match || m.behavior != removed {
			if err := c.cut(s, rest, text[p.from:p.to]); err != nil {
				return err
			}
		}
		s.start = false
	}
	return nil
}

// fold joins matches with their neighbours.
func (m matches) fold(list []span) []span {
	out := list[:0]
	switch before := false; m.behavior {
	case mergedWithPrevious:
		for _, p := range list {
			if p.match && !before && len(out) > 0 {
				out[len(out)-1].to = p.to
			} else {
				out = append(out, p)
			}
			before = p.match
		}
	case contiguous:
		for _, p := range list {
			if p.match == before && len(out) > 0 {
				out[len(out)-1].to = p.to
			} else {
				out = append(out, p)
			}
			before = p.match
		}
	case mergedWithNext:
		keep := len(list) // list[keep:] is done
		for i := len(list) - 1; i >= 0; i-- {
			p := list[i]
			if p.match && !before && keep < len(list) {
				list[keep].from = p.from
			} else {
				keep--
				list[keep] = p
			}
			before = p.match
		}
		return list[keep:]
	default:
		return list
	}
	return out
}

// byPattern finds the matches of a regular expression.
func byPattern(re *regexp2.Regexp) func([]span, string) ([]span, error) {
	return func(list []span, text string) ([]span, error) {
		found, err := re.FindAllStringIndex(text, -1)
		if err != nil {
			return nil, errors.New("tokenizer: the pattern took too long")
		}
		at := 0
		for _, m := range found {
			if m[1] == m[0] {
				continue
			}
			if m[0] > at {
				list = append(list, span{at, m[0], false})
			}
			list = append(list, span{m[0], m[1], true})
			at = m[1]
		}
		if at < len(text) {
			list = append(list, span{at, len(text), false})
		}
		return list, nil
	}
}

// byText finds a fixed text.
func byText(what string) func([]span, string) ([]span, error) {
	return func(list []span, text string) ([]span, error) {
		at := 0
		for at < len(text) {
			i := strings.Index(text[at:], what)
			if i < 0 {
				break
			}
			if i > 0 {
				list = append(list, span{at, at + i, false})
			}
			list = append(list, span{at + i, at + i + len(what), true})
			at += i + len(what)
		}
		if at < len(text) {
			list = append(list, span{at, len(text), false})
		}
		return list, nil
	}
}

// byRune finds single characters.
func byRune(is func(rune) bool) func([]span, string) ([]span, error) {
	return func(list []span, text string) ([]span, error) {
		at := 0
		for i, r := range text {
			if !is(r) {
				continue
			}
			if i > at {
				list = append(list, span{at, i, false})
			}
			_, n := utf8.DecodeRuneInString(text[i:])
			list = append(list, span{i, i + n, true})
			at = i + n
		}
		if at < len(text) {
			list = append(list, span{at, len(text), false})
		}
		return list, nil
	}
}

// metaspace writes spaces as a mark, puts one in front, and cuts at them.
type metaspace struct {
	mark  string
	front string // always, first or never
	split bool
}

func (m metaspace) cut(c *codec, s *scratch, rest []step, text string) error {
	text = strings.ReplaceAll(text, " ", m.mark)
	if !strings.HasPrefix(text, m.mark) && (m.front == "always" || m.front == "first" && s.start) {
		text = m.mark + text
	}
	s.start = false
	if !m.split {
		return c.cut(s, rest, text)
	}
	// Each mark begins a part, a mark before another is one by itself.
	for from := 0; from < len(text); {
		to := len(text)
		if i := strings.Index(text[from+1:], m.mark); i >= 0 {
			to = from + 1 + i
		}
		if err := c.cut(s, rest, text[from:to]); err != nil {
			return err
		}
		from = to
	}
	return nil
}
