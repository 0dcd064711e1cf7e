//go:build ignore

// Command gen writes classes.bin, the class of every character by the tables of
// package unicode, and the vocabularies: the ordinary tokens of an encoding in
// order of their ids, first the length of each (0: no token has the id), then
// their bytes, all compressed.
package main

import (
	"log"
	"os"
	"unicode"

	"github.com/klauspost/compress/zstd"
	"github.com/tiktoken-go/tokenizer/codec"
)

func main() {
	write("classes.bin", classes())
	vocabulary("cl100k.zst", codec.NewCl100kBase(), 100256)
	vocabulary("o200k.zst", codec.NewO200kBase(), 199998)
	vocabulary("p50k.zst", codec.NewP50kBase(), 50281)
}

func write(name string, b []byte) {
	if err := os.WriteFile(name, b, 0o644); err != nil {
		log.Fatal(err)
	}
	log.Print(name, " ", len(b))
}

// eot is no ordinary token, but stands among those of p50k.
const eot = 50256

func vocabulary(name string, c *codec.Codec, size uint) {
	lengths := make([]byte, 0, size)
	var texts []byte
	for id := range size {
		s, err := c.Decode([]uint{id})
		switch {
		case size == 50281 && id == eot:
			s = ""
		case err != nil || s == "" || len(s) > 255:
			log.Fatal(name, id, err, len(s))
		}
		lengths = append(lengths, byte(len(s)))
		texts = append(texts, s...)
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(4<<20))
	if err != nil {
		log.Fatal(err)
	}
	write(name, w.EncodeAll(append(lengths, texts...), nil))
}

// The classes, as in class.go.
const (
	other = iota
	punct
	mark
	upper
	lower
	caseless
	digit
	space
	newline
)

func classOf(r rune) byte {
	switch {
	case r == '\n', r == '\r':
		return newline
	case unicode.IsSpace(r):
		return space
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper
	case unicode.Is(unicode.Ll, r):
		return lower
	case unicode.In(r, unicode.Lm, unicode.Lo):
		return caseless
	case unicode.Is(unicode.N, r):
		return digit
	case unicode.Is(unicode.M, r):
		return mark
	case unicode.In(r, unicode.P, unicode.S):
		return punct
	}
	return other
}

// classes gives for each 256 characters the number of a block, then the blocks.
func classes() []byte {
	var index, blocks []byte
	seen := map[string]int{}
	for from := rune(0); from <= unicode.MaxRune; from += 256 {
		block := make([]byte, 256)
		for i := range block {
			block[i] = classOf(from + rune(i))
		}
		n, ok := seen[string(block)]
		if !ok {
			n = len(seen)
			seen[string(block)] = n
			blocks = append(blocks, block...)
		}
		if n > 255 {
			log.Fatal("more than 256 blocks")
		}
		index = append(index, byte(n))
	}
	return append(index, blocks...)
}
