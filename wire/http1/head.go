package http1

import (
	"fmt"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// parseHead reads a whole head, its empty line included.
func parseHead(b []byte) (Head, error) {
	// One string for all, so that a head costs two allocations.
	rest := string(b)
	line, rest := cutLine(rest)
	h := Head{}
	if err := h.statusLine(line); err != nil {
		return h, err
	}
	h.Header = make([]Field, 0, strings.Count(rest, "\n"))
	for {
		line, rest = cutLine(rest)
		if line == "" {
			return h, nil
		}
		if err := h.field(line); err != nil {
			return h, err
		}
	}
}

// cutLine returns the first line without its LF or CRLF.
func cutLine(s string) (line, rest string) {
	line, rest, _ = strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

func (h *Head) statusLine(line string) error {
	version, status, ok := strings.Cut(line, " ")
	status = strings.TrimLeft(status, " ")
	code, _, _ := strings.Cut(status, " ")
	switch {
	case !ok || len(version) != len("HTTP/1.1") || !strings.HasPrefix(version, "HTTP/1.") || !digit(version[7]):
		return fmt.Errorf("%w: status line %.40q", ErrHead, line)
	case len(code) != 3 || !digit(code[0]) || !digit(code[1]) || !digit(code[2]) || code[0] == '0':
		return fmt.Errorf("%w: status line %.40q", ErrHead, line)
	}
	h.Minor = int(version[7] - '0')
	h.Status = int(code[0]-'0')*100 + int(code[1]-'0')*10 + int(code[2]-'0')
	return nil
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// field takes one header line, or the continuation of the one before.
func (h *Head) field(line string) error {
	if line[0] == ' ' || line[0] == '\t' {
		if len(h.Header) == 0 {
			return fmt.Errorf("%w: it begins with a folded line", ErrHead)
		}
		last := &h.Header[len(h.Header)-1]
		last.Value = strings.Trim(last.Value+" "+strings.Trim(line, " \t"), " \t")
		return validValue(last.Value)
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok || !httpguts.ValidHeaderFieldName(name) {
		return fmt.Errorf("%w: header line %.40q", ErrHead, line)
	}
	value = strings.Trim(value, " \t")
	h.Header = append(h.Header, Field{name, value})
	return validValue(value)
}

func validValue(v string) error {
	if !httpguts.ValidHeaderFieldValue(v) {
		return fmt.Errorf("%w: control character in a header value", ErrHead)
	}
	return nil
}

// framing returns what the head says of the body: chunked, or its length, or -1.
func (h *Head) framing() (chunked bool, length int64, err error) {
	length = -1
	codings := 0
	for _, f := range h.Header {
		switch {
		case strings.EqualFold(f.Name, "Transfer-Encoding") && h.Minor >= 1:
			if codings++; codings > 1 || !strings.EqualFold(f.Value, "chunked") {
				return false, 0, fmt.Errorf("%w: transfer coding %.40q", ErrHead, f.Value)
			}
		case strings.EqualFold(f.Name, "Content-Length"):
			n, ok := parseLength(f.Value)
			if !ok || length >= 0 && n != length {
				return false, 0, fmt.Errorf("%w: content length %.40q", ErrHead, f.Value)
			}
			length = n
		}
	}
	return codings == 1, length, nil
}

// parseLength reads a count of at most 18 digits.
func parseLength(s string) (int64, bool) {
	if s == "" || len(s) > 18 {
		return 0, false
	}
	n := int64(0)
	for i := range len(s) {
		if !digit(s[i]) {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}

// keepAlive tells whether the head allows another response on the connection.
func (h *Head) keepAlive() bool {
	keep := h.Minor >= 1
	for _, f := range h.Header {
		if !strings.EqualFold(f.Name, "Connection") {
			continue
		}
		for token := range strings.SplitSeq(f.Value, ",") {
			switch token = strings.Trim(token, " \t"); {
			case strings.EqualFold(token, "close"):
				return false
			case strings.EqualFold(token, "keep-alive"):
				keep = true
			}
		}
	}
	return keep
}
