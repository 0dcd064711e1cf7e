package token

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// hostile are texts of a million bytes that are hard on some way to cut and
// merge.
func hostile() map[string]string {
	const size = 1_000_000
	r := rand.New(rand.NewPCG(1, 2))
	of := func(draw func() string) string {
		var b strings.Builder
		for b.Len() < size {
			b.WriteString(draw())
		}
		return b.String()
	}
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	from := func(s string) func() string {
		list := []rune(s)
		return func() string { return string(list[r.IntN(len(list))]) }
	}
	return map[string]string{
		"a":               repeat("a"),
		"spaces":          repeat(" "),
		"newlines":        repeat("\n"),
		"tabs":            repeat("\t"),
		"equals":          repeat("="),
		"digits":          repeat("0"),
		"apostrophes":     repeat("'"),
		"angles":          repeat("<"),
		"letters":         of(from("abcdefghijklmnopqrstuvwxyz")),
		"mixed":           of(from("aA1 -_'\n\té中<>/")),
		"random bytes":    of(func() string { return string([]byte{byte(r.Uint32())}) }),
		"continuations":   repeat("\x80"),
		"chinese":         repeat("中"),
		"chinese letters": of(func() string { return string(rune(0x4E00 + r.IntN(0x2000))) }),
		"emoji":           repeat("👩‍👩‍👧‍👦"),
		"emoji letters":   of(func() string { return string(rune(0x1F300 + r.IntN(0x300))) }),
		"marks":           "a" + repeat("\u0301"),
		"private":         repeat("\U000F1234"),
		"hangul jamo":     repeat("\u1112\u1161\u11ab"),
	}
}

// BenchmarkHostile counts texts of a million bytes that are hard on some way to
// cut and merge: none may take the square of its length.
func BenchmarkHostile(b *testing.B) {
	all := hostile()
	for _, s := range subjects(b) {
		if strings.HasPrefix(s.name, "trained") {
			continue
		}
		c, err := s.open()
		if err != nil {
			b.Fatal(err)
		}
		for name, text := range all {
			b.Run(s.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if _, err := c.Count(text); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
