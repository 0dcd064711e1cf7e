package token

import "strings"

// The patterns that have a splitter of their own; others go through regexp2.
// Those with possessive quantifiers match the same.
const (
	patternLlama3 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternQwen2  = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternQwen35 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternGPT2   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	patternO200k  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	// tiktoken's own of cl100k_base: white space that ends the text is one piece.
	patternCl100k   = `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`
	patternNumber   = `\p{N}{1,3}`
	patternHanKana  = `[一-龥぀-ゟ゠-ヿ]+`
	patternDeepSeek = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
)

// patternTekken is that of Mistral's tekken.json.
const patternTekken = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// piecer returns the length of the first piece of a text that is not empty, 0
// if its pattern does not match there.
type piecer func(s string) int

// piecerOf returns the hand-written form of a pattern, nil if there is none.
func piecerOf(pattern string) piecer {
	// Some files write line ends in a pattern as they are.
	switch strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(pattern) {
	case patternLlama3:
		return llama3Piece
	case patternCl100k:
		return tiktokenPiece
	case patternQwen2:
		return func(s string) int { return cl100kPiece(s, letters, 1) }
	case patternQwen35:
		return func(s string) int { return cl100kPiece(s, words, 1) }
	case patternGPT2:
		return gpt2Piece
	case patternO200k:
		return o200kPiece
	case patternTekken:
		return tekkenPiece
	case patternNumber:
		return func(s string) int { return runOf(s, digits, 3) }
	case patternHanKana:
		return hanKanaPiece
	case patternDeepSeek:
		return deepSeekPiece
	}
	return nil
}

func llama3Piece(s string) int { return cl100kPiece(s, letters, 3) }

// tiktokenPiece is Llama 3's but for white space at the end of a text.
func tiktokenPiece(s string) int {
	if c, _ := classOf(s); blanks.has(c) {
		if run(s, blanks) == len(s) {
			return len(s)
		}
	}
	return llama3Piece(s)
}

// cl100kPiece measures the first piece under
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,limit}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// the pattern of cl100k_base and Llama 3 (3 digits) and of Qwen 2 (1 digit).
// Where a word may hold marks too, they are letters of the fourth part also.
func cl100kPiece(s string, word classSet, limit int) int {
	if s[0] == '\'' {
		if n := contraction(s, true); n > 0 {
			return n
		}
	}
	c, n := classOf(s)
	switch {
	case word.has(c):
		return n + run(s[n:], word)
	case c == digit:
		return runOf(s, digits, limit)
	case c != newline && n < len(s):
		if l := run(s[n:], word); l > 0 {
			return n + l
		}
	}
	return nonWord(s, others&^word, false)
}

// o200kPiece measures the first piece under the pattern of o200k_base.
func o200kPiece(s string) int {
	c, n := classOf(s)
	if c == digit {
		return runOf(s, digits, 3)
	}
	if e := o200kWord(s, c, n); e > 0 {
		if e < len(s) && s[e] == '\'' {
			e += contraction(s[e:], true)
		}
		return e
	}
	return nonWord(s, others, true)
}

// tekkenPiece measures the first piece under tekken's pattern: o200k_base's
// without contractions, and each digit by itself.
func tekkenPiece(s string) int {
	c, n := classOf(s)
	if c == digit {
		return n
	}
	if e := o200kWord(s, c, n); e > 0 {
		return e
	}
	return nonWord(s, others, true)
}

// o200kWord measures a word whose upper half comes first, behind at most one
// character that is no letter, number or line end. c and n are the class and
// the length of the first character.
func o200kWord(s string, c class, n int) int {
	prefix := c != newline && !letters.has(c)
	if prefix {
		if e := halves(s[n:]); e > 0 {
			return n + e
		}
	}
	if words.has(c) {
		if e := halves(s); e > 0 {
			return e
		}
	}
	if prefix {
		if e := run(s[n:], upperHalf); e > 0 {
			return n + e
		}
	}
	return run(s, upperHalf)
}

// halves matches upperHalf* lowerHalf+, both greedy: where no lower letter
// follows, the upper half gives back as far as its last character that may
// stand in the lower half.
func halves(s string) int {
	i, last := 0, 0
	for i < len(s) {
		c, n := classOf(s[i:])
		if !upperHalf.has(c) {
			break
		}
		i += n
		if c != upper {
			last = i
		}
	}
	if e := run(s[i:], lowerHalf); e > 0 {
		return i + e
	}
	return last
}

// gpt2Piece measures the first piece under GPT-2's pattern.
func gpt2Piece(s string) int {
	if s[0] == '\'' {
		if n := contraction(s, false); n > 0 {
			return n
		}
	}
	lead := 0
	if s[0] == ' ' && len(s) > 1 {
		lead = 1
	}
	switch c, n := classOf(s[lead:]); {
	case letters.has(c):
		return lead + n + run(s[lead+n:], letters)
	case c == digit:
		return lead + n + run(s[lead+n:], digits)
	case others.has(c):
		return lead + n + run(s[lead+n:], others)
	}
	return spaces(s, false)
}

// hanKanaPiece measures a run of the Chinese characters and Japanese syllables
// that DeepSeek's second pattern names.
func hanKanaPiece(s string) int {
	for i, r := range s {
		if (r < 0x3040 || r > 0x30FF) && (r < 0x4E00 || r > 0x9FA5) {
			return i
		}
	}
	return len(s)
}

// deepSeekPiece measures the first piece under DeepSeek's third pattern.
func deepSeekPiece(s string) int {
	if c := s[0]; '!' <= c && c <= '~' && class(classes[classBlocks+int(c)]) == punct {
		i := 1
		for i < len(s) && 'a' <= s[i]|0x20 && s[i]|0x20 <= 'z' {
			i++
		}
		if i > 1 {
			return i
		}
	}
	c, n := classOf(s)
	switch {
	case words.has(c):
		return n + run(s[n:], words)
	case c != newline && c != punct:
		if l := run(s[n:], words); l > 0 {
			return n + l
		}
	}
	if c == other || c == digit {
		return 0
	}
	return nonWord(s, symbols, false)
}

// nonWord matches ` ?[of]+[\r\n]*` (with slash, also / at the end), else white
// space.
func nonWord(s string, of classSet, slash bool) int {
	e := 0
	if s[0] == ' ' {
		e = 1
	}
	n := run(s[e:], of)
	if n == 0 {
		return spaces(s, true)
	}
	e += n
	for e < len(s) && (s[e] == '\r' || s[e] == '\n' || slash && s[e] == '/') {
		e++
	}
	return e
}

// spaces matches white space: where lines count, up to its last line end; else
// all but the last character if something follows that is none.
func spaces(s string, lines bool) int {
	end, last, afterLine := 0, 0, 0
	for end < len(s) {
		c, n := classOf(s[end:])
		if !blanks.has(c) {
			break
		}
		last = end
		end += n
		if c == newline {
			afterLine = end
		}
	}
	switch {
	case lines && afterLine > 0:
		return afterLine
	case end < len(s) && last > 0:
		return last
	}
	return end
}

// contraction matches 's, 't, 're, 've, 'm, 'll, 'd at an apostrophe; where case
// does not count, the long s is an s.
func contraction(s string, fold bool) int {
	at := func(i int) (byte, int) {
		if i >= len(s) {
			return 0, 0
		}
		c := s[i]
		if fold && 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A', 1
		}
		if fold && c == 0xC5 && i+1 < len(s) && s[i+1] == 0xBF {
			return 's', 2
		}
		return c, 1
	}
	a, n := at(1)
	switch a {
	case 's', 't', 'm', 'd':
		return 1 + n
	}
	b, m := at(1 + n)
	switch {
	case a == 'r' && b == 'e', a == 'v' && b == 'e', a == 'l' && b == 'l':
		return 1 + n + m
	}
	return 0
}
