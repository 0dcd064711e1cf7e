package token

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"
)

// spmPiece is a piece of a model that a test makes.
type spmPiece struct {
	text  string
	score float32
	kind  uint64
}

// spmModel writes a ModelProto.
func spmModel(trainer, normalizer []byte, list ...spmPiece) []byte {
	var b []byte
	for _, p := range list {
		var m []byte
		m = protowire.AppendString(protowire.AppendTag(m, 1, protowire.BytesType), p.text)
		m = protowire.AppendFixed32(protowire.AppendTag(m, 2, protowire.Fixed32Type), math.Float32bits(p.score))
		m = protowire.AppendVarint(protowire.AppendTag(m, 3, protowire.VarintType), p.kind)
		b = protowire.AppendBytes(protowire.AppendTag(b, 1, protowire.BytesType), m)
	}
	b = protowire.AppendBytes(protowire.AppendTag(b, 2, protowire.BytesType), trainer)
	return protowire.AppendBytes(protowire.AppendTag(b, 3, protowire.BytesType), normalizer)
}

func option(num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), v)
}

func openModel(t testing.TB, b []byte) (Codec, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokenizer.model")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return OpenFile(path)
}

// TestModel counts by hand: of two ways to write a word the one with the higher
// sum is taken by a unigram model, and the pair of the highest score merges
// first in a BPE model.
func TestModel(t *testing.T) {
	list := []spmPiece{{"<unk>", 0, pieceUnknown}, {"<s>", 0, pieceControl}, {spaceMark, -2, pieceNormal},
		{"a", -3, pieceNormal}, {"b", -3, pieceNormal}, {"c", -3, pieceNormal},
		{"ab", -5, pieceNormal}, {"bc", -4, pieceNormal}, {spaceMark + "a", -4.5, pieceNormal}, {"<x>", 0, pieceUserDefined}}
	tests := map[string]struct {
		kind       uint64
		normalizer []byte
		text       string
		want       string
	}{
		// " a" + "bc" = -8.5 against "▁" + "ab" + "c" = -10.
		"unigram": {modelUnigram, nil, "abc", " a|bc"},
		// "bc" first (-4), then " a" (-4.5).
		"bpe":                        {modelBPE, nil, "abc", " a|bc"},
		"spaces are joined":          {modelUnigram, nil, "  a   b ", " a| |b"},
		"spaces stay":                {modelUnigram, option(4, 0), "a  b", " a| | |b"},
		"no space in front":          {modelUnigram, option(3, 0), "abc", "a|bc"},
		"unknown characters fuse":    {modelUnigram, nil, "xyz", " |<unk>"},
		"in BPE too":                 {modelBPE, nil, "xyza", " |<unk>|a"},
		"user-defined":               {modelUnigram, nil, "a<x>b", " a|<x>|b"},
		"in BPE user-defined":        {modelBPE, nil, "a<x>b", " a|<x>|b"},
		"control is text":            {modelUnigram, nil, "<s>", " |<unk>"},
		"a byte that is no UTF-8":    {modelUnigram, nil, "a\xff", " a|<unk>"},
		"nothing":                    {modelUnigram, nil, "", ""},
		"nothing but spaces":         {modelBPE, nil, "   ", ""},
		"the mark itself is a space": {modelBPE, nil, spaceMark + "a", " | a"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := openModel(t, spmModel(option(3, tt.kind), tt.normalizer, list...))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(tokens(t, c, tt.text), "|"); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestModelRefused(t *testing.T) {
	unk := spmPiece{"<unk>", 0, pieceUnknown}
	a := spmPiece{"a", -1, pieceNormal}
	tests := map[string]struct {
		model []byte
		say   string
	}{
		"words":         {spmModel(option(3, modelWord), nil, unk, a), "type WORD"},
		"characters":    {spmModel(option(3, modelChar), nil, unk, a), "type CHAR"},
		"a new type":    {spmModel(option(3, 9), nil, unk, a), "type 9"},
		"a new piece":   {spmModel(nil, nil, unk, spmPiece{"a", 0, 9}), "type 9 is not known"},
		"empty":         {spmModel(nil, nil, unk, spmPiece{"", 0, pieceNormal}), "piece 1 is empty"},
		"no number":     {spmModel(nil, nil, unk, spmPiece{"a", float32(math.NaN()), pieceNormal}), "its score"},
		"no unknown":    {spmModel(nil, nil, a), "0 unknown pieces"},
		"two unknown":   {spmModel(nil, nil, unk, unk), "2 unknown pieces"},
		"unused in BPE": {spmModel(option(3, modelBPE), nil, unk, spmPiece{"a", 0, pieceUnused}), "unused"},
		"no bytes":      {spmModel(option(35, 1), nil, unk, a), "<0x00>"},
		"a wrong byte":  {spmModel(option(35, 1), nil, unk, spmPiece{"<0xZZ>", 0, pieceByte}), "expected a byte"},
		"charsmap":      {spmModel(nil, protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), []byte("abcdefg")), unk, a), "charsmap"},
		"cut":           {spmModel(nil, nil, unk, a)[:9], "damaged"},
	}
	for name, tt := range tests {
		if _, err := openModel(t, tt.model); err == nil || !strings.Contains(err.Error(), tt.say) || !strings.Contains(err.Error(), "tokenizer.model") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestText: where nothing is normalized away, what is encoded comes back.
func TestText(t *testing.T) {
	for _, name := range []string{"unigram-identity.model", "bpe-user.model"} {
		c, err := OpenFile(filepath.Join("testdata/models", name))
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			s := strings.ToValidUTF8(texts().Draw(t, "text"), "")
			s = strings.NewReplacer(spaceMark, "", "<s>", "", "</s>", "", "<unk>", "").Replace(s)
			ids, err := c.Encode(nil, s)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := Text(c, ids); err != nil || back != s {
				t.Fatalf("%s: %q came back as %q, %v", name, s, back, err)
			}
		})
	}
}

// TestBehaviors cuts "abXXcX" at X.
func TestBehaviors(t *testing.T) {
	for b, want := range map[behavior]string{
		removed: "ab c", isolated: "ab X X c X", mergedWithPrevious: "abX X cX", mergedWithNext: "ab X Xc X", contiguous: "ab XX c X",
	} {
		got := strings.Join(cutAll(t, []step{matches{find: byText("X"), behavior: b}}, "abXXcX"), " ")
		if got != want {
			t.Errorf("%s: %s, want %s", b, got, want)
		}
	}
}

func FuzzModel(f *testing.F) {
	for _, kind := range []uint64{modelUnigram, modelBPE} {
		f.Add(spmModel(option(3, kind), nil, spmPiece{"<unk>", 0, pieceUnknown}, spmPiece{"a", -1, pieceNormal}, spmPiece{"ab", -2, pieceUserDefined}), "ab c\xff")
	}
	f.Fuzz(func(t *testing.T, model []byte, text string) {
		c, err := parseModelProto(model)
		if err != nil {
			return
		}
		ids, err := c.Encode(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Decode(nil, ids); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzCharsmap(f *testing.F) {
	b := binary.LittleEndian.AppendUint32(nil, 8)
	f.Add(append(b, "\x00\x04\x00\x00a\x01\x00\x00x\x00"...), "abc")
	f.Fuzz(func(t *testing.T, b []byte, text string) {
		m, err := newCharsmap(b)
		if err != nil {
			return
		}
		m.graphemes(text)
		for i := range text {
			m.longest(text[i:])
		}
	})
}
