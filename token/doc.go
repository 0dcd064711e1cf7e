// Package token counts and cuts text by a model's tokenizer: a built-in
// vocabulary, a Hugging Face tokenizer.json, a SentencePiece model, the server's
// own /tokenize, or a stated estimate where there is none. [Open] takes what
// --tokenizer says.
//
// All but the last two are codecs of our own. Added tokens are found in a text,
// what is between them is normalized and cut into pieces by the model's pattern,
// and a piece becomes ids by merging neighbours in the order of their ranks (BPE,
// on bytes or on characters) or by the most probable segmentation (unigram). The
// patterns of well-known models are written out by hand and held against the
// patterns by tests; others go through regexp2.
//
// The files *.zst are the vocabularies of OpenAI's encodings (MIT licence),
// written by gen.go from the tables of github.com/tiktoken-go/tokenizer; their
// hashes are those that tiktoken demands. docs/tokenizers.md says what is known,
// what is refused, and how exactness is shown.
package token

//go:generate go run gen.go
