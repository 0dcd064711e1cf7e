package token

import (
	"fmt"
	"strings"
)

// Tokenizer counts tokens. It is safe for concurrent use.
type Tokenizer interface {
	// Name says which tokenizer counts, for records and reports.
	Name() string
	// Count returns the number of tokens of a text.
	Count(text string) (int, error)
}

// Codec is a tokenizer that also gives and takes token ids.
type Codec interface {
	Tokenizer
	// Encode appends the ids of a text to ids.
	Encode(ids []uint32, text string) ([]uint32, error)
	// Decode appends the bytes of ids to b: those of one id after those of
	// another. A tokenizer that puts a space in front of every text, as
	// SentencePiece models do, has it in the first of its ids; [Text] takes it
	// off.
	Decode(b []byte, ids []uint32) ([]byte, error)
}

// Open returns the tokenizer that a spec names:
//
//	builtin                 the vocabulary cl100k_base
//	tiktoken:NAME           one of [Encodings]
//	tiktoken:PATTERN=PATH   a rank file, see [OpenRanks]
//	file:PATH               a tokenizer.json or a SentencePiece model, see [OpenFile]
//	server:URL              the /tokenize of the server at URL
//	estimate                four bytes a token
//
// builtin, tiktoken and file give a [Codec].
func Open(spec string) (Tokenizer, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	switch {
	case spec == "builtin":
		return Builtin(), nil
	case kind == "tiktoken":
		if pattern, path, ok := strings.Cut(rest, "="); ok {
			return OpenRanks(pattern, path)
		}
		return Encoding(rest)
	case kind == "file" && rest != "":
		return OpenFile(rest)
	case kind == "server" && rest != "":
		return NewServer(rest, nil)
	case spec == "estimate":
		return Estimate{}, nil
	}
	if kind == "server" {
		spec = "server:..." // what follows may hold a password
	}
	return nil, fmt.Errorf("tokenizer %q: expected builtin, tiktoken:NAME, tiktoken:PATTERN=PATH, file:PATH, server:URL or estimate", spec)
}

// Estimate counts four bytes a token, the usual average of English text; a text
// of one byte is one token.
type Estimate struct{}

// Name says that it is an estimate.
func (Estimate) Name() string { return "estimate (4 bytes a token)" }

// Count never fails.
func (Estimate) Count(text string) (int, error) { return (len(text) + 3) / 4, nil }
