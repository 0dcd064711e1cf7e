// Package anthropic reads requests of Anthropic's messages API and writes their
// answers, as engines that imitate it do.
package anthropic
