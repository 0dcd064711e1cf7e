package token

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
)

// GGUF is what a GGUF model file says of its tokenizer and chats. The format is
// that of ggml-org's gguf.md, versions 2 and 3; the tensors are not read.
type GGUF struct {
	Model        string // tokenizer.ggml.model
	Pre          string // tokenizer.ggml.pre
	ChatTemplate string // empty: none
	BOS, EOS     string // texts of the tokens; empty: none
	AddBOS       bool   // the begin of text is put in front of prompts

	tokens []string
	types  []int64
	merges []string
	sum    []byte // SHA-256 of the metadata
}

const ggufMagic = "GGUF"

// IsGGUF tells whether a file begins as a GGUF file does.
func IsGGUF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var b [4]byte
	_, err = io.ReadFull(f, b[:])
	return err == nil && string(b[:]) == ggufMagic
}

// ReadGGUF reads the metadata of a GGUF file.
func ReadGGUF(path string) (*GGUF, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	defer f.Close()
	g, err := readGGUF(f)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	return g, nil
}

// The bounds of a file's metadata.
const (
	ggufMaxKeys  = 1 << 16
	ggufMaxItems = maxID + 1
	ggufMaxText  = 8 << 20
	ggufMaxBytes = 256 << 20
)

func readGGUF(r io.Reader) (*GGUF, error) {
	d := &ggufReader{r: bufio.NewReaderSize(io.LimitReader(r, ggufMaxBytes), 1<<16), hash: sha256.New()}
	if string(d.bytes(4)) != ggufMagic {
		return nil, errors.New("no GGUF file")
	}
	if v := d.number(4); d.err == nil && v != 2 && v != 3 {
		return nil, fmt.Errorf("GGUF version %d is not known", v)
	}
	d.number(8) // tensors
	keys := d.number(8)
	if d.err == nil && keys > ggufMaxKeys {
		return nil, fmt.Errorf("GGUF with %d keys", keys)
	}
	g := &GGUF{}
	bos, eos := int64(-1), int64(-1)
	for range keys {
		key, kind := string(d.text()), d.number(4)
		v := d.value(kind)
		if d.err != nil {
			break
		}
		switch key {
		case "tokenizer.ggml.model":
			g.Model, _ = v.(string)
		case "tokenizer.ggml.pre":
			g.Pre, _ = v.(string)
		case "tokenizer.chat_template":
			g.ChatTemplate, _ = v.(string)
		case "tokenizer.ggml.tokens":
			g.tokens, _ = v.([]string)
		case "tokenizer.ggml.merges":
			g.merges, _ = v.([]string)
		case "tokenizer.ggml.token_type":
			g.types, _ = v.([]int64)
		case "tokenizer.ggml.bos_token_id":
			bos, _ = v.(int64)
		case "tokenizer.ggml.eos_token_id":
			eos, _ = v.(int64)
		case "tokenizer.ggml.add_bos_token":
			n, _ := v.(int64)
			g.AddBOS = n != 0
		}
	}
	if d.err != nil {
		return nil, fmt.Errorf("GGUF metadata: %w", d.err)
	}
	if len(g.tokens) == 0 {
		return nil, errors.New("GGUF without tokenizer.ggml.tokens")
	}
	g.BOS, g.EOS, g.sum = g.token(bos), g.token(eos), d.hash.Sum(nil)
	return g, nil
}

func (g *GGUF) token(id int64) string {
	if id < 0 || id >= int64(len(g.tokens)) {
		return ""
	}
	return g.tokens[id]
}

// ggufReader reads little-endian values; the first error stays.
type ggufReader struct {
	r    *bufio.Reader
	hash hash.Hash
	err  error
}

func (d *ggufReader) bytes(n uint64) []byte {
	if d.err == nil && n > ggufMaxText {
		d.err = fmt.Errorf("a value of %d bytes", n)
	}
	if d.err != nil {
		return nil
	}
	b := make([]byte, n)
	if _, d.err = io.ReadFull(d.r, b); d.err != nil {
		if errors.Is(d.err, io.EOF) {
			d.err = io.ErrUnexpectedEOF
		}
		return nil
	}
	_, _ = d.hash.Write(b) // never fails
	return b
}

func (d *ggufReader) number(size int) uint64 {
	var b [8]byte
	copy(b[:], d.bytes(uint64(size)))
	return binary.LittleEndian.Uint64(b[:])
}

func (d *ggufReader) text() []byte { return d.bytes(d.number(8)) }

// ggufSizes are the sizes of numbers by their kinds; 0: no number.
var ggufSizes = [...]int{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}

const (
	ggufText = 8
	ggufList = 9
)

// value reads a value: string, []string, int64 or []int64. Numbers with a
// fraction are passed, and are 0.
func (d *ggufReader) value(kind uint64) any {
	switch {
	case kind == ggufText:
		return string(d.text())
	case kind == ggufList:
		return d.list()
	case kind >= uint64(len(ggufSizes)):
		if d.err == nil {
			d.err = fmt.Errorf("a value of the unknown type %d", kind)
		}
		return nil
	}
	n := d.number(ggufSizes[kind])
	switch kind {
	case 5: // int32
		return int64(int32(n)) //nolint:gosec // 4 bytes were read
	case 6, 12: // float32, float64
		return int64(0)
	}
	return int64(n) //nolint:gosec // ids and flags
}

func (d *ggufReader) list() any {
	kind, n := d.number(4), d.number(8)
	if d.err == nil && (n > ggufMaxItems || kind == ggufList) {
		d.err = fmt.Errorf("a list of %d values of type %d", n, kind)
	}
	if kind == ggufText {
		var list []string
		for range n {
			if d.err != nil {
				return nil
			}
			list = append(list, string(d.text()))
		}
		return list
	}
	var list []int64
	for range n {
		if d.err != nil {
			return nil
		}
		v, _ := d.value(kind).(int64)
		list = append(list, v)
	}
	return list
}

// The token types that are found in a text before it is cut.
const (
	ggufControl     = 3
	ggufUserDefined = 4
)

// Codec returns the tokenizer, as llama.cpp counts with it: byte-level BPE with
// the pre-tokenizers of the Llama 3, Qwen 2, GPT-2, SmolLM and GPT-4o families.
// Another one is an error that names it. Special tokens in a text are found.
func (g *GGUF) Codec(name string) (Codec, error) {
	if g.Model != "gpt2" {
		return nil, fmt.Errorf("tokenizer %s: tokenizer.ggml.model %q is not known: give the model's tokenizer.json", name, g.Model)
	}
	pre, direct, err := ggufPre(g.Pre)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", name, err)
	}
	p := &parsed{}
	added := []map[string]any{}
	for id, t := range g.tokens {
		p.names.add([]byte(t))
		if id < len(g.types) && (g.types[id] == ggufControl || g.types[id] == ggufUserDefined) && t != "" {
			added = append(added, map[string]any{"id": id, "content": t, "special": g.types[id] == ggufControl, "normalized": false})
		}
	}
	v := newVocabulary(p.names.blob, p.names.offsets)
	for rank, m := range g.merges {
		a, b, ok := cutMerge(m)
		ia, ok1 := v.lookup(a)
		ib, ok2 := v.lookup(b)
		to, ok3 := v.lookup(a + b)
		if !ok || !ok1 || !ok2 || !ok3 {
			return nil, fmt.Errorf("tokenizer %s: tokenizer.ggml.merges[%d]: a token is not in the vocabulary", name, rank)
		}
		p.merges = append(p.merges, mergeRule{ia, ib, to})
	}
	if p.rest, err = json.Marshal(map[string]any{"pre_tokenizer": pre, "decoder": map[string]any{"type": "ByteLevel"},
		"added_tokens": added, "model": map[string]any{"type": "BPE", "ignore_merges": direct}}); err != nil {
		return nil, err
	}
	c, err := p.codec()
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", name, err)
	}
	c.name = "file " + filepath.Base(name) + " sha256:" + hex.EncodeToString(g.sum[:6])
	return c, nil
}

// cutMerge cuts "a b"; a token may begin with a space that is none, so the cut
// is behind the first byte.
func cutMerge(m string) (a, b string, ok bool) {
	if len(m) < 3 {
		return "", "", false
	}
	i := bytes.IndexByte([]byte(m[1:]), ' ')
	if i < 0 {
		return "", "", false
	}
	return m[:i+1], m[i+2:], true
}

// ggufPre is a pre-tokenizer by llama.cpp's name, and whether a piece that is a
// token is taken as it is.
func ggufPre(name string) (pre any, direct bool, err error) {
	bytelevel := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}
	byPattern := func(pattern string) any {
		return map[string]any{"type": "Sequence", "pretokenizers": []any{
			map[string]any{"type": "Split", "pattern": map[string]any{"Regex": pattern}, "behavior": "Isolated", "invert": false}, bytelevel}}
	}
	switch name {
	case "llama3", "llama-v3", "llama-bpe", "falcon3":
		return byPattern(patternLlama3), true, nil
	case "qwen2", "deepseek-r1-qwen", "megrez":
		return byPattern(patternQwen2), false, nil
	case "gpt-4o", "llama4":
		return byPattern(patternO200k), name == "llama4", nil
	case "gpt-2", "phi-2", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de":
		return map[string]any{"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}, false, nil
	case "smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b":
		return map[string]any{"type": "Sequence", "pretokenizers": []any{map[string]any{"type": "Digits", "individual_digits": true},
			map[string]any{"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}}}, false, nil
	}
	return nil, false, fmt.Errorf("tokenizer.ggml.pre %q is not known: give the model's tokenizer.json", name)
}
