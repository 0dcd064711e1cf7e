package record

import (
	"bytes"
	"slices"
	"strings"
)

// Clone returns a copy that shares no memory with a.
func (a *Attempt) Clone() *Attempt {
	c := *a
	for _, col := range attemptTable() {
		if at, ok := col.field.(text[Attempt]); ok {
			s := at(&c)
			*s = strings.Clone(*s)
		}
	}
	k := &c.Chunks
	k.At, k.Tokens, k.Bytes = slices.Clone(k.At), slices.Clone(k.Tokens), slices.Clone(k.Bytes)
	k.Kind, k.Choice, k.Flags = slices.Clone(k.Kind), slices.Clone(k.Choice), slices.Clone(k.Flags)
	c.Blanks.At, c.Blanks.Kind = slices.Clone(c.Blanks.At), slices.Clone(c.Blanks.Kind)
	c.Violations, c.Notes, c.RateLimit = cloneAll(c.Violations), cloneAll(c.Notes), cloneAll(c.RateLimit)
	c.Output = bytes.Clone(c.Output)
	return &c
}

func cloneAll(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = strings.Clone(out[i])
	}
	return out
}
