package openai

import (
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/wire"
)

// refusedFields returns which fields that the driver added by itself an error
// names as unwelcome, comma separated.
func (d *decoder) refusedFields(x *wire.Exchange, e *apiError) string {
	if x.Request == nil {
		return ""
	}
	sent := d.added(x.Request.Body)
	var out []string
	for _, f := range e.fields {
		f, _, _ = strings.Cut(f, ".") // stream_options.include_usage
		if slices.Contains(sent, f) && !slices.Contains(out, f) && d.unwelcome(f, e.message) {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		if f := firstNamed(e.message, sent); f != "" && d.unwelcome(f, e.message) {
			out = append(out, f)
		}
	}
	return strings.Join(out, ",")
}

// added returns the fields of a sent body that are the driver's own.
func (d *decoder) added(body []byte) []string {
	sent, _ := topFields(body)
	users, _ := topFields(d.c.Body)
	has := func(fields []topField, name string) bool {
		return slices.ContainsFunc(fields, func(f topField) bool { return string(f.name) == name })
	}
	var out []string
	for _, f := range []string{fieldStreamOptions, fieldIgnoreEOS, fieldMinTokens, fieldMaxTokens, fieldMaxCompletion} {
		if has(sent, f) && !has(users, f) && d.d.own(f) {
			out = append(out, f)
		}
	}
	return out
}

// unwelcome tells whether a message about a field means the field itself and
// not its value. For all but the length field the mention is enough, since
// their values are always good; a length may be too large, which no other name
// for it would cure.
func (d *decoder) unwelcome(field, message string) bool {
	if field != fieldMaxTokens && field != fieldMaxCompletion {
		return true
	}
	m := strings.ToLower(message)
	if isContextLength(m) || strings.Contains(m, "too large") {
		return false
	}
	for _, s := range []string{"unsupported", "not supported", "not permitted", "unknown", "unrecognized",
		"unexpected", "extra inputs", "extra field", "not allowed", rename(field)} {
		if strings.Contains(m, s) {
			return true
		}
	}
	return false
}

// firstNamed returns the name that stands first in a message: what follows may
// be a list of what was expected instead.
func firstNamed(message string, names []string) string {
	best, at := "", len(message)
	for _, n := range names {
		if i := indexWord(message, n); i >= 0 && i < at {
			best, at = n, i
		}
	}
	return best
}

// indexWord finds a name that is not part of a longer one.
func indexWord(s, name string) int {
	for from := 0; ; {
		i := strings.Index(s[from:], name)
		if i < 0 {
			return -1
		}
		i += from
		end := i + len(name)
		if (i == 0 || !isWord(s[i-1])) && (end == len(s) || !isWord(s[end])) {
			return i
		}
		from = end
	}
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
