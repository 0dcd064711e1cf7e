//go:build ignore

// Command gen writes cl100k.bin: the ordinary tokens of cl100k_base in order of
// their ids, each as one byte of length and its bytes.
package main

import (
	"log"
	"os"

	"github.com/tiktoken-go/tokenizer/codec"
)

const ordinary = 100256

func main() {
	c := codec.NewCl100kBase()
	var out []byte
	for id := range uint(ordinary) {
		s, err := c.Decode([]uint{id})
		if err != nil || len(s) > 255 {
			log.Fatal(id, err, len(s))
		}
		out = append(append(out, byte(len(s))), s...)
	}
	if err := os.WriteFile("cl100k.bin", out, 0o644); err != nil {
		log.Fatal(err)
	}
}
