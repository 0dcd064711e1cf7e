package token

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/klauspost/compress/zstd"
)

//go:embed cl100k.zst
var cl100k []byte

//go:embed o200k.zst
var o200k []byte

//go:embed p50k.zst
var p50k []byte

// Encodings returns the names that [Encoding] knows.
func Encodings() []string {
	return []string{"o200k_base", "o200k_harmony", "cl100k_base", "p50k_base", "p50k_edit", "r50k_base"}
}

// Encoding returns the codec of one of OpenAI's encodings. Making it takes some
// milliseconds; it is then to be shared.
//
// Special tokens in a text count as the text that they are, as tiktoken's
// encode_ordinary counts and OpenAI's API counts what its users send. Only
// o200k_harmony, the form of rendered conversations with gpt-oss, finds them.
func Encoding(name string) (Codec, error) {
	c, err := encoding(name)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Builtin returns the built-in codec: cl100k_base.
func Builtin() Codec {
	c, err := encoding("cl100k_base")
	if err != nil {
		panic(err) // a damaged binary
	}
	c.name = "builtin cl100k_base"
	return c
}

func encoding(name string) (*codec, error) {
	c := &codec{name: "tiktoken " + name, added: newAdded()}
	var file []byte
	var first piecer
	size := -1 // all
	special := map[string]uint32{"<|endoftext|>": 50256}
	switch name {
	case "o200k_base", "o200k_harmony":
		file, first = o200k, o200kPiece
		special = map[string]uint32{"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
	case "cl100k_base":
		file, first = cl100k, tiktokenPiece
		special = map[string]uint32{"<|endoftext|>": 100257, "<|fim_prefix|>": 100258, "<|fim_middle|>": 100259, "<|fim_suffix|>": 100260, "<|endofprompt|>": 100276}
	case "p50k_base":
		file, first = p50k, gpt2Piece
	case "p50k_edit":
		file, first = p50k, gpt2Piece
		special = map[string]uint32{"<|endoftext|>": 50256, "<|fim_prefix|>": 50281, "<|fim_middle|>": 50282, "<|fim_suffix|>": 50283}
	case "r50k_base":
		file, first, size = p50k, gpt2Piece, 50256
	default:
		return nil, fmt.Errorf("tokenizer: encoding %.40q is not known: expected one of %s", name, strings.Join(Encodings(), ", "))
	}
	c.steps = []step{pieces{first}}
	m, err := rankModel(file, size)
	if err != nil {
		return nil, err
	}
	c.model = m
	if name == "o200k_harmony" {
		special = harmony()
		for s, id := range special {
			c.added.add(s, addedToken{id: id})
		}
	}
	for s, id := range special {
		c.added.texts[id] = s
	}
	return c, nil
}

// harmony returns the special tokens of o200k_harmony.
func harmony() map[string]uint32 {
	special := map[string]uint32{
		"<|startoftext|>": 199998, "<|endoftext|>": 199999, "<|return|>": 200002, "<|constrain|>": 200003,
		"<|channel|>": 200005, "<|start|>": 200006, "<|end|>": 200007, "<|message|>": 200008, "<|call|>": 200012,
	}
	taken := map[uint32]bool{}
	for _, id := range special {
		taken[id] = true
	}
	for id := uint32(200000); id < 201088; id++ {
		if !taken[id] {
			special[fmt.Sprintf("<|reserved_%d|>", id)] = id
		}
	}
	return special
}

// rankModel unpacks a vocabulary that gen.go wrote, at most size tokens of it.
func rankModel(file []byte, size int) (*bpe, error) {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	defer r.Close()
	b, err := r.DecodeAll(file, nil)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: a damaged vocabulary: %w", err)
	}
	// The lengths come first: as many as lead exactly to the end.
	n, sum := 0, 0
	for n < len(b) && n+sum < len(b) {
		sum += int(b[n])
		n++
	}
	if n+sum != len(b) {
		return nil, fmt.Errorf("tokenizer: a damaged vocabulary")
	}
	t := table{blob: b[n:], offsets: make([]uint32, 1, n+1)}
	at := uint32(0)
	for id := range n {
		if id == size {
			break
		}
		at += uint32(b[id])
		t.offsets = append(t.offsets, at)
	}
	t.blob = t.blob[:at]
	return newRankModel(t), nil
}

// newRankModel makes the model of a vocabulary whose ids are the ranks.
func newRankModel(t table) *bpe {
	m := &bpe{v: newVocabulary(t.blob, t.offsets), direct: true, text: t}
	for c := range 256 {
		m.single[c], m.known[c] = m.v.lookup(string([]byte{byte(c)}))
	}
	return m
}
