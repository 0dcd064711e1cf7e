package token

import (
	"fmt"
	"sort"
	"strings"

	"github.com/valyala/fastjson"
)

// added are the tokens that are found in a text before it is cut into pieces,
// such as <|im_start|>.
type added struct {
	ids   map[string]uint32
	texts map[uint32]string
	// byFirst lists the tokens by their first byte, longest first.
	byFirst [256][]string
	strip   map[string][2]bool // white space left and right belongs to it
}

func addedTokens(v *fastjson.Value, normalized bool) (*added, error) {
	a := &added{ids: map[string]uint32{}, texts: map[uint32]string{}, strip: map[string][2]bool{}}
	for _, t := range v.GetArray() {
		s := string(t.GetStringBytes("content"))
		id := t.GetUint("id")
		switch {
		case s == "" || id > maxID:
			return nil, fmt.Errorf("added_tokens: expected content and an id from 0 to %d", maxID)
		case t.GetBool("single_word"):
			return nil, fmt.Errorf("added token %.40q with single_word is not known", s)
		case t.GetBool("normalized") && normalized && !ascii(s):
			return nil, fmt.Errorf("added token %.40q under a normalizer is not known", s)
		}
		if _, twice := a.ids[s]; twice {
			continue
		}
		a.ids[s], a.texts[uint32(id)] = uint32(id), s
		if l, r := t.GetBool("lstrip"), t.GetBool("rstrip"); l || r {
			a.strip[s] = [2]bool{l, r}
		}
		a.byFirst[s[0]] = append(a.byFirst[s[0]], s)
	}
	for _, list := range a.byFirst {
		sort.SliceStable(list, func(i, j int) bool { return len(list[i]) > len(list[j]) })
	}
	return a, nil
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

func (a *added) text(id uint32) []byte {
	if s, ok := a.texts[id]; ok {
		return []byte(s)
	}
	return nil
}

// split gives the texts between added tokens and the ids of these, in order.
func (a *added) split(s string, text func(string) error, yield func(uint32)) error {
	from := 0
	for i := 0; i < len(s); {
		t := a.at(s[i:])
		if t == "" {
			i++
			continue
		}
		start, end := i, i+len(t)
		if strip := a.strip[t]; strip != [2]bool{} {
			if strip[0] {
				start = from + len(strings.TrimRight(s[from:start], " \t\n\v\f\r"))
			}
			if strip[1] {
				end = len(s) - len(strings.TrimLeft(s[end:], " \t\n\v\f\r"))
			}
		}
		if start > from {
			if err := text(s[from:start]); err != nil {
				return err
			}
		}
		yield(a.ids[t])
		i, from = end, end
	}
	if from < len(s) {
		return text(s[from:])
	}
	return nil
}

// at returns the added token that s begins with.
func (a *added) at(s string) string {
	for _, t := range a.byFirst[s[0]] {
		if strings.HasPrefix(s, t) {
			return t
		}
	}
	return ""
}
