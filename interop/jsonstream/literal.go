package jsonstream

import "io"

// Python's json module writes NaN and Infinity, which are no JSON. Outside of
// strings the letters N and I begin nothing else, so they are turned into
// strings of the same length, and offsets stay true.
var literals = map[byte][2]string{
	'N': {"NaN", `"N"`},
	'I': {"Infinity", `"Infini"`},
}

// isNoNumber tells whether a string stands for such a literal.
func isNoNumber(s string) bool { return s == "N" || s == "Infini" }

// lenient turns those literals into strings.
type lenient struct {
	r                 io.Reader
	inString, escaped bool
	from, to          string // the literal under way; empty: none
	at                int
}

func (l *lenient) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i, c := range p[:n] {
		switch {
		case l.escaped:
			l.escaped = false
		case l.inString:
			l.escaped = c == '\\'
			l.inString = c != '"'
		case l.from != "":
			l.literal(p, i)
		case c == '"':
			l.inString = true
		case c == 'N' || c == 'I':
			l.from, l.to, l.at = literals[c][0], literals[c][1], 0
			l.literal(p, i)
		}
	}
	return n, err
}

// literal replaces the next byte of a literal. What is none after all is left
// as a string that does not end: not JSON, as it was.
func (l *lenient) literal(p []byte, i int) {
	if p[i] != l.from[l.at] {
		l.from = ""
		return
	}
	p[i] = l.to[l.at]
	if l.at++; l.at == len(l.from) {
		l.from = ""
	}
}
