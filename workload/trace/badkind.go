package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	// mostKinds is how many kinds of bad lines are told apart.
	mostKinds = 20
	// firstOfKind is how many lines of a kind are named.
	firstOfKind = 3
	// shownKinds is how many kinds are listed for people.
	shownKinds = 5
	// otherReasons is the reason of those beyond.
	otherReasons = "other reasons"
	// differs stands for a number or a field that the lines of a kind differ in.
	differs = "…"
)

// BadKind are the lines of one source that could not be used for one reason.
type BadKind struct {
	Name string // of the source
	Unit string // what First counts: line, entry of a JSON array, or record
	// Reason is true of every line: what they differ in, such as a column, is
	// "…".
	Reason string
	Lines  int64
	First  []int64 // numbers of the first three
}

// String says how many lines there are, why, and where the first are.
func (k *BadKind) String() string {
	n := strconv.FormatInt(k.Lines, 10) + " " + units(k.Unit, k.Lines)
	list := make([]string, len(k.First))
	for i, at := range k.First {
		list[i] = strconv.FormatInt(at, 10)
	}
	more := ""
	if int64(len(list)) < k.Lines {
		more = ", …"
	}
	return fmt.Sprintf("%s of %s cannot be used: %s (%s %s%s)", n, k.Name, k.Reason, units(k.Unit, int64(len(list))), strings.Join(list, ", "), more)
}

func units(unit string, n int64) string {
	switch {
	case n == 1:
		return unit
	case unit == unitEntry:
		return "entries"
	}
	return unit + "s"
}

// BadKinds returns the lines that could not be used so far by their reasons,
// the most frequent first. Beyond the first kinds that are met all others are one,
// the last.
func (r *Reader) BadKinds() []BadKind { return r.kinds.list() }

// listed are sentences about kinds of bad lines, the rarer ones by number.
func listed(list []BadKind) []string {
	var s []string
	for i := range list {
		if i == shownKinds {
			return append(s, fmt.Sprintf("and lines of %d more reasons", len(list)-shownKinds))
		}
		s = append(s, list[i].String())
	}
	return s
}

// kinds count bad lines by reason.
type kinds struct {
	of    map[string]*kindOf
	order []*kindOf
}

// kindOf is one of them: the words that its lines share and what stands
// between the words, where they share that too.
type kindOf struct {
	BadKind
	words, between []string
}

func (k *kinds) add(e *LineError) {
	words, between := template(e.Err.Error())
	key := e.Unit + "\x00" + strings.Join(words, "\x00")
	of := k.of[key]
	if of == nil && len(k.order) >= mostKinds {
		key, words, between = "", []string{otherReasons}, nil
		of = k.of[key]
	}
	if of == nil {
		of = &kindOf{BadKind{Name: e.Name, Unit: e.Unit}, words, between}
		if k.of == nil {
			k.of = map[string]*kindOf{}
		}
		k.of[key] = of
		k.order = append(k.order, of)
	}
	for i, b := range between {
		if of.between[i] != b {
			of.between[i] = differs
		}
	}
	if of.Lines++; len(of.First) < firstOfKind {
		of.First = append(of.First, e.Line)
	}
}

func (k *kinds) list() []BadKind {
	list := make([]BadKind, len(k.order))
	for i, of := range k.order {
		list[i] = of.BadKind
		list[i].First = slices.Clone(of.First)
		var b strings.Builder
		for j, w := range of.words {
			b.WriteString(w)
			if j < len(of.between) {
				b.WriteString(of.between[j])
			}
		}
		list[i].Reason = b.String()
	}
	slices.SortStableFunc(list, func(a, b BadKind) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), -cmp.Compare(a.Lines, b.Lines))
	})
	return list
}

// last is 1 for what stands behind all kinds: those that are not told apart.
func last(k BadKind) int {
	if k.Reason == otherReasons {
		return 1
	}
	return 0
}

// template takes a reason apart: into words, and the numbers and quoted texts
// between them, in which the lines of a kind may differ. The number of a
// table's field is one of the words.
func template(reason string) (words, between []string) {
	begin := 0 // of the words under way
	for i := 0; i < len(reason); {
		n := differing(reason, i)
		if n == 0 {
			i++
			continue
		}
		words, between = append(words, reason[begin:i]), append(between, reason[i:i+n])
		i += n
		begin = i
	}
	return append(words, reason[begin:]), between
}

// differing is the length of the number or quoted text that begins at i, 0
// where none does.
func differing(reason string, i int) int {
	switch {
	case reason[i] == '"':
		if end := strings.IndexByte(reason[i+1:], '"'); end >= 0 {
			return end + 2
		}
		return 0
	case i > 0 && (letter(reason[i-1]) || digit(reason[i-1])), strings.HasSuffix(reason[:i], "field "):
		return 0
	}
	return numberAt(reason[i:])
}

// numberAt is the length of the number that a text begins with, such as -1.5e9;
// 0 where there is none.
func numberAt(s string) int {
	sign := 0
	if s[0] == '-' {
		sign = 1
	}
	n := sign + digitsAt(s[sign:])
	if n == sign {
		return 0
	}
	if n < len(s) && s[n] == '.' {
		if d := digitsAt(s[n+1:]); d > 0 {
			n += 1 + d
		}
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		rest := strings.TrimLeft(s[n+1:], "+-")
		if d := digitsAt(rest); d > 0 {
			n = len(s) - len(rest) + d
		}
	}
	return n
}

func digitsAt(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
