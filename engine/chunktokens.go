package engine

import (
	"bytes"

	"github.com/tokamak-bench/tokamak/token"
)

// Where the token counts of chunks are from; the words of token_source.
const (
	SourceUsageDelta   = "usage_delta"    // the server's usage in each chunk
	SourceTokenizer    = "tokenizer"      // our tokenizer over the text of each choice
	SourceOneEach      = "one_each"       // content chunks equal the usage within one
	SourceUsageByBytes = "usage_by_bytes" // the usage shared by the bytes of the chunks
)

// ChunkTokens says how many tokens each content chunk of an answer holds, and
// where that is from; nil and an empty source where nothing tells. In order:
// the server's usage in the chunks; tok, if it is not nil, over the growing
// text; one each, if there are as many chunks as the usage has tokens, give or
// take one; the usage shared by bytes. The counts add up to, in that order: the
// usage at the last content chunk; the tokens of the texts; the chunks; the
// usage.
func ChunkTokens(a *Answer, tok token.Codec) (tokens []int32, source string) {
	n := int64(len(a.Chunks.At))
	if n == 0 {
		return nil, ""
	}
	if a.Chunks.Tokens != nil {
		return a.Chunks.Tokens, SourceUsageDelta
	}
	if tok != nil {
		if t := tokenized(a, tok); t != nil {
			return t, SourceTokenizer
		}
	}
	u := a.Usage.Completion
	switch {
	case !u.Known:
		return nil, ""
	case u.N-n <= 1 && n-u.N <= 1:
		t := make([]int32, n)
		for i := range t {
			t[i] = 1
		}
		return t, SourceOneEach
	}
	return byBytes(a.Chunks.Bytes, u.N), SourceUsageByBytes
}

// tokenized counts each token at the chunk that brought its last byte.
func tokenized(a *Answer, tok token.Codec) []int32 {
	out := make([]int32, len(a.Chunks.At))
	var ids []uint32
	var text, piece []byte
	var rows []int // of the choice being counted
	for _, choice := range choices(a.Chunks.Choice) {
		text, rows = text[:0], rows[:0]
		offset := 0
		for i, size := range a.Chunks.Bytes {
			if a.Chunks.Choice[i] == choice {
				text = append(text, a.Content[offset:offset+int(size)]...)
				rows = append(rows, i)
			}
			offset += int(size)
		}
		var err error
		if ids, err = tok.Encode(ids[:0], string(text)); err != nil {
			return nil
		}
		row, end := 0, int(a.Chunks.Bytes[rows[0]])
		if piece, err = tok.Decode(piece[:0], ids); err != nil {
			return nil
		}
		at := 0
		if len(piece) == len(text)+1 && piece[0] == ' ' && bytes.Equal(piece[1:], text) {
			at = -1 // the tokenizer puts a space in front of a text
		}
		for i := range ids {
			if piece, err = tok.Decode(piece[:0], ids[i:i+1]); err != nil {
				return nil
			}
			at += len(piece)
			for at > end && row < len(rows)-1 {
				row++
				end += int(a.Chunks.Bytes[rows[row]])
			}
			out[rows[row]]++
		}
	}
	return out
}

// choices returns the different values of a list in order of appearance.
func choices(list []int32) []int32 {
	var out []int32
	seen := map[int32]bool{}
	for _, c := range list {
		if !seen[c] {
			seen[c] = true
			out = append(out, c)
		}
	}
	return out
}

// byBytes shares a total in proportion to bytes, so that the parts add up:
// part i is what the running share grows by. Chunks without a byte share alike
// where no chunk has any.
func byBytes(sizes []int32, total int64) []int32 {
	var all, sum, given int64
	for _, s := range sizes {
		all += int64(s)
	}
	out := make([]int32, len(sizes))
	for i, s := range sizes {
		sum += int64(s)
		share := float64(sum) / float64(max(all, 1))
		if all == 0 {
			share = float64(i+1) / float64(len(sizes))
		}
		upTo := int64(share*float64(total) + 0.5)
		if i == len(sizes)-1 {
			upTo = total
		}
		out[i] = int32(upTo - given)
		given = upTo
	}
	return out
}
