package token

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Patterns returns the names of the patterns that [OpenRanks] knows.
func Patterns() []string {
	return []string{"o200k_base", "cl100k_base", "r50k_base", "llama3", "qwen2"}
}

// OpenRanks returns the codec of a rank file of tiktoken's form, as Qwen, Llama
// 3 and others publish: on each line a token in base64 and its id. Such a file
// does not say by what pattern a text is cut, so that it must be named, one of
// [Patterns]. Special tokens are not in the file either: in a text they are
// text.
func OpenRanks(pattern, path string) (Codec, error) {
	var first piecer
	switch pattern {
	case "o200k_base":
		first = o200kPiece
	case "cl100k_base":
		first = tiktokenPiece
	case "r50k_base":
		first = gpt2Piece
	case "llama3", "qwen2":
		first = piecerOf(map[string]string{"llama3": patternLlama3, "qwen2": patternQwen2}[pattern])
	default:
		return nil, fmt.Errorf("tokenizer: pattern %.40q is not known: expected one of %s", pattern, strings.Join(Patterns(), ", "))
	}
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	m, err := readRanks(data)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	return &codec{name: "ranks " + filepath.Base(path) + " " + contentName(data) + " cut as " + pattern, model: m, steps: []step{pieces{first}}}, nil
}

func readRanks(data []byte) (*bpe, error) {
	var byID [][]byte
	number := 0
	for line := range bytes.Lines(data) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		text, rank, ok := bytes.Cut(line, []byte(" "))
		token, err := base64.StdEncoding.DecodeString(string(text))
		id, err2 := strconv.ParseUint(string(rank), 10, 32)
		switch {
		case !ok || err != nil || err2 != nil || len(token) == 0:
			return nil, fmt.Errorf("line %d: expected a token in base64 and its rank", number)
		case id > maxID:
			return nil, fmt.Errorf("line %d: expected a rank from 0 to %d", number, maxID)
		}
		for uint64(len(byID)) <= id {
			byID = append(byID, nil)
		}
		if byID[id] != nil {
			return nil, fmt.Errorf("line %d: rank %d is there twice", number, id)
		}
		byID[id] = token
	}
	t := table{offsets: []uint32{0}}
	for _, token := range byID {
		t.add(token)
	}
	m := newRankModel(t)
	for c, known := range m.known {
		if !known {
			return nil, fmt.Errorf("no token is the byte 0x%02X", c)
		}
	}
	return m, nil
}
