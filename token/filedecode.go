package token

import (
	"fmt"
	"strings"

	"github.com/valyala/fastjson"
)

// decode is how a file's decoder turns the names of tokens into text. What it
// does to the text as a whole, such as to take a space off its front, is known
// and left out.
type decode struct {
	byteTokens bool       // <0x0A> is the byte
	replace    []stringTo // in order
	front      bool       // the space that a text begins with is taken off
}

type stringTo struct{ what, to string }

// decoder reads the decoder of a file.
func decoder(v *fastjson.Value, byteLevel bool) (decode, error) {
	var d decode
	if isNull(v) {
		return d, nil
	}
	list, path := []*fastjson.Value{v}, "decoder"
	sequence := kindOf(v) == "Sequence"
	if sequence {
		var err error
		if list, err = optionalArray(v.Get("decoders"), "decoder.decoders"); err != nil {
			return d, err
		}
	}
	for i, s := range list {
		if sequence {
			path = fmt.Sprintf("decoder.decoders[%d]", i)
		}
		if err := d.step(s, path, byteLevel); err != nil {
			return d, err
		}
	}
	return d, nil
}

func (d *decode) step(s *fastjson.Value, path string, byteLevel bool) error {
	switch kind := kindOf(s); kind {
	case "ByteLevel":
		if !byteLevel {
			return fmt.Errorf("%s: ByteLevel without pre-tokenizer ByteLevel is not known", path)
		}
	case "ByteFallback":
		d.byteTokens = true
	case "Fuse":
	case "Strip":
		d.front = d.front || string(s.GetStringBytes("content")) == " " && s.GetInt("start") > 0
	case "Metaspace":
		if mark := string(s.GetStringBytes("replacement")); mark != "" {
			d.replace = append(d.replace, stringTo{mark, " "})
			d.front = d.front || string(s.GetStringBytes("prepend_scheme")) != "never" && absentOrTrue(s, "add_prefix_space")
		}
	case "Replace":
		what := string(s.GetStringBytes("pattern", "String"))
		if what == "" {
			return fmt.Errorf("%s.pattern: expected String", path)
		}
		d.replace = append(d.replace, stringTo{what, string(s.GetStringBytes("content"))})
	default:
		return fmt.Errorf("%s: decoder %q is not known", path, kind)
	}
	return nil
}

// table returns the texts of tokens with these names.
func (d decode) table(names *table) table {
	t := table{blob: make([]byte, 0, len(names.blob)), offsets: make([]uint32, 1, len(names.offsets))}
	for id := range len(names.offsets) - 1 {
		name := names.at(uint32(id))
		if b, ok := byteName(name); ok && d.byteTokens {
			t.add([]byte{b})
			continue
		}
		s := string(name)
		for _, r := range d.replace {
			s = strings.ReplaceAll(s, r.what, r.to)
		}
		t.add([]byte(s))
	}
	return t
}

// byteName reads <0x0A>.
func byteName(name []byte) (byte, bool) {
	if len(name) != 6 || name[0] != '<' || name[1] != '0' || name[2] != 'x' || name[5] != '>' {
		return 0, false
	}
	hi, lo := strings.IndexByte(hexDigits, name[3]), strings.IndexByte(hexDigits, name[4])
	return byte(hi<<4 | lo), hi >= 0 && lo >= 0
}

const hexDigits = "0123456789ABCDEF"
