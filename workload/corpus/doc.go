// Package corpus holds the texts that synthetic prompts are made of. A spec
// goes in (a built-in word, a file of the user's, a Markov model learnt from
// prompts); a [Corpus] comes out: pieces of text that stand well behind each
// other and may be cut at known places. What a prompt takes of it, and its
// exact length, is for workload's Renderer to say.
//
// The built-in corpora are written by grammars of our own over word lists of
// our own (words/): they read like prose, code or JSON to a tokenizer and a
// compressor, and mean nothing. All that a corpus holds follows from its spec
// alone.
//
// [Learner] makes a [Markov] model of a user's own prompts. It keeps what
// prompts of several owners have in common and forgets the rest; see there for
// what that does and doesn't promise.
package corpus
