// Package count counts the tokens of the texts of recorded requests whose log
// does not say how long they are. What comes in are turns and request bodies as
// package trace reads them; what goes out are numbers of tokens under a
// tokenizer.
//
// Counted are texts, and the names, arguments and definitions of tools as JSON:
// what a chat template puts around messages, some tokens each, and images, audio
// and video are not.
package count
