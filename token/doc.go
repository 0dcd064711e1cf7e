// Package token counts and cuts text by a model's tokenizer: a built-in
// vocabulary, a Hugging Face tokenizer.json, the server's own /tokenize, or a
// stated estimate where there is none.
package token
