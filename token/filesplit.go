package token

import (
	"fmt"
	"time"
	"unicode"

	"github.com/valyala/fastjson"
)

// matchTimeout bounds what a pattern of a file may take for one text.
const matchTimeout = 10 * time.Second

// preTokenizers reads the pre-tokenizer of a file. byteLevel says that pieces
// are bytes to its model.
func preTokenizers(v *fastjson.Value) (steps []step, byteLevel bool, err error) {
	if isNull(v) {
		return nil, false, nil
	}
	list, path := []*fastjson.Value{v}, "pre_tokenizer"
	sequence := kindOf(v) == "Sequence"
	if sequence {
		if list, err = optionalArray(v.Get("pretokenizers"), path+".pretokenizers"); err != nil {
			return nil, false, err
		}
	}
	for i, p := range list {
		if sequence {
			path = fmt.Sprintf("pre_tokenizer.pretokenizers[%d]", i)
		}
		kind := kindOf(p)
		if byteLevel {
			return nil, false, fmt.Errorf("%s: pre-tokenizer %q behind ByteLevel is not known", path, kind)
		}
		made, err := preStep(kind, p, path)
		if err != nil {
			return nil, false, err
		}
		steps = append(steps, made...)
		byteLevel = kind == "ByteLevel"
	}
	return steps, byteLevel, nil
}

func preStep(kind string, p *fastjson.Value, path string) ([]step, error) {
	switch kind {
	case "ByteLevel":
		var steps []step
		if absentOrTrue(p, "add_prefix_space") {
			steps = append(steps, prefix{})
		}
		if absentOrTrue(p, "use_regex") {
			steps = append(steps, pieces{gpt2Piece})
		}
		return steps, nil
	case "Digits":
		b := contiguous
		if p.GetBool("individual_digits") {
			b = isolated
		}
		return []step{matches{find: byRune(unicode.IsNumber), behavior: b}}, nil
	case "WhitespaceSplit":
		return []step{matches{find: byRune(unicode.IsSpace), behavior: removed}}, nil
	case "Metaspace":
		return metaspaceStep(p, path)
	case "Split":
		return splitStep(p, path)
	}
	return nil, fmt.Errorf("%s: pre-tokenizer %q is not known", path, kind)
}

// absentOrTrue reads an option that is on where it is not there.
func absentOrTrue(p *fastjson.Value, option string) bool {
	v := p.Get(option)
	return isNull(v) || v.Type() == fastjson.TypeTrue
}

func metaspaceStep(p *fastjson.Value, path string) ([]step, error) {
	m := metaspace{mark: string(p.GetStringBytes("replacement")), front: "always", split: absentOrTrue(p, "split")}
	if m.mark == "" {
		return nil, fmt.Errorf("%s.replacement: expected a character", path)
	}
	if s := p.GetStringBytes("prepend_scheme"); len(s) > 0 {
		m.front = string(s)
	} else if !absentOrTrue(p, "add_prefix_space") {
		m.front = "never"
	}
	switch m.front {
	case "always", "first", "never":
		return []step{m}, nil
	}
	return nil, fmt.Errorf("%s.prepend_scheme: %.40q is not known", path, m.front)
}

// splitStep reads a Split by pattern.
func splitStep(p *fastjson.Value, path string) ([]step, error) {
	m := matches{behavior: behavior(p.GetStringBytes("behavior")), invert: p.GetBool("invert")}
	switch m.behavior {
	case removed, isolated, mergedWithPrevious, mergedWithNext, contiguous:
	default:
		return nil, fmt.Errorf("%s.behavior: %.40q is not known", path, m.behavior)
	}
	if s := p.GetStringBytes("pattern", "String"); len(s) > 0 {
		m.find = byText(string(s))
		return []step{m}, nil
	}
	if first := piecerOf(string(p.GetStringBytes("pattern", "Regex"))); first != nil {
		// Where the pattern matches all of a text, what is between its matches
		// is nothing.
		if m.behavior == isolated || m.behavior == removed && m.invert && matchesAll(p) {
			return []step{pieces{first}}, nil
		}
	}
	re, err := pattern(p, path)
	if err != nil {
		return nil, err
	}
	m.find = byPattern(re)
	return []step{m}, nil
}

// matchesAll tells whether the pattern of a Split leaves nothing of any text.
func matchesAll(p *fastjson.Value) bool {
	switch string(p.GetStringBytes("pattern", "Regex")) {
	case patternLlama3, patternQwen2, patternQwen35, patternGPT2, patternO200k, patternTekken:
		return true
	}
	return false
}
