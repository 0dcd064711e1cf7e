package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxString bounds the length of a string in characters.
const maxString = 1 << 14

// text makes up a string of n.
func (g *generator) text(n *node, name string) (string, error) {
	if n.Pattern != "" {
		return g.matching(n)
	}
	s, fixed := g.formatted(n.Format)
	if !fixed {
		s = g.phrase(name)
	}
	if n.MinLength > maxString {
		return "", fmt.Errorf("minLength %d is above %d", n.MinLength, maxString)
	}
	for utf8.RuneCountInString(s) < n.MinLength {
		s += " " + g.phrase(name)
	}
	if n.MaxLength != nil && utf8.RuneCountInString(s) > *n.MaxLength {
		r := []rune(s)
		s = string(r[:max(*n.MaxLength, n.MinLength, 0)])
	}
	return s, nil
}

// phrase is a short text about nothing.
func (g *generator) phrase(name string) string {
	words := [...]string{"Paris", "blue", "river", "seven", "morning", "copper", "garden", "north", "paper", "winter", "stone", "letter", "harbour", "silver", "meadow", "bridge"}
	switch lower := strings.ToLower(name); {
	case strings.Contains(lower, "city"), strings.Contains(lower, "location"):
		return [...]string{"Paris", "Oslo", "Lima", "Kyoto"}[g.draw(4)]
	case strings.Contains(lower, "name"):
		return [...]string{"Ada", "Grace", "Alan", "Edsger"}[g.draw(4)]
	}
	a, b := words[g.draw(16)], words[g.draw(16)]
	return a + " " + b
}

// formatted is a string of a format of JSON schema.
func (g *generator) formatted(format string) (string, bool) {
	d := func(n uint64) uint64 { return g.draw(n) }
	date := func() string { return fmt.Sprintf("20%02d-%02d-%02d", d(30), 1+d(12), 1+d(28)) }
	clock := func() string { return fmt.Sprintf("%02d:%02d:%02d", d(24), d(60), d(60)) }
	switch format {
	case "date":
		return date(), true
	case "time":
		return clock() + "Z", true
	case "date-time":
		return date() + "T" + clock() + "Z", true
	case "duration":
		return fmt.Sprintf("PT%dM", 1+d(59)), true
	case "email", "idn-email":
		return fmt.Sprintf("user%d@example.com", d(1000)), true
	case "hostname", "idn-hostname":
		return fmt.Sprintf("host%d.example.com", d(1000)), true
	case "ipv4":
		return fmt.Sprintf("192.0.2.%d", d(256)), true
	case "ipv6":
		return fmt.Sprintf("2001:db8::%x", 1+d(65535)), true
	case "uri", "uri-reference", "iri", "iri-reference", "url":
		return fmt.Sprintf("https://example.com/%d", d(1000)), true
	case "uuid":
		return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", d(1<<32), d(1<<16), d(1<<12), d(1<<12), d(1<<48)), true
	case "regex":
		return "[a-z]+", true
	case "json-pointer":
		return "/a", true
	}
	return "", false
}

// matching makes up a string that a pattern matches.
func (g *generator) matching(n *node) (string, error) {
	re, err := syntax.Parse(n.Pattern, syntax.Perl)
	if err != nil {
		return "", fmt.Errorf("pattern: %w", err)
	}
	check, err := regexp.Compile(n.Pattern)
	if err != nil {
		return "", fmt.Errorf("pattern: %w", err)
	}
	for more := range 20 {
		var b strings.Builder
		g.expand(&b, re.Simplify(), more)
		s := b.String()
		if c := utf8.RuneCountInString(s); c < n.MinLength || n.MaxLength != nil && c > *n.MaxLength {
			continue
		}
		if check.MatchString(s) {
			return s, nil
		}
	}
	return "", fmt.Errorf("pattern %q: no string was found that follows it", n.Pattern)
}

// expand writes a string of an expression; more asks for more repetitions.
func (g *generator) expand(b *strings.Builder, re *syntax.Regexp, more int) {
	if b.Len() > maxString {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		g.class(b, re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte(byte('a' + g.draw(26)))
	case syntax.OpAlternate:
		g.expand(b, re.Sub[g.draw(uint64(len(re.Sub)))], more)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		count := more
		if re.Op == syntax.OpPlus {
			count++
		}
		if re.Op == syntax.OpQuest {
			count = int(g.draw(2))
		}
		for range count {
			g.expand(b, re.Sub[0], more)
		}
	default: // concatenations and groups; what is empty has no parts
		for _, s := range re.Sub {
			g.expand(b, s, more)
		}
	}
}

// class writes a character of a class, a printable one if there is one.
func (g *generator) class(b *strings.Builder, ranges []rune) {
	var printable []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		if low, high := max(ranges[i], '!'), min(ranges[i+1], '~'); low <= high {
			printable = append(printable, low, high)
		}
	}
	if len(printable) == 0 {
		printable = ranges
	}
	if len(printable) == 0 {
		return
	}
	i := 2 * int(g.draw(uint64(len(printable)/2)))
	b.WriteRune(printable[i] + rune(g.draw(uint64(printable[i+1]-printable[i])+1)))
}
