// Package jsonstream reads JSON files of any size value by value, without
// building them in memory: objects and arrays are walked by callbacks, what
// nobody asks for is skipped, and every error says at which byte and under
// which path of the file something was wrong and what was expected. What
// Python writes for numbers that are none (NaN, Infinity) is read as missing.
package jsonstream
