// Package token counts and cuts text by a model's tokenizer: a built-in
// vocabulary, a Hugging Face tokenizer.json, the server's own /tokenize, or a
// stated estimate where there is none. [Open] takes what --tokenizer says.
//
// Two of them are codecs, byte-level BPE of our own: text is cut into pieces by
// the model's pattern, and each piece's bytes are merged pair by pair in the
// order of the vocabulary's ranks. cl100k.bin is the vocabulary of OpenAI's
// cl100k_base (MIT licence; written by gen.go from the tables of
// github.com/tiktoken-go/tokenizer, against which tests hold the codec); about
// the vocabulary of Llama 3 for text in Latin script.
package token

//go:generate go run gen.go
