// Package text gives the simulated engine something to say, and a way to cut
// prompts where there is no tokenizer. A seed goes in, words come out: one
// token each, as ordinary prose, the same for the same seed.
package text
