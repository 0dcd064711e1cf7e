package token

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/valyala/fastjson"
)

const (
	maxFile   = 256 << 20
	minCached = 256 << 10 // what is shorter is read as fast as a cache
)

// OpenFile returns the codec of a tokenizer's file, which by its content is
//
//   - a Hugging Face tokenizer.json whose model is byte-level BPE, BPE with byte
//     fallback or unigram: the families of GPT-2, Llama, Qwen, DeepSeek, gpt-oss,
//     Mistral, Gemma, T5, XLM-R and others;
//   - Mistral's tekken.json;
//   - a SentencePiece model (tokenizer.model, spiece.model), BPE or unigram;
//   - a GGUF model with a byte-level BPE tokenizer, see [GGUF.Codec].
//
// Anything in the file that this package does not know is an error that names
// it, for a tokenizer that is nearly right counts wrong. Special tokens in a
// text are found as a tokenizer.json says, and are text to a SentencePiece
// model; the tokens that a post-processor adds around a text, such as the begin
// of text, are not counted.
//
// What was read of a tokenizer.json is kept below the user's cache folder, so
// that the next time takes a few milliseconds; see [Cache].
func OpenFile(path string) (Codec, error) { return UserCache().OpenFile(path) }

// contentName names a content.
func contentName(data []byte) string { return hashName(sha256.Sum256(data)) }

func hashName(sum [sha256.Size]byte) string { return "sha256:" + hex.EncodeToString(sum[:6]) }

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	defer f.Close()
	var b bytes.Buffer
	if info, err := f.Stat(); err == nil && info.Size() <= maxFile {
		b.Grow(int(info.Size()) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(io.LimitReader(f, maxFile+1)); err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	data := b.Bytes()
	if len(data) > maxFile {
		return nil, fmt.Errorf("tokenizer %s: longer than %d MiB", path, maxFile>>20)
	}
	return data, nil
}

// OpenFile is [OpenFile] with this cache.
func (c Cache) OpenFile(path string) (Codec, error) {
	if IsGGUF(path) {
		g, err := ReadGGUF(path)
		if err != nil {
			return nil, err
		}
		return g.Codec(path)
	}
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	made, err := c.open(data, sum)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	made.name = "file " + filepath.Base(path) + " " + hashName(sum)
	return made, nil
}

// open tells a file's kind.
func (c Cache) open(data []byte, sum [sha256.Size]byte) (*codec, error) {
	if len(data) > 0 && data[0] == pieceTag {
		return parseModelProto(data)
	}
	if len(data) >= minCached {
		if p := c.load(sum); p != nil {
			if made, err := p.codec(); err == nil {
				return made, nil
			}
		}
	}
	p, err := parseJSON(data)
	if errors.Is(err, errNoVocab) && fastjson.Exists(p.rest, "config", "pattern") {
		return parseTekken(data)
	}
	if err != nil {
		return nil, err
	}
	made, err := p.codec()
	if err == nil && len(data) >= minCached {
		c.store(sum, p)
	}
	return made, err
}

// parsed is what a tokenizer.json holds: its large lists read, the rest of it
// as it stands there.
type parsed struct {
	rest   []byte // JSON
	names  table  // of tokens, by id
	scores []float64
	merges []mergeRule
}

// mergeRule says what two tokens become; its place in the list is its rank.
type mergeRule struct{ a, b, to uint32 }

// codec makes the codec of what was read.
func (p *parsed) codec() (*codec, error) {
	root, err := fastjson.ParseBytes(p.rest)
	if err != nil {
		return nil, fmt.Errorf("no JSON: %.80s", err.Error())
	}
	c := &codec{}
	if c.normalize, err = normalizer(root.Get("normalizer"), "normalizer"); err != nil {
		return nil, err
	}
	steps, byteLevel, err := preTokenizers(root.Get("pre_tokenizer"))
	if err != nil {
		return nil, err
	}
	c.steps = steps
	if c.added, c.after, err = addedTokens(root.Get("added_tokens"), c.normalize); err != nil {
		return nil, err
	}
	text, err := decoder(root.Get("decoder"), byteLevel)
	if err != nil {
		return nil, err
	}
	c.front = text.front
	m := root.Get("model")
	switch kind := kindOf(m); {
	case kind == "Unigram":
		if byteLevel {
			return nil, errors.New("model Unigram behind pre-tokenizer ByteLevel is not known")
		}
		c.model, err = readUnigram(m, p, text)
	case kind == "BPE" || kind == "" && p.merges != nil: // files of old had no type
		var b *bpe
		if b, err = readBPE(m, &p.names, p.merges, byteLevel); err == nil {
			if !byteLevel {
				b.text = text.table(&p.names)
			}
			c.model = b
		}
	default:
		err = fmt.Errorf("model.type: %q is not known", kind)
	}
	if err != nil {
		return nil, err
	}
	if !byteLevel {
		c.normalize = valid(c.normalize)
	}
	return c, nil
}
