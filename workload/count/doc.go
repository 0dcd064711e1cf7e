// Package count reads the texts of recorded prompts for what they come to: how
// many tokens they have where their log does not say, and which blocks they are
// of, by which one is known to begin as another does. What comes in are rows as
// package trace reads them, with messages or request bodies; what goes out are
// numbers of tokens and ids that tell nothing of the texts.
//
// Counted are texts, and the names, arguments and definitions of tools as JSON:
// what a chat template puts around messages, some tokens each, and images, audio
// and video are not.
package count
