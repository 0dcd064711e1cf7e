package scenario

import (
	"fmt"
	"strings"
)

// nearest returns the word most like s, and whether one is near enough to be
// what was meant.
func nearest(s string, words []string) (string, bool) {
	best, found := 1+max(1, len(s)/3), ""
	s = strings.ReplaceAll(strings.ToLower(s), "_", "-")
	for _, w := range words {
		if d := distance(s, w); d < best {
			best, found = d, w
		}
	}
	return found, found != ""
}

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment).
func distance(a, b string) int {
	const limit = 40
	if len(a) > limit || len(b) > limit {
		return limit
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}

// unknownKey is the error of a key that its section does not have.
func unknownKey(e entry, section string, t table) *Error {
	where := "a scenario"
	if section != "" {
		where = section
	}
	_, near := nearest(e.key, t.keys(section))
	if other, ok := t.sectionOf(strings.ToLower(e.key)); ok && !near {
		return &Error{e.pos, fmt.Sprintf("unknown key %q in %s; it stands under %q", e.key, where, other)}
	}
	return unknownWord(e, where, t.keys(section))
}

// unknownWord is the error of a key that is none of words.
func unknownWord(e entry, where string, words []string) *Error {
	msg := fmt.Sprintf("unknown key %q in %s", clip(e.key), where)
	if near, ok := nearest(e.key, words); ok {
		return &Error{e.pos, fmt.Sprintf("%s; did you mean %q?", msg, near)}
	}
	return &Error{e.pos, fmt.Sprintf("%s; it has %s", msg, strings.Join(words, ", "))}
}
