package token

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/valyala/fastjson"
)

const maxFile = 256 << 20

// OpenFile returns the codec of a Hugging Face tokenizer.json whose model is
// byte-level BPE: the families of GPT-2, Llama 3, Qwen, DeepSeek, SmolLM and
// others. Anything in the file that this package does not know is an error that
// names it, for a tokenizer that is nearly right counts wrong. Special tokens
// in a text are found as the file says; the tokens that a post-processor adds
// around a text, such as the begin of text, are not counted.
func OpenFile(path string) (Codec, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("tokenizer %s: longer than %d MiB", path, maxFile>>20)
	}
	c, err := parseFile(data)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	sum := sha256.Sum256(data)
	c.name = "file " + filepath.Base(path) + " sha256:" + hex.EncodeToString(sum[:6])
	return c, nil
}

// hf is the codec of a tokenizer.json.
type hf struct {
	name      string
	v         *vocabulary
	added     *added
	normalize func(string) string // nil: none
	split     splitter
	pairs     map[uint64]merged
	bytes     [256]uint32 // ids of the tokens of one byte
	known     [256]bool   // whether there is one
	unknown   uint32      // for a byte without one
	hasUnk    bool
	direct    bool // a piece that is a token is taken as it is
	// checked says of each token whether merging its bytes gives the token:
	// 0 not tried yet, 1 yes, 2 no.
	checked []atomic.Uint32
}

// merged is what a pair of tokens becomes, and how early.
type merged struct{ id, rank uint32 }

func pair(a, b uint32) uint64 { return uint64(a)<<32 | uint64(b) }

func (c *hf) Name() string { return c.name }

func (c *hf) Count(text string) (int, error) {
	n := 0
	err := c.each(text, func(uint32) { n++ })
	return n, err
}

func (c *hf) Encode(ids []uint32, text string) ([]uint32, error) {
	err := c.each(text, func(id uint32) { ids = append(ids, id) })
	return ids, err
}

func (c *hf) Decode(b []byte, ids []uint32) ([]byte, error) {
	for _, id := range ids {
		t := c.v.token(id)
		if t == nil {
			if t = c.added.text(id); t == nil {
				return b, fmt.Errorf("no token has the id %d", id)
			}
		}
		b = append(b, t...)
	}
	return b, nil
}

// each gives the ids of a text in order.
func (c *hf) each(text string, yield func(uint32)) error {
	var m merger
	piece := func(s string) { c.piece(&m, s, yield) }
	return c.added.split(text, func(s string) error {
		if c.normalize != nil {
			s = c.normalize(s)
		}
		return c.split(s, piece)
	}, yield)
}

// piece gives the ids of one piece.
func (c *hf) piece(m *merger, s string, yield func(uint32)) {
	id, ok := c.v.lookup(s)
	if ok && (c.direct || c.checked[id].Load() == 1) {
		yield(id)
		return
	}
	parts := c.merge(m, s)
	if ok {
		state := uint32(2)
		if len(parts) == 1 && parts[0].id == id {
			state = 1
		}
		c.checked[id].Store(state)
	}
	for _, p := range parts {
		yield(p.id)
	}
}

func (c *hf) merge(m *merger, s string) []part {
	m.parts = m.parts[:0]
	for i := range len(s) {
		switch b := s[i]; {
		case c.known[b]:
			m.parts = append(m.parts, part{id: c.bytes[b], start: int32(i)})
		case c.hasUnk:
			m.parts = append(m.parts, part{id: c.unknown, start: int32(i)})
		}
	}
	return m.merge(len(s), func(a, b uint32, _, _ int32) (id, rank uint32) {
		p, ok := c.pairs[pair(a, b)]
		if !ok {
			return 0, noRank
		}
		return p.id, p.rank
	})
}

func parseFile(data []byte) (*hf, error) {
	root, err := fastjson.ParseBytes(data)
	if err != nil {
		return nil, fmt.Errorf("no JSON: %.80s", err.Error())
	}
	c := &hf{}
	if c.normalize, err = normalizer(root.Get("normalizer")); err != nil {
		return nil, err
	}
	if c.split, err = preTokenizer(root.Get("pre_tokenizer")); err != nil {
		return nil, err
	}
	if err := c.model(root.Get("model")); err != nil {
		return nil, err
	}
	if c.added, err = addedTokens(root.Get("added_tokens"), c.normalize != nil); err != nil {
		return nil, err
	}
	return c, nil
}
