package token

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
	// Decode appends the bytes of ids to b.
	Decode(b []byte, ids []uint32) ([]byte, error)
}
