package token

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/valyala/fastjson"
	"golang.org/x/text/unicode/norm"
)

func isNull(v *fastjson.Value) bool { return v == nil || v.Type() == fastjson.TypeNull }

func kindOf(v *fastjson.Value) string { return string(v.GetStringBytes("type")) }

// normalizer reads the normalizer of a file; nil: none. path says where in the
// file it stands.
func normalizer(v *fastjson.Value, path string) (func(string) string, error) {
	if isNull(v) {
		return nil, nil
	}
	switch kind := kindOf(v); kind {
	case "NFC":
		return norm.NFC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKC":
		return norm.NFKC.String, nil
	case "NFKD":
		return norm.NFKD.String, nil
	case "Sequence":
		return normalizers(v, path)
	case "Prepend":
		front := string(v.GetStringBytes("prepend"))
		return func(s string) string {
			if s == "" {
				return ""
			}
			return front + s
		}, nil
	case "Replace":
		return replacing(v, path)
	case "Strip":
		return stripping(v), nil
	case "Precompiled":
		b, err := base64.StdEncoding.DecodeString(string(v.GetStringBytes("precompiled_charsmap")))
		if err != nil {
			return nil, fmt.Errorf("%s.precompiled_charsmap: expected base64", path)
		}
		m, err := newCharsmap(b)
		if err != nil {
			return nil, fmt.Errorf("%s.precompiled_charsmap: %w", path, err)
		}
		return m.graphemes, nil
	default:
		return nil, fmt.Errorf("%s: normalizer %q is not known", path, kind)
	}
}

func normalizers(v *fastjson.Value, path string) (func(string) string, error) {
	list, err := optionalArray(v.Get("normalizers"), path+".normalizers")
	if err != nil {
		return nil, err
	}
	var all func(string) string
	for i, n := range list {
		f, err := normalizer(n, fmt.Sprintf("%s.normalizers[%d]", path, i))
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
}

func stripping(v *fastjson.Value) func(string) string {
	left, right := v.GetBool("strip_left"), v.GetBool("strip_right")
	return func(s string) string {
		if left {
			s = strings.TrimLeftFunc(s, unicode.IsSpace)
		}
		if right {
			s = strings.TrimRightFunc(s, unicode.IsSpace)
		}
		return s
	}
}

// replacing reads a Replace, as normalizer or decoder.
func replacing(v *fastjson.Value, path string) (func(string) string, error) {
	content := string(v.GetStringBytes("content"))
	if s := v.GetStringBytes("pattern", "String"); len(s) > 0 {
		what := string(s)
		return func(s string) string { return strings.ReplaceAll(s, what, content) }, nil
	}
	re, err := pattern(v, path)
	if err != nil {
		return nil, err
	}
	find := byPattern(re)
	return func(s string) string {
		list, err := find(nil, s)
		if err != nil {
			return s
		}
		var b strings.Builder
		for _, p := range list {
			if p.match {
				b.WriteString(content)
			} else {
				b.WriteString(s[p.from:p.to])
			}
		}
		return b.String()
	}, nil
}

// maxPattern bounds the regular expressions of a file, in bytes.
const maxPattern = 1 << 16

// pattern reads the regular expression of a Split or Replace.
func pattern(v *fastjson.Value, path string) (*regexp2.Regexp, error) {
	p := string(v.GetStringBytes("pattern", "Regex"))
	if p == "" || len(p) > maxPattern {
		return nil, fmt.Errorf("%s.pattern: expected String or Regex of 1 to %d bytes", path, maxPattern)
	}
	re, err := regexp2.Compile(p, regexp2.None)
	if err != nil {
		return nil, fmt.Errorf("%s.pattern: %.200q is not known", path, p)
	}
	re.MatchTimeout = matchTimeout
	return re, nil
}

// valid puts U+FFFD for each byte that is no UTF-8 before normalizing: models
// whose pieces begin as characters know no other way.
func valid(normalize func(string) string) func(string) string {
	return func(s string) string {
		if !utf8.ValidString(s) {
			s = string([]rune(s))
		}
		if normalize != nil {
			s = normalize(s)
		}
		return s
	}
}
