package token

import (
	"fmt"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/valyala/fastjson"
	"golang.org/x/text/unicode/norm"
)

// splitter cuts a text into the pieces that are merged on their own.
type splitter func(text string, piece func(string)) error

// The patterns that have a splitter of their own; others go through regexp2.
const (
	patternLlama3 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternQwen2  = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternGPT2   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
)

// matchTimeout bounds what a pattern of a file may take for one text.
const matchTimeout = 10 * time.Second

// normalizer reads the normalizer of a file; nil: none.
func normalizer(v *fastjson.Value) (func(string) string, error) {
	if v == nil || v.Type() == fastjson.TypeNull {
		return nil, nil
	}
	switch kind := string(v.GetStringBytes("type")); kind {
	case "NFC":
		return norm.NFC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKC":
		return norm.NFKC.String, nil
	case "NFKD":
		return norm.NFKD.String, nil
	case "Sequence":
		var all func(string) string
		for _, n := range v.GetArray("normalizers") {
			f, err := normalizer(n)
			if err != nil {
				return nil, err
			}
			switch before := all; {
			case before == nil:
				all = f
			case f != nil:
				all = func(s string) string { return f(before(s)) }
			}
		}
		return all, nil
	default:
		return nil, fmt.Errorf("normalizer %q is not known", kind)
	}
}

// preTokenizer reads the pre-tokenizer of a file, which must end in the byte
// level.
func preTokenizer(v *fastjson.Value) (splitter, error) {
	var steps []splitter
	byteLevel := false
	list := []*fastjson.Value{v}
	if string(v.GetStringBytes("type")) == "Sequence" {
		list = v.GetArray("pretokenizers")
	}
	for _, p := range list {
		kind := string(p.GetStringBytes("type"))
		if byteLevel {
			return nil, fmt.Errorf("pre-tokenizer %q behind ByteLevel is not known", kind)
		}
		step, err := preStep(kind, p, len(steps) == 0)
		if err != nil {
			return nil, err
		}
		if step != nil {
			steps = append(steps, step)
		}
		byteLevel = kind == "ByteLevel"
	}
	if !byteLevel {
		return nil, fmt.Errorf("pre-tokenizer %q without ByteLevel is not known", string(v.GetStringBytes("type")))
	}
	return chain(steps), nil
}

// chain cuts by each step what the step before left whole.
func chain(steps []splitter) splitter {
	switch len(steps) {
	case 0:
		return func(text string, piece func(string)) error {
			if text != "" {
				piece(text)
			}
			return nil
		}
	case 1:
		return steps[0]
	}
	rest := chain(steps[1:])
	return func(text string, piece func(string)) error {
		var failed error
		err := steps[0](text, func(s string) {
			if err := rest(s, piece); err != nil && failed == nil {
				failed = err
			}
		})
		if err == nil {
			err = failed
		}
		return err
	}
}

func preStep(kind string, p *fastjson.Value, first bool) (splitter, error) {
	switch kind {
	case "ByteLevel":
		prefix := p.GetBool("add_prefix_space")
		if prefix && !first {
			return nil, fmt.Errorf("pre-tokenizer ByteLevel with add_prefix_space behind another is not known")
		}
		use := p.Get("use_regex")
		if use != nil && use.Type() == fastjson.TypeFalse {
			if prefix {
				return withPrefix(chain(nil)), nil
			}
			return nil, nil
		}
		if prefix {
			return withPrefix(cutBy(gpt2Piece)), nil
		}
		return cutBy(gpt2Piece), nil
	case "Digits":
		if p.GetBool("individual_digits") {
			return cutBy(func(s string) int { return digits(s, 1) }), nil
		}
		return cutBy(func(s string) int { return digits(s, unlimited) }), nil
	case "Split":
		return splitStep(p)
	}
	return nil, fmt.Errorf("pre-tokenizer %q is not known", kind)
}

func withPrefix(s splitter) splitter {
	return func(text string, piece func(string)) error {
		if text != "" && text[0] != ' ' {
			text = " " + text
		}
		return s(text, piece)
	}
}

// cutBy cuts by a function that measures the first piece of a text.
func cutBy(first func(string) int) splitter {
	return func(text string, piece func(string)) error {
		for len(text) > 0 {
			n := first(text)
			piece(text[:n])
			text = text[n:]
		}
		return nil
	}
}

// digits measures numbers of at most limit digits, or what is between them.
func digits(s string, limit int) int {
	if n := run(s, digit, limit); n > 0 {
		return n
	}
	i := 0
	for i < len(s) {
		c, n := classOf(s[i:])
		if c == digit {
			break
		}
		i += n
	}
	return i
}

// splitStep reads a Split by pattern.
func splitStep(p *fastjson.Value) (splitter, error) {
	pattern, behavior := string(p.GetStringBytes("pattern", "Regex")), string(p.GetStringBytes("behavior"))
	if s := p.GetStringBytes("pattern", "String"); len(s) > 0 {
		pattern = regexp2.Escape(string(s))
	}
	removed := false
	switch {
	case pattern == "":
		return nil, fmt.Errorf("pre-tokenizer Split without a pattern")
	case behavior == "Isolated":
	case behavior == "Removed" && p.GetBool("invert"):
		removed = true // what is between the matches
	default:
		return nil, fmt.Errorf("pre-tokenizer Split with behavior %q is not known", behavior)
	}
	switch pattern { // these match all of a text, so that nothing is between
	case patternLlama3:
		return cutBy(func(s string) int { return cl100kPiece(s, 3) }), nil
	case patternQwen2:
		return cutBy(func(s string) int { return cl100kPiece(s, 1) }), nil
	case patternGPT2:
		return cutBy(gpt2Piece), nil
	}
	re, err := regexp2.Compile(pattern, regexp2.None)
	if err != nil {
		return nil, fmt.Errorf("pre-tokenizer Split: pattern %.200q is not known", pattern)
	}
	re.MatchTimeout = matchTimeout
	return cutByPattern(re, removed), nil
}

// cutByPattern gives matches and, unless removed, what is between them.
func cutByPattern(re *regexp2.Regexp, removed bool) splitter {
	return func(text string, piece func(string)) error {
		matches, err := re.FindAllStringIndex(text, -1)
		if err != nil {
			return fmt.Errorf("tokenizer: the pattern took too long")
		}
		at := 0
		for _, m := range matches {
			if m[0] > at && !removed {
				piece(text[at:m[0]])
			}
			if m[1] > m[0] {
				piece(text[m[0]:m[1]])
			}
			at = m[1]
		}
		if at < len(text) && !removed {
			piece(text[at:])
		}
		return nil
	}
}
